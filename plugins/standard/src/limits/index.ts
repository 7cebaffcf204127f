/**
 * The step `limits`: rates, budgets and concurrency. It reserves before a call is dispatched and
 * settles by the spend rows.
 */

import { addGate, CUSTOMER } from "@sluice/runtime";
import { defineSlot, defineStep, passOn } from "@sluice/kit";
import {
  type Exchange,
  GatewayError,
  type Host,
  type Identity,
  type MaybePromise,
  type Operation,
} from "@sluice/contract";
import { type LimitsConfig, limitsFaults, limitsNames, limitsSchema } from "./config.ts";
import { CostEstimator, estimateTokens } from "./estimate.ts";
import { type Early, LimitLease, NOTHING, takeEarly } from "./reserve.ts";
import { AdmittedCalls } from "./settle.ts";
import { LimitGate } from "./gate.ts";
import type { LeaseParts } from "./parts.ts";
import { JoinedEntries, type JoinedEntry } from "./joined-entry.ts";
import { OpenReservations } from "./key-share.ts";
import { costOfRequest, fitToCost, maxCostOf, type RequestCost } from "./max-cost.ts";
import { unpricedRefusal } from "./refusal.ts";
import { ConcurrencyLimiter } from "./concurrency.ts";
import { LimitResolver } from "./rules/resolver.ts";
import type { RuleSet } from "./rules/rule.ts";
import { SoftBudgets } from "./soft-budget.ts";
import { openTargetTokens } from "./target-tokens.ts";
import { Reserver } from "./reserver.ts";
import { openWindowBook } from "./books/window-book.ts";

/** Operations without an upstream call. */
const CALLS_NOTHING: ReadonlySet<Operation> = new Set(["spend", "tokens", "responses"]);

export const limits = defineStep<LimitsConfig>({
  name: "limits",
  stability: "beta",
  summary:
    "Rates, budgets and concurrency: refuses what a key, user, team, model or provider may not have, before anything is dispatched.",
  config: limitsSchema,
  check: limitsFaults,
  operations: ["chat", "embeddings", "images", "passthrough", "spend", "tokens", "responses"],
  traits: { sharesState: true },
  order: {
    provides: ["limits"],
    requires: [
      { capability: "identity", reason: "limits belong to a key" },
      { capability: "cost", reason: "money is reserved at the prices that the rows will have" },
    ],
    before: [
      { capability: "cached_reply", reason: "a reply from the cache would pass it by" },
      { capability: "fallback", reason: "each model would be a request of its own" },
      { capability: "target", reason: "each target would be a request of its own" },
    ],
  },
  inspect: (config) => ({ names: limitsNames(config) }),
  create(config, host) {
    const resolver = new LimitResolver(config, host);
    const estimator = new CostEstimator(host);
    const parts: LeaseParts = {
      config,
      host,
      resolver,
      reserver: new Reserver(host),
      estimator,
      soft: new SoftBudgets(host),
      open: new OpenReservations(config.reserved_share, host),
      tokens: openTargetTokens(host),
    };
    openWindowBook(host);
    const concurrency = new ConcurrencyLimiter(config, host);
    const hasTargetRules = resolver.hasProviderBudgets || hasLimitedTarget(host);
    const whole = { ...parts, hasTargetRules };
    const joined = new JoinedEntries(parts);
    const take = (exchange: Exchange, identity: Identity): MaybePromise<Early> => {
      const keep = (early: Early): Early => {
        EARLY.set(exchange, (EARLY.get(exchange) ?? new Map()).set(parts, early));
        return early;
      };
      const early = takeEarly(exchange, identity, parts);
      return early instanceof Promise ? early.then(keep) : keep(early);
    };
    const begin = (exchange: Exchange, identity: Identity): MaybePromise<Early> => {
      concurrency.enter(exchange, identity);
      return joined.defer(exchange, identity) ? NOTHING : take(exchange, identity);
    };
    const enter = (exchange: Exchange, identity: Identity, early: Early): MaybePromise<unknown> => {
      const entry = joined.of(exchange);
      // A calculation or a count calls no upstream: only requests and slots limit it.
      if (!CALLS_NOTHING.has(exchange.operation))
        return reserve(exchange, identity, whole, early, entry);
      if (entry === undefined) return undefined;
      entry.isCounted = true;
      return take(exchange, identity);
    };
    return {
      beforeBody(exchange) {
        if (exchange.identity === undefined) return undefined;
        const early = begin(exchange, exchange.identity);
        return early instanceof Promise ? early.then(() => undefined) : undefined;
      },
      enter(exchange) {
        const { identity } = exchange;
        if (identity === undefined) return false;
        checkReplies(exchange, config);
        const known = joined.of(exchange) === undefined ? EARLY.get(exchange)?.get(parts) : NOTHING;
        const early = known ?? begin(exchange, identity);
        const entered =
          early instanceof Promise
            ? early.then((taken) => enter(exchange, identity, taken))
            : enter(exchange, identity, early);
        return entered instanceof Promise ? entered.then(() => false) : false;
      },
      run: passOn,
    };
  },
});

/** What each use of the step reserved before the body. A pipeline may use the step twice. */
const EARLY = defineSlot<Map<LeaseParts, Early>>("limits taken before the body");

/** Reserves what is known at the entry, and sets the gate that reserves the rest for each call. */
function reserve(
  exchange: Exchange,
  identity: Identity,
  parts: LeaseParts & { readonly hasTargetRules: boolean },
  early: Early,
  entry: JoinedEntry | undefined,
): MaybePromise<unknown> {
  const { config, resolver, hasTargetRules } = parts;
  const maxCostNanoUsd = maxCostFor(exchange, identity, config);
  const rulesOf = (): RuleSet => {
    const own = resolver.of(identity, exchange.model);
    const set = resolver.withTags(own, identity, exchange.request?.tags ?? []);
    return resolver.withCustomer(set, identity, exchange.model, CUSTOMER.get(exchange));
  };
  let set = rulesOf();
  const hasMoney = set.hasBudgets || maxCostNanoUsd !== Infinity;
  const hasGate =
    hasMoney || hasTargetRules || resolver.hasModelRules(identity, CUSTOMER.get(exchange));
  const isEmpty = set.late.length === 0 && !hasGate;
  if (isEmpty && entry === undefined) return undefined;
  const { model } = exchange;
  let cost: Partial<RequestCost> | undefined;
  if (model !== undefined && hasMoney) {
    cost = fittedCost(exchange, identity, maxCostNanoUsd, parts);
    // A maximum cost may have chosen a cheaper model.
    if (model !== exchange.model) set = rulesOf();
    if (cost?.nanoUsd === undefined && set.isBudgeted && config.unpriced === "refuse")
      refuseUnpriced(exchange, parts);
  } else if (set.hasTokens && exchange.request !== undefined) {
    cost = {
      estimate: estimateTokens(
        exchange,
        exchange.request.document,
        model,
        config.default_max_tokens,
      ),
    };
  }
  const terms = { set, estimate: cost?.estimate, nanoUsd: cost?.nanoUsd ?? 0, maxCostNanoUsd };
  const calls = new AdmittedCalls(exchange);
  const lease = new LimitLease(parts, exchange, calls);
  if (hasGate) {
    const gate = new LimitGate(parts, exchange, lease, calls, terms);
    addGate(exchange, (...call) => gate.admit(...call));
  }
  return lease.enter(
    entry === undefined ? set.late : [...set.early, ...set.late],
    terms,
    early,
    entry,
  );
}

/**
 * The maximum that the exchange may cost, in nano-dollars: of the header and of the options;
 * `Infinity` without either.
 */
function maxCostFor(exchange: Exchange, identity: Identity, config: LimitsConfig): number {
  const isExempt = identity.kind === "master" && !config.limit_master;
  return maxCostOf(exchange, isExempt ? undefined : config.max_cost);
}

/** The cost of the request, made to fit its maximum. */
function fittedCost(
  exchange: Exchange,
  identity: Identity,
  maxNanoUsd: number,
  parts: LeaseParts,
): RequestCost | undefined {
  const cost = costOfRequest(exchange, parts.estimator, parts.config.default_max_tokens);
  return cost === undefined || maxNanoUsd === Infinity
    ? cost
    : fitToCost(exchange, identity, maxNanoUsd, cost, parts);
}

function refuseUnpriced({ model, request }: Exchange, { estimator }: LeaseParts): void {
  const [target] = model?.targets ?? [];
  if (model === undefined || target === undefined) return;
  throw unpricedRefusal(
    model.id,
    request === undefined ? undefined : estimator.unpricedTool(target, request.document),
  );
}

/**
 * Bounds how many replies a request asks for: each may be as long as the model allows. Throws
 * `invalid_field`.
 */
function checkReplies(
  { operation, request }: Exchange,
  { max_n: replies, max_images: images }: LimitsConfig,
): void {
  const max = operation === "chat" ? replies : operation === "images" ? images : Infinity;
  const n = request?.document.value.n;
  if (typeof n !== "number" || n <= max) return;
  const option = operation === "chat" ? "max_n" : "max_images";
  throw new GatewayError(
    "invalid_field",
    `The field n must be at most ${max} (${option} of the step limits).`,
    { param: "n" },
  );
}

function hasLimitedTarget({ models }: Host): boolean {
  return models
    .list()
    .some(({ targets }) => targets.some(({ rpm, tpm }) => rpm !== undefined || tpm !== undefined));
}
