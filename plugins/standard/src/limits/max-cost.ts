/** What one request may cost: refuse, shorten the reply, or take a cheaper model. */

import {
  type Exchange,
  GatewayError,
  type Host,
  type Identity,
  type JsonDocument,
  type Model,
} from "@sluice/contract";
import { configuredNanoUsd, dollarText, nanoUsdOf, routedModel } from "@sluice/runtime";
import type { LimitsConfig } from "./config.ts";
import { type CostEstimator, estimateTokens, type TokenEstimate } from "./estimate.ts";
import { NO_RETRY } from "./refusal.ts";

/** The header that asks for less than the option says. */
export const MAX_COST_HEADER = "x-sluice-max-cost";

const DOLLARS = /^(?:0|[1-9][0-9]{0,6})(?:\.[0-9]{1,9})?$/;

/** What a request may use and cost. */
export interface RequestCost {
  readonly estimate: TokenEstimate;
  /** At the dearest of the model's targets with a price; `undefined` when none has one. */
  readonly nanoUsd: number | undefined;
}

/**
 * The maximum that the exchange may cost, in nano-dollars. Throws `invalid_header` for a header
 * that is no amount of dollars.
 */
export function maxCostOf({ client }: Exchange, maxUsd: number | undefined): number {
  const header = client.header(MAX_COST_HEADER);
  const general = maxUsd === undefined ? Infinity : configuredNanoUsd(maxUsd);
  if (header === undefined) return general;
  if (!DOLLARS.test(header)) {
    throw new GatewayError(
      "invalid_header",
      `The header ${MAX_COST_HEADER} must be US dollars, such as 0.05.`,
      {
        param: MAX_COST_HEADER,
      },
    );
  }
  return Math.min(general, nanoUsdOf(Number(header)) ?? Infinity);
}

/** Estimates a request at its model. */
export function costOfRequest(
  exchange: Exchange,
  estimator: CostEstimator,
  otherwise: number,
): RequestCost | undefined {
  const { model, request } = exchange;
  if (request === undefined) return undefined;
  const estimate = estimateTokens(exchange, request.document, model, otherwise);
  let dearest: number | undefined;
  for (const target of model?.targets ?? []) {
    const nanoUsd = estimator.nanoUsd(exchange, target, request.document, estimate);
    if (nanoUsd !== undefined && (dearest === undefined || nanoUsd > dearest)) dearest = nanoUsd;
  }
  return { estimate, nanoUsd: dearest };
}

/** What fitting a request needs. */
export interface FitParts {
  readonly config: LimitsConfig;
  readonly host: Host;
  readonly estimator: CostEstimator;
}

/**
 * Makes a request fit its maximum, as `on_max_cost` says, and returns its cost then. Throws
 * `budget_exceeded` when it cannot be; a model without a price cannot.
 */
export function fitToCost(
  exchange: Exchange,
  identity: Identity,
  maxNanoUsd: number,
  asked: RequestCost,
  { config, host, estimator }: FitParts,
): RequestCost {
  if (asked.nanoUsd !== undefined && asked.nanoUsd <= maxNanoUsd) return asked;
  if (config.on_max_cost === "downgrade") {
    exchange.model = cheaperModel(exchange, identity, config, host) ?? exchange.model;
    exchange.note("limits", "downgraded to", exchange.model?.id);
  } else if (config.on_max_cost === "clamp" && exchange.operation === "chat")
    clamp(exchange, maxNanoUsd, asked, estimator);
  const fitted = costOfRequest(exchange, estimator, config.default_max_tokens);
  if (fitted?.nanoUsd !== undefined && fitted.nanoUsd <= maxNanoUsd) return fitted;
  const what =
    fitted?.nanoUsd === undefined
      ? "has no known price"
      : `may cost ${dollarText(fitted.nanoUsd)} US dollars`;
  throw new GatewayError(
    "budget_exceeded",
    `The request ${what}; its maximum is ${dollarText(maxNanoUsd)} US dollars. A smaller max_tokens may help.`,
    {
      param: MAX_COST_HEADER,
      headers: NO_RETRY,
    },
  );
}

/**
 * Throws `budget_exceeded` where an exchange may cost more than it is allowed, all its calls
 * together.
 */
export function checkMaxCost({ model }: Exchange, nanoUsd: number, maxNanoUsd: number): void {
  if (nanoUsd <= maxNanoUsd) return;
  const message = `The request may cost more than the ${dollarText(maxNanoUsd)} US dollars it is allowed, at ${model?.id ?? "this model"}.`;
  throw new GatewayError("budget_exceeded", message, { param: MAX_COST_HEADER, headers: NO_RETRY });
}

function cheaperModel(
  exchange: Exchange,
  identity: Identity,
  { downgrade_to: id = "" }: LimitsConfig,
  host: Host,
): Model | undefined {
  const found = host.models.find(id);
  const cheaper = found === undefined ? undefined : routedModel(found, exchange);
  return cheaper !== undefined &&
    cheaper.mode === exchange.model?.mode &&
    host.authority.mayUse(identity, cheaper)
    ? cheaper
    : undefined;
}

/**
 * Shortens the reply to what is left beside the prompt. Prices are linear in the reply's tokens.
 */
function clamp(
  exchange: Exchange,
  maxNanoUsd: number,
  { estimate, nanoUsd }: RequestCost,
  estimator: CostEstimator,
): void {
  const { request, model } = exchange;
  if (request === undefined || nanoUsd === undefined || estimate.completionTokens === 0) return;
  const { document } = request;
  let promptNanoUsd = 0;
  for (const target of model?.targets ?? []) {
    const alone =
      estimator.nanoUsd(exchange, target, document, { ...estimate, completionTokens: 0 }) ?? 0;
    promptNanoUsd = Math.max(promptNanoUsd, alone);
  }
  const { n, max_completion_tokens: newer, max_tokens: older } = document.value;
  const replies = typeof n === "number" && n > 1 ? n : 1;
  const perToken = (nanoUsd - promptNanoUsd) / estimate.completionTokens;
  const tokens = Math.floor((maxNanoUsd - promptNanoUsd) / perToken / replies);
  if (tokens < 1) return;
  const clamped: JsonDocument = document.with({
    // Of two, both: the upstream may heed either.
    ...(newer === undefined || older !== undefined ? { max_tokens: tokens } : {}),
    ...(newer === undefined ? {} : { max_completion_tokens: tokens }),
  });
  exchange.request = { ...request, document: clamped };
  exchange.headers.set("x-sluice-clamped-max-tokens", String(tokens));
  exchange.note("limits", "max_tokens clamped to", String(tokens));
}
