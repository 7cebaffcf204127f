/**
 * Gate: reserves the part of each upstream call that the entry has not reserved, before the call is
 * dispatched.
 */

import type {
  Admission,
  Exchange,
  JsonDocument,
  Model,
  ModelCatalog,
  MaybePromise,
  TakeResult,
  Target,
} from "@sluice/contract";
import type { AdmittedCalls } from "./settle.ts";
import { estimateTokens, type TokenEstimate } from "./estimate.ts";
import { checkMaxCost } from "./max-cost.ts";
import type { LeaseParts } from "./parts.ts";
import { unpricedRefusal } from "./refusal.ts";
import type { CallClaims, EntryEstimate, LimitLease } from "./reserve.ts";
import { StandIns } from "./stand-ins.ts";
import { isEnforced, type Rule, type RuleSet } from "./rules/rule.ts";

/** What a gate knows of the entry of its exchange. */
export interface GateEntry extends EntryEstimate {
  readonly set: RuleSet;
  /** `Infinity` where the request has no maximum. */
  readonly maxCostNanoUsd: number;
}

/** The gate of one exchange. */
export class LimitGate {
  readonly #parts: LeaseParts;
  readonly #exchange: Exchange;
  readonly #lease: LimitLease;
  readonly #calls: AdmittedCalls;
  readonly #entry: GateEntry;
  readonly #model: Exchange["model"];
  readonly #document: JsonDocument | undefined;
  /** The entry reserves for one call. */
  #isEntryUsed = false;
  /** Reservations beside the entry's. */
  #serial = 0;
  readonly #standIns: StandIns;

  constructor(
    parts: LeaseParts,
    exchange: Exchange,
    lease: LimitLease,
    calls: AdmittedCalls,
    entry: GateEntry,
  ) {
    this.#parts = parts;
    this.#exchange = exchange;
    this.#lease = lease;
    this.#calls = calls;
    this.#entry = entry;
    this.#model = exchange.model;
    this.#document = exchange.request?.document;
    this.#standIns = new StandIns(parts.resolver, entry.set, exchange.model);
  }

  /** Admits a call of the exchange or of a branch of it. Throws or rejects with the refusal. */
  admit(
    exchange: Exchange,
    target: Target,
    document: JsonDocument,
    admission: Admission,
  ): MaybePromise<void> {
    const { identity } = exchange;
    if (identity === undefined) return;
    const own = this.#parts.resolver.ofTarget(identity, target);
    const ofModel = this.#standIns.rulesFor(exchange, identity);
    const ofTarget = ofModel.length === 0 ? own : [...ofModel, ...own];
    const isFirst = !this.#isEntryUsed;
    this.#isEntryUsed = true;
    if (isFirst && ofTarget.length === 0 && this.#isReservedAtEntry(exchange, target, document)) {
      const { estimate, nanoUsd } = this.#entry;
      if (estimate !== undefined && this.#hasMoney(ofTarget)) {
        admission.reserved = this.#parts.estimator.usage(exchange, target, document, estimate);
      }
      this.#calls.add(admission, nanoUsd, exchange.model);
      return;
    }
    const estimate = this.#estimateFor(exchange, document, target);
    const nanoUsd = this.#maxCostOf(exchange, target, document, estimate, ofTarget);
    if (this.#hasMoney(ofTarget))
      admission.reserved = this.#parts.estimator.usage(exchange, target, document, estimate);
    checkMaxCost(exchange, this.#calls.committed() + nanoUsd, this.#entry.maxCostNanoUsd);
    const { rules } = this.#entry.set;
    const lacking = this.#lease.lacking(rules, ofTarget, estimate, nanoUsd, exchange.model);
    this.#calls.add(admission, nanoUsd, exchange.model);
    if (lacking.claims.length === 0) return;
    const dismiss = (error: unknown): never => {
      this.#calls.dismiss(admission);
      throw error;
    };
    try {
      const uncertain = (): number =>
        this.#parts.estimator.uncertainNanoUsd(exchange, [target], document, estimate, nanoUsd);
      this.#serial += 1;
      const result = this.#lease.reserve({
        ...lacking,
        id: `${this.#exchange.id}:${this.#serial}`,
        admission,
        uncertain,
      });
      if (result instanceof Promise)
        return result.then((taken) => this.#admitted(taken, lacking, admission, exchange), dismiss);
      return this.#admitted(result, lacking, admission, exchange);
    } catch (error) {
      return dismiss(error);
    }
  }

  #admitted(
    result: TakeResult,
    { rules, shared }: CallClaims,
    admission: Admission,
    { model }: Exchange,
  ): MaybePromise<void> {
    if (result.outcome === "granted") {
      this.#standIns.granted(model);
      return;
    }
    this.#calls.dismiss(admission);
    if (result.outcome === "refused")
      return this.#lease.refuse(result, rules, result.failedIndex >= shared);
  }

  /** A step between the entry and the call may have changed the model, the body or the target. */
  #isReservedAtEntry({ model }: Exchange, target: Target, document: JsonDocument): boolean {
    return (
      model === this.#model &&
      document === this.#document &&
      model?.targets.includes(target) === true
    );
  }

  #estimateFor(exchange: Exchange, document: JsonDocument, target: Target): TokenEstimate {
    const isNative = exchange.operation === "passthrough";
    const isSame = !isNative && document === this.#document && exchange.model === this.#model;
    if (isSame && this.#entry.estimate !== undefined) return this.#entry.estimate;
    const model = isNative ? cataloguedModel(target, this.#parts.host.models) : exchange.model;
    return estimateTokens(exchange, document, model, this.#parts.config.default_max_tokens);
  }

  /** Whether money is reserved for a call. */
  #hasMoney(ofTarget: readonly Rule[]): boolean {
    const { set, maxCostNanoUsd } = this.#entry;
    return (
      set.hasBudgets ||
      maxCostNanoUsd !== Infinity ||
      ofTarget.some(({ kind }) => kind === "budget")
    );
  }

  /**
   * The maximum cost of a call, in nano-dollars. Throws where the price is unknown and a budget
   * limits the call.
   */
  #maxCostOf(
    exchange: Exchange,
    target: Target,
    document: JsonDocument,
    estimate: TokenEstimate,
    ofTarget: readonly Rule[],
  ): number {
    const { config, estimator } = this.#parts;
    if (!this.#hasMoney(ofTarget)) return 0;
    const nanoUsd = estimator.nanoUsd(exchange, target, document, estimate);
    if (nanoUsd !== undefined) return nanoUsd;
    if (config.unpriced === "allow" || !(this.#entry.set.isBudgeted || ofTarget.some(isEnforced)))
      return 0;
    throw unpricedRefusal(target.model, estimator.unpricedTool(target, document));
  }
}

/** The model of a target that a native request names; `undefined` where the catalogue has none. */
function cataloguedModel({ id }: Target, models: ModelCatalog): Model | undefined {
  return (
    models.find(id) ??
    models.list().find(({ targets }) => targets.some((target) => target.id === id))
  );
}
