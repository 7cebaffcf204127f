/**
 * The share of a key: how much of a limit that keys share one key may reserve by requests under
 * way.
 */

import type {
  Claim,
  ClaimState,
  Clock,
  Host,
  SharedValue,
  Exchange,
  GatewayError,
  MaybePromise,
  TakeResult,
} from "@sluice/contract";
import { OpenAmounts } from "./open-amounts.ts";
import { type OverShare, type Rule, type SlotRule, UNLIMITED, claimOf } from "./rules/rule.ts";
import type { TokenEstimate } from "./estimate.ts";
import { overShareRefusal } from "./refusal.ts";

/** After so long without another key, a key is the only one that uses a limit. */
const ALONE_MS = 60_000;

/**
 * The share of concurrent requests that one key may have of a limit while other keys use it, and
 * one request at least.
 */
const SHARE_OF_SLOTS = 0.5;
/** Limits that are remembered. Beyond it those are forgotten of which nothing is reserved. */
const MAX_LIMITS = 50_000;

interface Use {
  /** Where it is found by its name. */
  readonly of: ReadonlyMap<string, Use>;
  readonly open: OpenAmounts;
  lastKey: string;
  /** When another key than the last one came. */
  changedAtMs: number;
  /** Another one counts under the name, or none: rules that know this one look it up again. */
  isForgotten: boolean;
}

/** The open reservations of this process, by limit and key. */
class Reservations implements SharedValue {
  readonly byLimit = new Map<string, Use>();
  /** Nothing is open. */
  close?(): void;
}

/** Counts what keys have reserved of limits that they share. What is spent is not counted here. */
export class OpenReservations {
  readonly #uses: Map<string, Use>;
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #share: number;

  constructor(share: string, host: Pick<Host, "shared" | "clock">) {
    this.#uses = host.shared("limits-open", () => new Reservations()).byLimit;
    this.#clock = host.clock;
    this.#share = Number.parseInt(share, 10) / 100;
  }

  /** The present moment of the clock that the methods take. */
  nowMs(): number {
    return this.#clock.monotonic();
  }

  /** The amount that a key may still reserve of a limit; `Infinity` where it is not shared. */
  left(keyId: string, rule: Rule, nowMs = this.nowMs()): number {
    if (!this.#isShared(rule)) return Infinity;
    const use = this.#see(keyId, rule, nowMs);
    if (isAlone(use, nowMs)) return Infinity;
    return Math.max(0, Math.floor(limitOf(rule) * this.#share) - use.open.of(keyId));
  }

  /**
   * The slots that a key may have of a limit: half while other keys use it, otherwise what `rule`,
   * the key's part, says. The shared state counts them.
   */
  slots(keyId: string, { claim, partOf }: SlotRule, nowMs = this.nowMs()): number {
    if (partOf === undefined || isAlone(this.#see(keyId, partOf, nowMs), nowMs)) return claim.limit;
    return Math.max(1, Math.ceil(partOf.claim.limit * SHARE_OF_SLOTS));
  }

  /**
   * Learns from the states of a granted reservation which limits other keys use, in any process:
   * those with more slots in use than the key's own.
   */
  learn(rules: readonly Rule[], states: readonly ClaimState[]): void {
    for (let index = 0; index + 1 < rules.length; index += 1) {
      const rule = rules[index];
      if (rule?.kind !== "slots" || rule.partOf === undefined) continue;
      const use = this.#known(rule.partOf);
      if (use !== undefined && inUse(states[index + 1]) > inUse(states[index]))
        use.changedAtMs = this.#clock.monotonic();
    }
  }

  /**
   * Counts claims, and returns what it has counted of each; or the claim that is more than is left
   * to the key. Of money only what depends on the length of the reply need fit: `uncertain` says
   * how much that is, and is asked only where a claim is too large. The first prompt fits a window
   * however long it is: its tokens will be used.
   */
  take(
    keyId: string,
    rules: readonly Rule[],
    claims: readonly Claim[],
    uncertain: () => number,
    nowMs = this.nowMs(),
  ): { readonly counted: readonly number[] } | { readonly over: OverShare } {
    const counted: number[] = [];
    for (let index = 0; index < rules.length; index += 1) {
      const rule = rules[index]!;
      let amount = amountOf(claims[index]);
      const left = this.left(keyId, rule, nowMs);
      if (amount > left) {
        const open = this.#known(rule)?.open.of(keyId) ?? 0;
        if (rule.kind === "budget") amount = Math.min(amount, uncertain());
        if (amount > left && !(rule.kind === "tokens" && open === 0))
          return { over: { rule, open, max: left + open } };
      }
      counted.push(amount);
    }
    this.#add(keyId, rules, counted, 1);
    return { counted };
  }

  /** Ends what `take` has counted. */
  giveBack(keyId: string, rules: readonly Rule[], counted: readonly number[]): void {
    this.#add(keyId, rules, counted, -1);
  }

  #add(keyId: string, rules: readonly Rule[], counted: readonly number[], sign: 1 | -1): void {
    for (let index = 0; index < rules.length; index += 1) {
      const rule = rules[index]!;
      if (!this.#isShared(rule)) continue;
      this.#known(rule)?.open.add(keyId, sign * (counted[index] ?? 0));
    }
  }

  #isShared(rule: Rule): boolean {
    if (this.#share >= 1 || rule.isOfOneKey) return false;
    return rule.kind === "tokens" || (rule.kind === "budget" && rule.limitNanoUsd !== UNLIMITED);
  }

  /** The use of a rule's limit; `undefined` where nothing is known of it. */
  #known(rule: Rule): Use | undefined {
    const use = rule.use as Use | undefined;
    if (use !== undefined && !use.isForgotten && use.of === this.#uses) return use;
    const found = this.#uses.get(nameOf(rule));
    rule.use = found;
    return found;
  }

  #see(keyId: string, rule: Rule, nowMs: number): Use {
    let use = this.#known(rule);
    if (use === undefined) {
      if (this.#uses.size >= MAX_LIMITS) this.#forgetIdle();
      use = {
        of: this.#uses,
        open: new OpenAmounts(),
        lastKey: keyId,
        changedAtMs: -Infinity,
        isForgotten: false,
      };
      this.#uses.set(nameOf(rule), use);
      rule.use = use;
    }
    if (use.lastKey !== keyId) {
      use.lastKey = keyId;
      use.changedAtMs = nowMs;
    }
    return use;
  }

  #forgetIdle(): void {
    for (const [name, use] of this.#uses) {
      if (!use.open.isEmpty) continue;
      use.isForgotten = true;
      this.#uses.delete(name);
    }
  }
}

/** Whether no other key has come for a minute. `use` has just been seen. */
function isAlone({ changedAtMs }: Use, nowMs: number): boolean {
  return nowMs - changedAtMs > ALONE_MS;
}

function nameOf(rule: Rule): string {
  return rule.kind === "budget" ? rule.key : rule.claim.key;
}

function limitOf(rule: Rule): number {
  return rule.kind === "budget" ? rule.limitNanoUsd : rule.claim.limit;
}

function amountOf(claim: Claim | undefined): number {
  return claim?.kind === "budget"
    ? claim.amountNanoUsd
    : claim?.kind === "window"
      ? claim.amount
      : 0;
}

function inUse(state: ClaimState | undefined): number {
  return state === undefined ? 0 : state.limit - state.remaining;
}

/** What a part is counted with. */
export interface PartParts {
  readonly open: OpenReservations;
  readonly host: Pick<Host, "metrics">;
}

/** Counts what one exchange reserves. The master key shares with no other, and is not counted. */
export class KeyPart {
  readonly #exchange: Exchange;
  readonly #parts: PartParts;
  readonly #keyId: string | undefined;
  /** When the present reservation was begun: its limits are looked at as of one moment. */
  #nowMs = 0;

  constructor(exchange: Exchange, parts: PartParts) {
    this.#exchange = exchange;
    this.#parts = parts;
    this.#keyId = exchange.identity?.kind === "key" ? exchange.identity.keyId : undefined;
    this.begin();
  }

  /** Begins a reservation. */
  begin(): void {
    this.#nowMs = this.#parts.open.nowMs();
  }

  /** The tokens to take of a window. A long reply is cut to what the key may reserve. */
  tokensFor(rule: Rule, estimate: TokenEstimate | undefined): number {
    const isCounted = this.#keyId !== undefined && rule.kind === "tokens";
    return tokensFor(
      rule,
      estimate,
      isCounted ? this.#parts.open.left(this.#keyId, rule, this.#nowMs) : Infinity,
    );
  }

  /** What is taken of a rule for so many tokens and so much money. */
  claimOf(rule: Rule, tokens: number, amountNanoUsd: number): Claim {
    if (this.#keyId === undefined || rule.kind !== "slots" || rule.partOf === undefined)
      return claimOf(rule, tokens, amountNanoUsd);
    const { kind, key, limit: whole, group, holder } = rule.claim;
    const limit = this.#parts.open.slots(this.#keyId, rule, this.#nowMs);
    return limit === whole ? rule.claim : { kind, key, limit, group: group!, holder };
  }

  /**
   * Counts claims. Throws where the key has its share of a limit. Rules from `ofTarget` on are
   * those of a target.
   */
  count(
    claims: readonly Claim[],
    rules: readonly Rule[],
    uncertain: () => number,
    ofTarget = Infinity,
  ): readonly number[] {
    if (this.#keyId === undefined) return [];
    const result = this.#parts.open.take(this.#keyId, rules, claims, uncertain, this.#nowMs);
    if ("over" in result)
      throw this.#refusal(result.over, rules.indexOf(result.over.rule) >= ofTarget);
    return result.counted;
  }

  /** Takes a reservation, and gives back what was counted unless it is granted. */
  unlessRefused(
    rules: readonly Rule[],
    counted: readonly number[],
    take: () => MaybePromise<TakeResult>,
  ): MaybePromise<TakeResult> {
    const ended = (result: TakeResult): TakeResult => {
      if (result.outcome === "granted") this.#parts.open.learn(rules, result.states);
      else this.giveBack(rules, counted);
      return result;
    };
    const lost = (error: unknown): never => {
      this.giveBack(rules, counted);
      throw error;
    };
    try {
      const result = take();
      return result instanceof Promise ? result.then(ended, lost) : ended(result);
    } catch (error) {
      return lost(error);
    }
  }

  giveBack(rules: readonly Rule[], counted: readonly number[]): void {
    if (this.#keyId !== undefined) this.#parts.open.giveBack(this.#keyId, rules, counted);
  }

  #refusal(over: OverShare, isOfTarget: boolean): GatewayError {
    this.#exchange.note(
      "limits",
      `refused: the key has its share of the ${over.rule.kind} of`,
      over.rule.subject,
    );
    return overShareRefusal(over, this.#parts.host, isOfTarget);
  }
}

/**
 * The tokens to take of a window. A long reply is cut to the window, and to what is left of it to
 * the key, so that it can be asked for at all; a long prompt is not.
 */
function tokensFor(rule: Rule, estimate: TokenEstimate | undefined, left: number): number {
  if (rule.kind !== "tokens" || estimate === undefined) return 0;
  const { promptTokens, completionTokens } = estimate;
  return Math.max(promptTokens, Math.min(promptTokens + completionTokens, rule.claim.limit, left));
}
