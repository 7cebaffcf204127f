/** The metrics of requests: one function that reads the exchange and its rows after the reply. */

import { guardrailCounts, guardrailOutcomes } from "@sluice/runtime";
import type { Attempt, Counter, Histogram, Metrics, Model, SpendRow } from "@sluice/contract";
import type { RouteOutline } from "../pipeline/compile.ts";
import type { LiveExchange } from "../pipeline/exchange.ts";
import { REQUEST_METRICS } from "../telemetry/metric-table.ts";

/** Counts requests. */
export interface RequestMetrics {
  /**
   * A request that had a route and has ended. `status` is what was sent; `undefined` when the
   * client was gone before.
   */
  count(
    exchange: LiveExchange,
    outline: RouteOutline,
    status: number | undefined,
    nowMs: number,
  ): void;
  /** A request that was refused before it had a route. */
  countUnrouted(status: number, code: string): void;
}

const NONE = "none";
const CLIENT_GONE = 499;
const CACHE_HEADER = "x-sluice-cache";

/** The metrics of one route and one model, found with two look-ups. */
interface Bound {
  readonly byStatus: Map<number, Counter>;
  readonly duration: Histogram;
  readonly firstToken: Histogram;
}

/** Makes the function that counts. Its cells belong to the process. */
export function createRequestMetrics(metrics: Metrics): RequestMetrics {
  const requests = metrics.counter(REQUEST_METRICS.requests);
  const failures = metrics.counter(REQUEST_METRICS.failures);
  const cache = metrics.counter(REQUEST_METRICS.cache);
  const verdicts = metrics.counter(REQUEST_METRICS.verdicts);
  const countRow = createRowMetrics(metrics);
  const countMore = createMoreAttempts(metrics);
  const cells = createRouteCells(metrics);

  return {
    count(exchange, outline, status = CLIENT_GONE, nowMs) {
      const route = cells.route(outline);
      const model = entryOf(exchange.model, outline.operation);
      const bound = cells.bound(route, outline.operation, model);
      let counter = bound.byStatus.get(status);
      if (counter === undefined) {
        counter = requests.with(route.name, String(status), model);
        bound.byStatus.set(status, counter);
      }
      counter.add();
      bound.duration.observe(Math.max(0, nowMs - exchange.startedMs) / 1_000);
      if (exchange.overheadMs !== undefined) route.overhead.observe(exchange.overheadMs / 1_000);
      const { attempts, failure, rows, headers } = exchange;
      const firstMs = attempts.findLast(({ outcome }) => outcome !== "failure")?.firstContentAtMs;
      if (firstMs !== undefined)
        bound.firstToken.observe(Math.max(0, firstMs - exchange.startedAtMs) / 1_000);
      if (failure !== undefined) failures.with(route.name, failure.code).add();
      if (headers.size > 0) {
        const result = headers.get(CACHE_HEADER);
        if (result !== undefined) cache.with(result).add();
      }
      const judged = guardrailOutcomes(exchange);
      for (const [at, { guardrail, direction, verdict, mode }] of judged.entries())
        verdicts.with(guardrail, direction, verdict, mode).add(guardrailCounts(exchange)[at]);
      if (rows !== undefined) {
        for (let index = 0; index < rows.length; index++)
          countRow(rows[index] as SpendRow, attempts[index], outline.operation);
      }
      if (attempts.length > 1) countMore(attempts, outline.operation);
    },
    countUnrouted(status, code) {
      requests.with(NONE, String(status), NONE).add();
      failures.with(NONE, code).add();
    },
  };
}

/** The metrics of one route. */
interface RouteCells {
  readonly name: string;
  readonly overhead: Histogram;
  readonly models: Map<string, Bound>;
}

/** Finds the metrics of a route, and of a route and a model. */
function createRouteCells(metrics: Metrics) {
  const durations = metrics.histogram(REQUEST_METRICS.duration);
  const firstTokens = metrics.histogram(REQUEST_METRICS.firstToken);
  const overheads = metrics.histogram(REQUEST_METRICS.overhead);
  // An outline belongs to a generation and is freed with it.
  const routes = new WeakMap<RouteOutline, RouteCells>();
  return {
    route(outline: RouteOutline): RouteCells {
      let route = routes.get(outline);
      if (route === undefined) {
        const name = `${outline.method} ${outline.path}`;
        route = { name, overhead: overheads.with(name), models: new Map() };
        routes.set(outline, route);
      }
      return route;
    },
    bound({ models }: RouteCells, operation: string, model: string): Bound {
      let bound = models.get(model);
      if (bound === undefined) {
        bound = {
          byStatus: new Map(),
          duration: durations.with(operation, model),
          firstToken: firstTokens.with(operation, model),
        };
        models.set(model, bound);
      }
      return bound;
    },
  };
}

/** The metrics of one deployment. */
interface DeploymentCells {
  readonly success: Counter;
  readonly duration: Histogram;
  readonly input: Histogram;
  readonly output: Histogram;
  readonly cost: Map<string, Counter>;
}

/** Counts the rows of attempts. A row with number 0 had no upstream call. */
function createRowMetrics(metrics: Metrics) {
  const attempts = metrics.counter(REQUEST_METRICS.attempts);
  const durations = metrics.histogram(REQUEST_METRICS.attemptDuration);
  const tokens = metrics.counter(REQUEST_METRICS.tokens);
  const usage = metrics.histogram(REQUEST_METRICS.tokenUsage);
  const cost = metrics.counter(REQUEST_METRICS.cost);
  const unpriced = metrics.counter(REQUEST_METRICS.unpriced);
  const cells = new Map<string, Map<string, DeploymentCells>>();

  const cellsOf = (operation: string, provider: string, deployment: string): DeploymentCells => {
    let ofOperation = cells.get(operation);
    if (ofOperation === undefined) cells.set(operation, (ofOperation = new Map()));
    let found = ofOperation.get(deployment);
    if (found === undefined) {
      found = {
        success: attempts.with(deployment, "success", NONE),
        duration: durations.with(operation, provider, deployment),
        input: usage.with("input", provider, deployment),
        output: usage.with("output", provider, deployment),
        cost: new Map(),
      };
      ofOperation.set(deployment, found);
    }
    return found;
  };
  const countTokens = (
    deployment: string,
    type: string,
    amount: number | null,
    source: string,
  ): void => {
    if (amount !== null && amount > 0) tokens.with(deployment, type, source).add(amount);
  };

  return (row: SpendRow, attempt: Attempt | undefined, operation: string): void => {
    if (row.attempt === 0 || attempt === undefined) return;
    const deployment = deploymentOf(attempt, operation);
    const of = cellsOf(operation, attempt.provider, deployment);
    if (row.status === "success") of.success.add();
    else attempts.with(deployment, row.status, row.errorCode ?? NONE).add();
    of.duration.observe(Math.max(0, row.endedAtMs - row.startedAtMs) / 1_000);
    const { promptTokens, completionTokens, usageSource } = row;
    if (usageSource !== null) {
      if (promptTokens !== null) of.input.observe(promptTokens);
      if (completionTokens !== null) of.output.observe(completionTokens);
      countTokens(deployment, "input", promptTokens, usageSource);
      countTokens(deployment, "output", completionTokens, usageSource);
      countTokens(deployment, "cached", row.cachedTokens, usageSource);
      countTokens(deployment, "reasoning", row.reasoningTokens, usageSource);
    }
    if (row.costStatus === "unpriced") unpriced.with(deployment).add();
    if (row.costNanoUsd !== null && row.costNanoUsd > 0) {
      const entry = entryOf(attempt.model, operation);
      let counter = of.cost.get(entry);
      if (counter === undefined) of.cost.set(entry, (counter = cost.with(deployment, entry)));
      counter.add(row.costNanoUsd);
    }
  };
}

/** Counts attempts after the first, by their reason, in the order of their starts. */
function createMoreAttempts(metrics: Metrics) {
  const more = metrics.counter(REQUEST_METRICS.moreAttempts);
  return (attempts: readonly Attempt[], operation: string): void => {
    for (let index = 1; index < attempts.length; index++) {
      const attempt = attempts[index] as Attempt;
      const before = attempts[index - 1] as Attempt;
      const isBeside = before.endedAtMs === undefined || attempt.startedAtMs < before.endedAtMs;
      const kind = isBeside
        ? "hedge"
        : attempt.model?.entry === before.model?.entry
          ? "retry"
          : "fallback";
      more.with(kind, deploymentOf(attempt, operation)).add();
    }
  };
}

/**
 * The model as the configuration names it: what a client wrote behind a wildcard, or on a
 * passthrough route, is no label.
 */
function entryOf(model: Model | undefined, operation: string): string {
  return model === undefined || operation === "passthrough" ? NONE : model.entry;
}

/** The deployment as the configuration names it. */
function deploymentOf({ target, model }: Attempt, operation: string): string {
  const isNamed = model !== undefined && operation !== "passthrough" && !model.entry.endsWith("*");
  return isNamed ? target.id : `${target.provider}/*`;
}
