/** The step `retry`: calls the same target again after a transient failure. */

import { defineStep, parseDuration } from "@sluice/kit";
import { holderOf } from "@sluice/kit/internals";
import {
  type Exchange,
  type GatewayError,
  type Host,
  isGatewayError,
  type Next,
  type Step,
  type StepDefinition,
  type Target,
} from "@sluice/contract";
import { leaseOf } from "../deployments/lease.ts";
import { type RetryBudget, RetryBudgets } from "./budget.ts";
import { backoffMs, waitFor } from "./wait.ts";
import { isOwnLimit } from "../limits/refusal.ts";
import { failureOf, RETRIED_FAILURES, type RetriedFailure } from "./failures.ts";
import { hasStandIn, mayRepeat } from "./attempt-budget.ts";

/** Options of the step `retry` as YAML has them. */
export interface RetryConfig {
  readonly attempts: number;
  readonly base: string;
  readonly max: string;
  readonly retry_after_max: string;
  readonly budget: string;
  readonly retry_images: boolean;
  readonly on: readonly RetriedFailure[];
}

/** What the explanation of a request says when it gets no retry. */
const REFUSED_RETRIES = {
  spent: "the retry budget of the deployment is spent, after",
  "part spent": "the key has its part of the deployment's retry budget, after",
} as const;

/** The parts that tests replace. */
export interface RetryParts {
  /** From 0 to 1. */
  readonly random: () => number;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

const definition = {
  name: "retry",
  stability: "beta",
  summary:
    "Calls the same target again after a transient failure, unless another target can take the request. A reply that has begun is not retried.",
  config: {
    type: "object",
    properties: {
      attempts: {
        type: "integer",
        minimum: 1,
        maximum: 10,
        default: 2,
        description:
          "Calls of the same target in all, the first included. A request's `num_retries` may ask for fewer; `max_attempts` of the step fallback bounds all calls of a request, and one of them is left to a fallback.",
      },
      base: {
        type: "string",
        format: "duration",
        default: "250ms",
        description:
          "Maximum wait before the first retry; each further retry doubles it. The wait is random, from 0 to the maximum.",
      },
      max: {
        type: "string",
        format: "duration",
        default: "8s",
        description: "Upper bound of the doubled maximum.",
      },
      retry_after_max: {
        type: "string",
        format: "duration",
        default: "30s",
        description:
          "Maximum accepted Retry-After. A longer one ends the retries at this target immediately.",
      },
      budget: {
        type: "string",
        pattern: "^(100|[1-9]?[0-9])%$",
        default: "20%",
        description:
          "Share of a deployment's requests in the last 10 seconds that may be retries; 3 are allowed in any case. Keys that use the deployment at the same time each have a part of it, at least this share of their own requests. What is beyond fails at once.",
      },
      retry_images: {
        type: "boolean",
        default: false,
        description:
          "Whether image requests are retried too. The upstream bills an image that it made before the failure.",
      },
      on: {
        type: "array",
        uniqueItems: true,
        items: { type: "string", enum: [...RETRIED_FAILURES] },
        default: [...RETRIED_FAILURES],
        description:
          "Failures that lead to another call of the same target. After a `timeout` the same target is called only when no other target and no fallback remains.",
      },
    },
  },
  operations: ["chat", "embeddings", "images"],
  traits: { reentrant: true },
  order: {
    provides: ["retry"],
    requires: [{ capability: "identity", reason: "an upstream call is charged to a key" }],
  },
} satisfies Partial<StepDefinition<RetryConfig>>;

export const retry = defineStep<RetryConfig>({
  ...definition,
  create: (config, host) => createRetry(config, host, { random: Math.random, wait: waitFor }),
});

/** Creates the step with its own random numbers and clock. */
export function createRetry(config: RetryConfig, host: Host, parts: RetryParts): Step {
  const calls = new RepeatedCalls(config, host, parts);
  return { run: ({ exchange }, next) => calls.run(exchange, next) };
}

/** A call that failed and may be repeated. */
interface FailedCall {
  readonly error: GatewayError;
  readonly target: Target;
  readonly budget: RetryBudget;
  readonly startedMs: number;
  /** The number of the next retry, from 1. */
  readonly retry: number;
}

/** Calls one target until it answers or gets no retry. */
class RepeatedCalls {
  readonly #config: RetryConfig;
  readonly #clock: Host["clock"];
  readonly #parts: RetryParts;
  readonly #budgets: RetryBudgets;
  readonly #baseMs: number;
  readonly #maxMs: number;
  readonly #maxRetryAfterMs: number;
  readonly #share: number;

  constructor(config: RetryConfig, host: Host, parts: RetryParts) {
    this.#config = config;
    this.#clock = host.clock;
    this.#parts = parts;
    this.#budgets = host.shared("retry-budgets", () => new RetryBudgets());
    this.#baseMs = parseDuration(config.base) ?? 0;
    this.#maxMs = parseDuration(config.max) ?? 0;
    this.#maxRetryAfterMs = parseDuration(config.retry_after_max) ?? 0;
    this.#share = Number.parseInt(config.budget, 10) / 100;
  }

  async run(exchange: Exchange, next: Next): Promise<void> {
    const { attempts, retry_images: retriesImages } = this.#config;
    const target = exchange.target ?? exchange.model?.targets[0];
    if (target === undefined || (exchange.operation === "images" && !retriesImages)) return next();
    const budget = this.#budgets.of(target.id);
    budget.request(holderOf(exchange.identity).key, this.#clock.monotonic());
    const retries = allowedRetries(exchange, attempts);
    for (let retry = 1; ; retry += 1) {
      const startedMs = this.#clock.monotonic();
      try {
        return await next();
      } catch (error) {
        if (!isPassing(error, exchange)) throw error;
        await this.#prepare(exchange, { error, target, budget, startedMs, retry }, retry > retries);
        exchange.target = target;
      }
    }
  }

  /** Waits before a retry. Throws the failure where the call gets none, and notes the reason. */
  async #prepare(exchange: Exchange, failed: FailedCall, isLast: boolean): Promise<void> {
    const { error, target, budget, startedMs } = failed;
    const giveUp = (why: string): never => {
      exchange.note("retry", why, error.code);
      throw error;
    };
    const failure = failureOf(error);
    if (!this.#config.on.includes(failure)) giveUp("`on` does not name the failure, after");
    const lease = leaseOf(exchange);
    if (lease?.hasOther === true) giveUp("another target can take the request, after");
    if (lease?.mayRepeat === false) giveUp("the deployment is ejected, after");
    if (isLast) giveUp("no retry left after");
    const isReplaceable = await hasStandIn(exchange, error);
    // A second timeout costs the client as much as the first, and a fallback may answer at once.
    if (isReplaceable && failure === "timeout") giveUp("a fallback can take the request, after");
    const kept = isReplaceable ? 1 : 0;
    if (!mayRepeat(exchange, kept)) giveUp("no more calls than `max_attempts`, after");
    if (error.retryAfterMs !== undefined && error.retryAfterMs > this.#maxRetryAfterMs)
      giveUp("the upstream asks for a longer wait than `retry_after_max`, after");
    const waitMs = this.#waitMs(failed);
    const nowMs = this.#clock.monotonic();
    // A second timeout must leave time for an answer or another model.
    const silenceMs = error.code === "upstream_timeout" ? nowMs - startedMs : 0;
    if (nowMs + waitMs + silenceMs >= exchange.lifetime.deadlineMs)
      giveUp("no time for a retry after");
    const taken = budget.takeRetry(holderOf(exchange.identity), this.#share, nowMs);
    if (taken !== "taken") giveUp(REFUSED_RETRIES[taken]);
    const why = `${target.id} after ${Math.round(waitMs)} ms, because of ${error.code}`;
    exchange.note("retry", "once more", why);
    await this.#parts.wait(waitMs, exchange.signal);
    // A hedge beside this branch may have used the last attempt meanwhile.
    if (!mayRepeat(exchange, kept)) throw error;
    // Other requests may have changed the target's health meanwhile.
    if (lease?.mayRepeat === false) giveUp("the deployment was ejected during the wait, after");
  }

  #waitMs({ error: { retryAfterMs }, retry }: FailedCall): number {
    const { random } = this.#parts;
    return backoffMs(retry, { baseMs: this.#baseMs, maxMs: this.#maxMs, retryAfterMs, random });
  }
}

/** Retries of a target: the operator's number, or the client's where it is smaller. */
function allowedRetries({ request }: Exchange, attempts: number): number {
  const asked = request?.fields.num_retries;
  return typeof asked === "number" ? Math.min(asked, attempts - 1) : attempts - 1;
}

/** Whether the same call may succeed later. An exchange with an end or a reply is not retried. */
function isPassing(error: unknown, { signal, reply }: Exchange): error is GatewayError {
  // A limit of the gateway would refuse the same target again. Balance looks for another.
  if (!isGatewayError(error) || isOwnLimit(error)) return false;
  return error.retryable && !signal.aborted && reply === undefined;
}
