/** Open reservations: how much of a shared limit one key may hold by requests under way. */

import type { Claim, ClaimState, Clock, Host, SharedValue } from "@sluice/contract";
import { isOfOneKey, type Rule, type SlotRule, UNLIMITED } from "./rules/rule.ts";

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
  readonly byKey: Map<string, number>;
  lastKey: string;
  /** When another key than the last one came. */
  changedAtMs: number;
}

/** The open reservations of this process, by limit and key. */
class Reservations implements SharedValue {
  readonly byLimit = new Map<string, Use>();
  /** Nothing is open. */
  close?(): void;
}

/** A claim that is more than a key's share. */
export interface OverShare {
  readonly rule: Rule;
  /** What the key has reserved, and what it may. Nano-dollars for budgets. */
  readonly open: number;
  readonly max: number;
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

  /** The amount that a key may still reserve of a limit; `Infinity` where it is not shared. */
  left(keyId: string, rule: Rule): number {
    if (!this.#isShared(rule)) return Infinity;
    const use = this.#see(keyId, nameOf(rule));
    if (this.#isAlone(use)) return Infinity;
    return Math.max(0, Math.floor(limitOf(rule) * this.#share) - (use.byKey.get(keyId) ?? 0));
  }

  /**
   * The slots that a key may have of a limit: half while other keys use it, otherwise what `rule`,
   * the key's part, says. The shared state counts them.
   */
  slots(keyId: string, { claim, partOf }: SlotRule): number {
    if (partOf === undefined || this.#isAlone(this.#see(keyId, partOf.claim.key)))
      return claim.limit;
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
      const use = this.#uses.get(rule.partOf.claim.key);
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
  ): { readonly counted: readonly number[] } | { readonly over: OverShare } {
    const counted: number[] = [];
    for (const [index, rule] of rules.entries()) {
      let amount = amountOf(claims[index]);
      const left = this.left(keyId, rule);
      if (amount > left) {
        const open = this.#uses.get(nameOf(rule))?.byKey.get(keyId) ?? 0;
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
    for (const [index, rule] of rules.entries()) {
      const byKey = this.#isShared(rule) ? this.#uses.get(nameOf(rule))?.byKey : undefined;
      if (byKey === undefined) continue;
      const sum = (byKey.get(keyId) ?? 0) + sign * (counted[index] ?? 0);
      if (sum > 0) byKey.set(keyId, sum);
      else byKey.delete(keyId);
    }
  }

  /** Whether no other key has come for a minute. `use` has just been seen. */
  #isAlone({ changedAtMs }: Use): boolean {
    return this.#clock.monotonic() - changedAtMs > ALONE_MS;
  }

  #isShared(rule: Rule): boolean {
    if (this.#share >= 1 || isOfOneKey(rule)) return false;
    return rule.kind === "tokens" || (rule.kind === "budget" && rule.limitNanoUsd !== UNLIMITED);
  }

  #see(keyId: string, name: string): Use {
    let use = this.#uses.get(name);
    if (use === undefined) {
      if (this.#uses.size >= MAX_LIMITS) this.#forgetIdle();
      this.#uses.set(name, (use = { byKey: new Map(), lastKey: keyId, changedAtMs: -Infinity }));
    }
    if (use.lastKey !== keyId) {
      use.lastKey = keyId;
      use.changedAtMs = this.#clock.monotonic();
    }
    return use;
  }

  #forgetIdle(): void {
    for (const [name, { byKey }] of this.#uses) if (byKey.size === 0) this.#uses.delete(name);
  }
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
