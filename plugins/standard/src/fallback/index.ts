/** The step `fallback`: asks other models when the first one fails. */

import { defineStep } from "@sluice/kit";
import { discardReply } from "@sluice/runtime";
import {
  type Exchange,
  type FallbackClass,
  type GatewayError,
  isGatewayError,
  type Next,
} from "@sluice/contract";
import { finalError } from "./failure-class.ts";
import { continuedFrames, isContinuable } from "./continue.ts";
import { standInsOf, StandInSearch } from "./search.ts";
import { reserveAttempt, limitAttempts } from "../retry/attempt-budget.ts";

/** Options of the step `fallback`. */
export interface FallbackConfig {
  readonly classes: readonly FallbackClass[];
  readonly max: number;
  readonly max_attempts: number;
  readonly on_cut: "error" | "continue";
}

const CLASSES: readonly FallbackClass[] = [
  "general",
  "context_window",
  "content_policy",
  "rate_limit",
  "overloaded",
  "timeout",
];
const COUNT_HEADER = "x-sluice-fallbacks";

export const fallback = defineStep<FallbackConfig>({
  name: "fallback",
  stability: "beta",
  summary:
    "Calls other models when the first one fails: the model's `fallbacks` in gateway.yaml, or the request's.",
  config: {
    type: "object",
    properties: {
      classes: {
        type: "array",
        uniqueItems: true,
        items: { type: "string", enum: [...CLASSES] },
        default: [...CLASSES],
        description:
          "Failures that lead to another model: `context_window` and `content_policy` as the upstream calls them, `general` for its other failures. `rate_limit`, `overloaded` and `timeout` are parts of `general` with lists of their own where a model has them. A 4xx that the client caused never does.",
      },
      max: {
        type: "integer",
        minimum: 0,
        maximum: 10,
        default: 2,
        description: "Maximum number of models after the first.",
      },
      max_attempts: {
        type: "integer",
        minimum: 1,
        maximum: 30,
        default: 3,
        description:
          "Upstream calls of one request, over retries, targets and models. Retries leave one call to a fallback, and every target and fallback may be called once, also beyond this number.",
      },
      on_cut: {
        type: "string",
        enum: ["error", "continue"],
        default: "error",
        description:
          "The rule for a stream that its upstream cuts after its first content. `error`: it ends with an error event. `continue`: an uncalled target or fallback continues the reply. A model that accepts a final assistant message continues in the middle; any other begins a new reply after a marker. Requests with tools, structured output or several choices end with the error.",
      },
    },
  },
  operations: ["chat", "embeddings", "images"],
  traits: { reentrant: true },
  order: {
    provides: ["fallback"],
    requires: [
      { capability: "identity", reason: "a fallback must be a model that the key may use" },
    ],
    before: [
      {
        capability: "hedge",
        reason: "attempts race at one model; another model is called when all of them failed",
      },
      { capability: "retry", reason: "each retry would call all models again" },
      { capability: "target", reason: "another model has targets of its own" },
    ],
  },
  create(config, host) {
    return {
      async run({ exchange }, next) {
        limitAttempts(exchange, config.max_attempts);
        const { model, request } = exchange;
        if (model === undefined || request === undefined) return next();
        const standIns = standInsOf(request, model);
        exchange.headers.set(COUNT_HEADER, "0");
        const { classes, max } = config;
        const search = new StandInSearch({
          exchange,
          host,
          model,
          request,
          standIns,
          classes,
          max,
        });
        reserveAttempt(exchange, search);
        try {
          await next();
        } catch (error) {
          if (!isGatewayError(error)) throw error;
          await askOthers(exchange, search, next, error);
        }
        const { reply } = exchange;
        if (config.on_cut !== "continue" || reply?.kind !== "stream" || !isContinuable(request))
          return;
        exchange.reply = {
          ...reply,
          frames: continuedFrames({ exchange, next, host, search, request }, reply.frames),
        };
      },
    };
  },
});

/**
 * Calls one model after the other. When none answers, restores the exchange and throws the final
 * error.
 */
async function askOthers(
  exchange: Exchange,
  search: StandInSearch,
  next: Next,
  first: GatewayError,
): Promise<void> {
  const { model, request } = exchange;
  const errors: [GatewayError, ...GatewayError[]] = [first];
  for (let last = first; ;) {
    const isOver = exchange.signal.aborted || search.isOver;
    const instead = isOver ? undefined : await search.next(last);
    if (instead === undefined || exchange.signal.aborted) {
      exchange.note("fallback", whyNone(exchange, isOver), last.code);
      Object.assign(exchange, { model, request });
      throw exchange.signal.aborted ? last : finalError(errors);
    }
    exchange.note(
      "fallback",
      "another model",
      `${exchange.model?.id ?? ""} -> ${instead.model?.id ?? ""}, because of ${last.code}`,
    );
    await leave(exchange);
    Object.assign(exchange, instead);
    exchange.headers.set(COUNT_HEADER, String(search.asked));
    try {
      return await next();
    } catch (error) {
      if (!isGatewayError(error)) throw error;
      errors.push(error);
      last = error;
    }
  }
}

/** The reason why no other model is called after a failure. */
function whyNone({ signal }: Exchange, isOver: boolean): string {
  if (signal.aborted) return "the request has ended, after";
  return isOver ? "no more models than `max`, after" : "no model to ask instead after";
}

/** Releases the state of the failed model: its target, and its unread reply. */
async function leave(exchange: Exchange): Promise<void> {
  const { reply } = exchange;
  exchange.target = undefined;
  exchange.reply = undefined;
  await discardReply(reply);
}
