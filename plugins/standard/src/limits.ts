/** The step `limits`: rates, budgets and room. Everything is reserved before anything is dispatched, and settled by the rows. */

import { defineStep, passOn } from "@sluice/kit";
import { type Exchange, GatewayError, type Host, type Identity, type Soon } from "@sluice/spec";
import { type LimitsConfig, limitsFaults, limitsNames, limitsSchema } from "./limits-config.ts";
import { CostEstimator, estimateTokens } from "./limits-estimate.ts";
import { takeEarly } from "./limits-early.ts";
import { type Early, Hold } from "./limits-hold.ts";
import type { HoldParts } from "./limits-parts.ts";
import { OpenReservations } from "./limits-open.ts";
import { costOfRequest, fitToCost, MAX_COST_HEADER, maxCostOf } from "./limits-max-cost.ts";
import { unpricedRefusal } from "./limits-refusal.ts";
import { Room } from "./limits-room.ts";
import { RuleBook } from "./limits-rules.ts";
import { SoftBudgets } from "./limits-soft.ts";
import { Taker } from "./limits-take.ts";

export const limits = defineStep<LimitsConfig>({
  name: "limits",
  sharesState: true,
  stability: "beta",
  summary:
    "Rates, budgets and room: refuses what a key, user, team, model or provider may not have, before anything is dispatched.",
  config: limitsSchema,
  check: limitsFaults,
  names: limitsNames,
  operations: ["chat", "embeddings", "images", "passthrough", "spend"],
  provides: ["limits"],
  requires: [
    { capability: "identity", reason: "limits are somebody's" },
    { capability: "cost", reason: "money is reserved at the prices that the rows will have" },
  ],
  before: [
    { capability: "cached_reply", reason: "a reply from the cache would pass it by" },
    { capability: "fallback", reason: "each model would be a request of its own" },
    { capability: "target", reason: "each target would be a request of its own" },
  ],
  create(config, host) {
    const book = new RuleBook(config, host);
    const estimator = new CostEstimator(host);
    const parts: HoldParts = {
      config,
      host,
      book,
      taker: new Taker(host),
      estimator,
      soft: new SoftBudgets(host),
      open: new OpenReservations(config.reserved_share, host),
    };
    const room = new Room(config, host);
    const hasTargetRules = book.hasProviderBudgets || hasLimitedTarget(host);
    const EARLY = Symbol("limits: taken before the body");
    const begin = (exchange: Exchange, identity: Identity): Soon<Early> => {
      room.enter(exchange, identity);
      const keep = (early: Early): Early => {
        exchange.state.set(EARLY, early);
        return early;
      };
      const early = takeEarly(exchange, identity, parts);
      return early instanceof Promise ? early.then(keep) : keep(early);
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
        // A calculation calls no upstream: it is a request and has a place, and no more.
        const isCall = exchange.operation !== "spend";
        const known = exchange.state.get(EARLY) as Early | undefined;
        const early = known ?? begin(exchange, identity);
        if (early instanceof Promise) {
          return early
            .then((taken) => (isCall ? reserve(exchange, identity, parts, hasTargetRules, taken) : undefined))
            .then(() => false);
        }
        const held = isCall ? reserve(exchange, identity, parts, hasTargetRules, early) : undefined;
        return held === undefined ? false : held.then(() => false);
      },
      run: passOn,
    };
  },
});

/** Reserves what the exchange is to have, and sees to what its attempts will need. */
function reserve(exchange: Exchange, identity: Identity, parts: HoldParts, hasTargetRules: boolean, early: Early): Soon<void> {
  const { book, config, estimator } = parts;
  const isExempt = identity.kind === "master" && !config.limit_master;
  const most = isExempt ? undefined : config.max_cost;
  const hasMost = most !== undefined || exchange.client.header(MAX_COST_HEADER) !== undefined;
  const maxCostNanoUsd = hasMost ? maxCostOf(exchange, most) : Infinity;
  let set = book.withTags(book.of(identity, exchange.model), identity, exchange.request?.tags ?? []);
  const hasMoney = set.hasBudgets || maxCostNanoUsd !== Infinity;
  if (set.late.length === 0 && !hasMoney && !hasTargetRules) return;
  let { model } = exchange;
  let estimate;
  let nanoUsd: number | undefined = 0;
  if (model !== undefined && hasMoney) {
    let cost = costOfRequest(exchange, estimator, config.default_max_tokens);
    if (cost !== undefined && maxCostNanoUsd !== Infinity) cost = fitToCost(exchange, identity, maxCostNanoUsd, cost, parts);
    if (model !== exchange.model) {
      ({ model } = exchange);
      set = book.withTags(book.of(identity, model), identity, exchange.request?.tags ?? []);
    }
    estimate = cost?.estimate;
    nanoUsd = cost?.nanoUsd;
    if (
      nanoUsd === undefined &&
      model !== undefined &&
      model.targets.length > 0 &&
      set.isBudgeted &&
      config.unpriced === "refuse"
    ) {
      throw unpricedRefusal(model.id);
    }
  } else if (set.hasTokens && exchange.request !== undefined) {
    estimate = estimateTokens(exchange, exchange.request.document, model, config.default_max_tokens);
  }
  const hold = new Hold(parts, exchange, set, { estimate, nanoUsd: nanoUsd ?? 0, maxCostNanoUsd }, early);
  if (hasMoney || hasTargetRules) exchange.gates.push((asking, target, document) => hold.admit(asking, target, document));
  return hold.enter();
}

/** Bounds how many replies a request asks for: each may be as long as the model can. Throws `invalid_field`. */
function checkReplies({ operation, request }: Exchange, { max_n: replies, max_images: images }: LimitsConfig): void {
  const most = operation === "chat" ? replies : operation === "images" ? images : Infinity;
  const n = request?.document.value.n;
  if (typeof n !== "number" || n <= most) return;
  const option = operation === "chat" ? "max_n" : "max_images";
  throw new GatewayError("invalid_field", `The field n must be at most ${most} (${option} of the step limits).`, { param: "n" });
}

function hasLimitedTarget({ models }: Host): boolean {
  return models.list().some(({ targets }) => targets.some(({ rpm, tpm }) => rpm !== undefined || tpm !== undefined));
}
