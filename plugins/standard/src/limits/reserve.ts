/**
 * Reserve: takes reservations for one exchange, before its body, at its entry and by its gate,
 * and keeps them until it is settled.
 */

import type {
  Admission,
  Claim,
  ClaimState,
  Exchange,
  Granted,
  Model,
  Refused,
  MaybePromise,
  TakeResult,
  Identity,
} from "@sluice/contract";
import { namesModel } from "@sluice/runtime";
import { type AdmittedCalls, type Reserved, settleReservations } from "./settle.ts";
import type { TokenEstimate } from "./estimate.ts";
import { KeyPart } from "./key-share.ts";
import type { LeaseParts } from "./parts.ts";
import { refuse, showLimits, refusalOf } from "./refusal.ts";
import type { JoinedEntry } from "./joined-entry.ts";
import type { BudgetRule, Rule, RuleSet } from "./rules/rule.ts";

/** A reservation outlives the deadline by this time, in which the spend rows are written. */
const LEASE_MARGIN_MS = 60_000;

/** What was taken before the body was read. */
export interface Early {
  /** The tightest window of requests that was shown; `undefined`: none. */
  readonly requests: ClaimState | undefined;
}

/** What the entry of an exchange may use. */
export interface EntryEstimate {
  /** The tokens of one call. Absent: no limit needs them. */
  readonly estimate: TokenEstimate | undefined;
  /** The maximum cost of the first call at the most expensive target; 0 without a target. */
  readonly nanoUsd: number;
}

/** One reservation to take. */
export interface Wanted {
  readonly id: string;
  readonly rules: readonly Rule[];
  readonly claims: readonly Claim[];
  readonly admission: Admission | undefined;
  /** The part of the cost that depends on the length of the reply, in nano-dollars. */
  uncertain(): number;
  /** How many of the rules are not those of a target. Absent: all of them. */
  readonly shared?: number;
}

/** The rules and claims of a call; the first `shared` of them are not those of its target. */
export interface CallClaims {
  readonly rules: readonly Rule[];
  readonly claims: readonly Claim[];
  readonly shared: number;
}

/** The limits that one exchange holds, from its entry to its end. */
export class LimitLease {
  readonly #parts: LeaseParts;
  readonly #exchange: Exchange;
  readonly #calls: AdmittedCalls;
  readonly #part: KeyPart;
  readonly #reserved: Reserved[] = [];

  constructor(parts: LeaseParts, exchange: Exchange, calls: AdmittedCalls) {
    this.#parts = parts;
    this.#exchange = exchange;
    this.#calls = calls;
    this.#part = new KeyPart(exchange, parts);
  }

  /**
   * Reserves everything that is known at the entry. Throws or rejects with the refusal. `joined`:
   * the rules are also those that are known before the body.
   */
  enter(
    rules: readonly Rule[],
    { estimate, nanoUsd, set }: EntryEstimate & { readonly set: RuleSet },
    early: Early,
    joined?: JoinedEntry,
  ): MaybePromise<void> {
    if (rules.length === 0) return;
    const exchange = this.#exchange;
    const [targets, document] = [exchange.model?.targets, exchange.request?.document];
    const { estimator } = this.#parts;
    const result = this.reserve({
      id: exchange.id,
      rules,
      claims: rules.map((rule) =>
        this.#part.claimOf(rule, this.#part.tokensFor(rule, estimate), nanoUsd),
      ),
      admission: undefined,
      uncertain: () => estimator.uncertainNanoUsd(exchange, targets, document, estimate, nanoUsd),
    });
    const entered = (taken: TakeResult): MaybePromise<void> => {
      joined?.decided(taken, rules, set.early);
      if (taken.outcome === "unseeded") return;
      showLimits(exchange, rules, taken.states, early.requests);
      if (taken.outcome === "refused") return this.refuse(taken, rules, false);
    };
    return result instanceof Promise ? result.then(entered) : entered(result);
  }

  /** Takes one reservation, and keeps it if granted. Throws where the key has its share. */
  reserve({ id, rules, claims, admission, uncertain, shared }: Wanted): MaybePromise<TakeResult> {
    const { host, reserver } = this.#parts;
    const reservation = { id, claims };
    const counted = this.#part.count(claims, rules, uncertain, shared);
    const leaseMs =
      Math.max(0, this.#exchange.lifetime.deadlineMs - host.clock.monotonic()) + LEASE_MARGIN_MS;
    const result = this.#part.unlessRefused(rules, counted, () =>
      reserver.take(reservation, rules, leaseMs, this.#exchange.identity),
    );
    const kept = (taken: TakeResult): TakeResult => {
      if (taken.outcome === "granted")
        this.#keep(taken, { reservation, rules, counted, admission });
      return taken;
    };
    return result instanceof Promise ? result.then(kept) : kept(result);
  }

  /**
   * Throws the refusal or rejects with it. `isOfTarget`: the limit is one of a target, another
   * target may be free.
   */
  refuse(result: Refused, rules: readonly Rule[], isOfTarget: boolean): MaybePromise<never> {
    const rule = rules[result.failedIndex];
    this.#exchange.note("limits", `refused by the ${rule?.kind ?? "limit"} of`, rule?.subject);
    return refuse(result, rules, this.#parts.host, isOfTarget);
  }

  /** The claims that cover a call beside the reservations so far. */
  lacking(
    ofEntry: readonly Rule[],
    ofTarget: readonly Rule[],
    estimate: TokenEstimate,
    nanoUsd: number,
    model: Model | undefined,
  ): CallClaims {
    this.#part.begin();
    const rules: Rule[] = [];
    const claims: Claim[] = [];
    const counts = ({ models }: BudgetRule): boolean =>
      models === undefined || (model !== undefined && namesModel(models, model));
    const add = (rule: Rule): void => {
      let lacking = 0;
      if (rule.kind === "budget") {
        lacking =
          this.#calls.committed(rule) + (counts(rule) ? nanoUsd : 0) - this.#reservedNanoUsd(rule);
        if (lacking <= 0 && rule.limitNanoUsd > 0) return;
      }
      rules.push(rule);
      const tokens = this.#part.tokensFor(rule, estimate);
      claims.push(this.#part.claimOf(rule, tokens, Math.max(0, lacking)));
    };
    for (const rule of ofEntry) if (rule.kind === "budget") add(rule);
    const shared = rules.length;
    for (const rule of ofTarget) add(rule);
    return { rules, claims, shared };
  }

  /** The nano-dollars that are reserved under a budget. */
  #reservedNanoUsd({ key }: BudgetRule): number {
    let sum = 0;
    for (const { reservation } of this.#reserved) {
      for (const claim of reservation.claims)
        if (claim.kind === "budget" && claim.key === key) sum += claim.amountNanoUsd;
    }
    return sum;
  }

  /** A kept reservation is always settled, also when the exchange has ended meanwhile. */
  #keep({ states }: Granted, reserved: Reserved): void {
    if (this.#reserved.length === 0) this.#exchange.lifetime.onSettle(() => this.#settle());
    this.#reserved.push(reserved);
    this.#parts.tokens.reserve(reserved.rules, reserved.reservation.claims);
    this.#parts.soft.check(this.#exchange, reserved.rules, states);
  }

  #settle(): void {
    settleReservations(
      this.#reserved.splice(0),
      this.#exchange,
      this.#calls,
      this.#part,
      this.#parts,
    );
  }
}

/** Nothing was taken before the body. */
export const NOTHING: Early = Object.freeze({ requests: undefined });

/**
 * Takes the requests and slots of an identity until the exchange is over. A request stays counted,
 * whatever becomes of it. Throws or rejects with `rate_limited`, also where the key has its share
 * of slots that other keys use.
 */
export function takeEarly(
  exchange: Exchange,
  identity: Identity,
  parts: LeaseParts,
): MaybePromise<Early> {
  const { early: rules } = parts.resolver.of(identity, undefined);
  if (rules.length === 0) return NOTHING;
  const part = new KeyPart(exchange, parts);
  const claims = rules.map((rule) => part.claimOf(rule, 0, 0));
  const id = `${exchange.id}:early`;
  const { host, reserver } = parts;
  const counted = part.count(claims, rules, () => 0);
  const leaseMs =
    Math.max(0, exchange.lifetime.deadlineMs - host.clock.monotonic()) + LEASE_MARGIN_MS;
  const taken = (result: TakeResult): Early => {
    if (result.outcome === "unseeded") return NOTHING;
    const requests = showLimits(exchange, rules, result.states);
    if (result.outcome === "refused") {
      const rule = rules[result.failedIndex];
      exchange.note("limits", `refused by the ${rule?.kind ?? "limit"} of`, rule?.subject);
      throw refusalOf(result, rules, host, false);
    }
    exchange.lifetime.onSettle(() => {
      part.giveBack(rules, counted);
      const settled = host.state.settle({ id, claims });
      if (settled instanceof Promise) {
        settled.catch((error: unknown) => {
          host.log.error("a reservation could not be settled", { request_id: exchange.id, error });
        });
      }
    });
    return { requests };
  };
  const result = part.unlessRefused(rules, counted, () =>
    reserver.take({ id, claims }, rules, leaseMs),
  );
  return result instanceof Promise ? result.then(taken) : taken(result);
}
