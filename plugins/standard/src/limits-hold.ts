/** The hold of one exchange: what it has reserved, what further attempts must reserve, and what it came to in the end. */

import {
  type Attempt,
  type Claim,
  type ClaimState,
  type Exchange,
  type Granted,
  type JsonDocument,
  type Refused,
  type Reservation,
  type Soon,
  type TakeResult,
  type Target,
} from "@sluice/spec";
import { cataloguedModel } from "./catalogued-model.ts";
import { estimateTokens, knownCost, type TokenEstimate } from "./limits-estimate.ts";
import { refuse, showLimits, unpricedRefusal } from "./limits-refusal.ts";
import { type BudgetRule, claimOf, isEnforced, type Rule, type RuleSet } from "./limits-rule.ts";
import { checkMaxCost } from "./limits-max-cost.ts";
import type { HoldParts } from "./limits-parts.ts";
import { KeyPart } from "./limits-part.ts";
import { tokensUsed } from "./limits-tokens.ts";

/** What was taken before the body was read, and how those limits stand. */
export interface Early {
  readonly rules: readonly Rule[];
  readonly states: readonly ClaimState[];
}

/** One reservation and the rules of its claims, in their order. */
interface Taken {
  readonly reservation: Reservation;
  readonly rules: readonly Rule[];
  /** What it counts of the key's shares, claim by claim. */
  readonly counted: readonly number[];
  /** The attempt that it was taken for, by its place among those of its target; `undefined`: the whole exchange. */
  readonly admission: Admission | undefined;
}

/** A call that was let through. */
interface Admission {
  readonly target: Target;
  /** What it may cost. */
  readonly nanoUsd: number;
  readonly tokens: number;
}

/** A reservation outlives the deadline by this: the rows have to be written. */
export const LEASE_MARGIN_MS = 60_000;

/** Holds the limits of an exchange from its entry to its end. */
export class Hold {
  readonly #parts: HoldParts;
  readonly #exchange: Exchange;
  readonly #set: RuleSet;
  readonly #maxCostNanoUsd: number;
  readonly #estimate: TokenEstimate | undefined;
  readonly #entryNanoUsd: number;
  readonly #model: Exchange["model"];
  readonly #document: JsonDocument | undefined;
  readonly #part: KeyPart;
  readonly #taken: Taken[] = [];
  #admissions: Admission[] | undefined;
  readonly #early: Early;
  /** Reservations beside the entry's. */
  #serial = 0;

  /** `nanoUsd`: what the first attempt may cost at the dearest target; 0 where no target is known yet. */
  constructor(
    parts: HoldParts,
    exchange: Exchange,
    set: RuleSet,
    asked: { readonly estimate: TokenEstimate | undefined; readonly nanoUsd: number; readonly maxCostNanoUsd: number },
    early: Early,
  ) {
    this.#early = early;
    this.#parts = parts;
    this.#exchange = exchange;
    this.#part = new KeyPart(exchange, parts);
    this.#set = set;
    this.#estimate = asked.estimate;
    this.#entryNanoUsd = asked.nanoUsd;
    this.#maxCostNanoUsd = asked.maxCostNanoUsd;
    this.#model = exchange.model;
    this.#document = exchange.request?.document;
  }

  /** Takes everything that the entry knows of, or refuses. */
  enter(): Soon<void> {
    const { late: rules } = this.#set;
    if (rules.length === 0) return;
    const estimate = this.#estimate;
    const claims = rules.map((rule) => claimOf(rule, this.#part.tokensFor(rule, estimate), this.#entryNanoUsd));
    const [targets, document, nanoUsd] = [this.#model?.targets, this.#document, this.#entryNanoUsd];
    const { estimator } = this.#parts;
    const uncertain = (): number => estimator.uncertainNanoUsd(this.#exchange, targets, document, estimate, nanoUsd);
    const counted = this.#part.count(claims, rules, uncertain);
    const result = this.#take(this.#exchange.id, claims, rules, counted);
    if (result instanceof Promise) return result.then((later) => this.#entered(later, claims, counted));
    return this.#entered(result, claims, counted);
  }

  /** The gate: what is not covered yet is reserved before the call is dispatched. */
  admit(exchange: Exchange, target: Target, document: JsonDocument): Soon<void> {
    const { estimator } = this.#parts;
    const identity = exchange.identity;
    if (identity === undefined) return;
    const ofTarget = this.#parts.book.ofTarget(identity, target);
    const isFirst = this.#admissions === undefined;
    this.#admissions ??= [];
    const isSame = isFirst && exchange.model === this.#model && document === this.#document;
    // A step in between may have chosen another target than those that the entry reserved for.
    const isCovered = isSame && this.#model?.targets.includes(target) === true;
    if (isCovered && ofTarget.length === 0) {
      this.#admissions.push({ target, nanoUsd: this.#entryNanoUsd, tokens: 0 });
      return;
    }
    const estimate = this.#estimateFor(exchange, document, target);
    const nanoUsd = this.#costOf(exchange, target, document, estimate, ofTarget);
    checkMaxCost(exchange, this.#committed(undefined) + nanoUsd, this.#maxCostNanoUsd);
    const admission: Admission = { target, nanoUsd, tokens: estimate.promptTokens + estimate.completionTokens };
    const rules: Rule[] = [];
    const claims: Claim[] = [];
    for (const rule of this.#set.rules) {
      if (rule.kind !== "budget") continue;
      const lacking = this.#committed(undefined) + nanoUsd - this.#reserved(rule);
      if (lacking <= 0) continue;
      rules.push(rule);
      claims.push(claimOf(rule, 0, lacking));
    }
    const shared = rules.length;
    for (const rule of ofTarget) {
      const isBudget = rule.kind === "budget";
      const lacking = isBudget ? this.#committed(rule.provider) + nanoUsd - this.#reserved(rule) : 0;
      if (isBudget && lacking <= 0) continue;
      rules.push(rule);
      claims.push(claimOf(rule, this.#part.tokensFor(rule, estimate), lacking));
    }
    this.#admissions.push(admission);
    if (claims.length === 0) return;
    this.#serial += 1;
    const id = `${this.#exchange.id}:${this.#serial}`;
    let taken: Taken;
    let result;
    try {
      const uncertain = (): number => estimator.uncertainNanoUsd(exchange, [target], document, estimate, nanoUsd);
      const counted = this.#part.count(claims, rules, uncertain, shared);
      taken = { reservation: { id, claims }, rules, counted, admission };
      result = this.#take(id, claims, rules, counted);
    } catch (error) {
      this.#dismiss(admission);
      throw error;
    }
    if (result instanceof Promise) return result.then((later) => this.#admitted(later, taken, shared));
    return this.#admitted(result, taken, shared);
  }

  /** Ends every reservation with what was used. The rows are recorded by now. */
  settle(): void {
    const { attempts } = this.#exchange;
    const booked: string[] = [];
    for (const { reservation, rules, counted, admission } of this.#taken) {
      this.#part.giveBack(rules, counted);
      const own = admission === undefined ? undefined : this.#attemptOf(admission);
      const used = admission === undefined ? attempts : own === undefined ? [] : [own];
      const claims = rules.map((rule, index) => {
        if (rule.kind === "budget") {
          // The whole cost is booked once, where it was reserved first.
          const isBooked = booked.includes(rule.key);
          booked.push(rule.key);
          return claimOf(rule, 0, isBooked ? 0 : this.#spent(rule));
        }
        const taken = reservation.claims[index];
        if (rule.kind !== "tokens" || taken?.kind !== "window") return claimOf(rule, 0, 0);
        return claimOf(rule, tokensUsed(used, taken.amount), 0);
      });
      const settled = this.#parts.host.state.settle({ id: reservation.id, claims });
      if (settled instanceof Promise) {
        settled.catch((error: unknown) => {
          this.#parts.host.log.error("a reservation could not be settled", { request_id: this.#exchange.id, error });
        });
      }
    }
    this.#taken.length = 0;
  }

  #take(id: string, claims: readonly Claim[], rules: readonly Rule[], counted: readonly number[]): Soon<TakeResult> {
    const { host, taker } = this.#parts;
    const leaseMs = Math.max(0, this.#exchange.deadlineMs - host.clock.monotonic()) + LEASE_MARGIN_MS;
    return this.#part.unlessRefused(rules, counted, () => taker.take({ id, claims }, rules, leaseMs, this.#exchange.identity));
  }

  #entered(result: TakeResult, claims: readonly Claim[], counted: readonly number[]): Soon<void> {
    const { late: rules } = this.#set;
    if (result.outcome === "granted")
      this.#keep(result, { reservation: { id: this.#exchange.id, claims }, rules, counted, admission: undefined });
    if (result.outcome !== "unseeded") {
      const { rules: early, states } = this.#early;
      showLimits(this.#exchange, [...early, ...rules], [...states, ...result.states]);
    }
    if (result.outcome === "refused") return this.#refuse(result, rules, false);
  }

  #dismiss(dismissed: Admission | undefined): void {
    this.#admissions = this.#admissions?.filter((admission) => admission !== dismissed);
  }

  #admitted(result: TakeResult, taken: Taken, shared: number): Soon<void> {
    if (result.outcome === "granted") {
      this.#keep(result, taken);
      return;
    }
    this.#dismiss(taken.admission);
    if (result.outcome === "refused") return this.#refuse(result, taken.rules, result.short >= shared);
  }

  #refuse(result: Refused, rules: readonly Rule[], isOfTarget: boolean): Soon<never> {
    const rule = rules[result.short];
    this.#exchange.note("limits", `refused by the ${rule?.kind ?? "limit"} of`, rule?.whose);
    return refuse(result, rules, this.#parts.host, isOfTarget);
  }

  /** From here on it is settled, also when the exchange has ended meanwhile. */
  #keep({ states }: Granted, taken: Taken): void {
    const isFirst = this.#taken.length === 0;
    this.#taken.push(taken);
    if (isFirst) this.#exchange.onSettle(() => this.settle());
    this.#parts.soft.check(this.#exchange, taken.rules, states);
  }

  #estimateFor(exchange: Exchange, document: JsonDocument, target: Target): TokenEstimate {
    const isNative = exchange.operation === "passthrough";
    const isSame = !isNative && document === this.#document && exchange.model === this.#model;
    if (isSame && this.#estimate !== undefined) return this.#estimate;
    const model = isNative ? cataloguedModel(target, this.#parts.host.models) : exchange.model;
    return estimateTokens(exchange, document, model, this.#parts.config.default_max_tokens);
  }

  /** What a call may cost. Throws where the price is unknown and a budget holds. */
  #costOf(
    exchange: Exchange,
    target: Target,
    document: JsonDocument,
    estimate: TokenEstimate,
    ofTarget: readonly Rule[],
  ): number {
    const { config, estimator } = this.#parts;
    const hasMoney = this.#set.hasBudgets || this.#maxCostNanoUsd !== Infinity || ofTarget.some(({ kind }) => kind === "budget");
    if (!hasMoney) return 0;
    const nanoUsd = estimator.nanoUsd(exchange, target, document, estimate);
    if (nanoUsd !== undefined) return nanoUsd;
    if (config.unpriced === "allow" || !(this.#set.isBudgeted || ofTarget.some(isEnforced))) return 0;
    throw unpricedRefusal(target.model);
  }

  /** What calls so far have cost or may cost yet, of one provider or of all. */
  #committed(provider: string | undefined): number {
    let sum = 0;
    for (const admission of this.#admissions ?? []) {
      if (provider !== undefined && admission.target.provider !== provider) continue;
      sum += this.#costNow(admission);
    }
    return sum;
  }

  #costNow(admission: Admission): number {
    const attempt = this.#attemptOf(admission);
    if (attempt === undefined) return admission.nanoUsd;
    const { pricer } = this.#exchange;
    return knownCost(attempt, () => pricer?.(attempt)) ?? admission.nanoUsd;
  }

  /** The attempt of an admission: both are in the order of their target's calls. */
  #attemptOf(admission: Admission): Attempt | undefined {
    const place = (this.#admissions ?? []).filter(({ target }) => target.id === admission.target.id).indexOf(admission);
    return this.#exchange.attempts.filter(({ target }) => target.id === admission.target.id)[place];
  }

  #reserved({ key }: BudgetRule): number {
    let sum = 0;
    for (const { reservation } of this.#taken) {
      for (const claim of reservation.claims) if (claim.kind === "budget" && claim.key === key) sum += claim.amountNanoUsd;
    }
    return sum;
  }

  /** What a budget has lost to this exchange. A cost that nobody knows is what was reserved for it. */
  #spent({ provider }: BudgetRule): number {
    const { attempts, pricer } = this.#exchange;
    let sum = 0;
    for (const attempt of attempts) {
      if (provider !== undefined && attempt.target.provider !== provider) continue;
      const known = knownCost(attempt, () => pricer?.(attempt));
      sum += known ?? this.#admissions?.find((admission) => this.#attemptOf(admission) === attempt)?.nanoUsd ?? 0;
    }
    return sum;
  }
}
