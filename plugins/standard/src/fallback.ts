/** The step `fallback`: asks other models when the first one fails. */

import { defineStep } from "@sluice/kit";
import { type Exchange, type FallbackClass, GatewayError, isGatewayError, type Reply } from "@sluice/spec";
import { fallbackClassOf, finalError } from "./fallback-class.ts";
import { standInsOf } from "./fallback-lists.ts";
import { candidateOf } from "./fallback-model.ts";
import { limitTries, mayTryAgain } from "./tries.ts";

/** Options of the step `fallback`. */
export interface FallbackConfig {
  readonly classes: readonly FallbackClass[];
  readonly max: number;
  readonly max_attempts: number;
}

const CLASSES: readonly FallbackClass[] = ["general", "context_window", "content_policy"];
const COUNT_HEADER = "x-sluice-fallbacks";
const SKIPPED_HEADER = "x-sluice-fallback-skipped";

export const fallback = defineStep<FallbackConfig>({
  name: "fallback",
  stability: "beta",
  summary: "Asks other models when the first one fails, by the model's `fallbacks` in gateway.yaml or the request's.",
  config: {
    type: "object",
    properties: {
      classes: {
        type: "array",
        uniqueItems: true,
        items: { type: "string", enum: [...CLASSES] },
        default: [...CLASSES],
        description:
          "Failures that lead to another model: `context_window` and `content_policy` as the upstream calls them, `general` for its other failures. A 4xx that the client caused never does.",
      },
      max: {
        type: "integer",
        minimum: 0,
        maximum: 10,
        default: 2,
        description: "Models that are asked after the first, at most.",
      },
      max_attempts: {
        type: "integer",
        minimum: 1,
        maximum: 30,
        default: 3,
        description: "Upstream calls of one request in all, over retries, targets and models.",
      },
    },
  },
  operations: ["chat", "embeddings", "images"],
  reentrant: true,
  provides: ["fallback"],
  requires: [{ capability: "identity", reason: "a fallback must be a model that the key may use" }],
  before: [{ capability: "retry", reason: "each retry would go through all models again" }],
  create(config, host) {
    return {
      async run({ exchange }, next) {
        limitTries(exchange, config.max_attempts);
        const { model, request } = exchange;
        if (model === undefined || request === undefined) return next();
        const standIns = standInsOf(request, model);
        const errors: GatewayError[] = [];
        const seen = new Set([model.id]);
        const skipped: string[] = [];

        /** The next model that can stand in after this failure, with its body. */
        const prepare = (error: GatewayError): Pick<Exchange, "model" | "request"> | undefined => {
          const name = fallbackClassOf(error);
          if (name === undefined || !config.classes.includes(name)) return undefined;
          for (const { id, overrides } of standIns(name)) {
            if (seen.has(id)) continue;
            seen.add(id);
            const candidate = candidateOf(id, model, exchange, host);
            skipped.push(...candidate.skipped);
            if (candidate.model === undefined) continue;
            return { model: candidate.model, request: { ...request, document: request.document.with(overrides) } };
          }
          return undefined;
        };

        for (let tried = 0; ; tried += 1) {
          try {
            return await next();
          } catch (error) {
            if (!isGatewayError(error)) throw error;
            errors.push(error);
            const isOver = exchange.signal.aborted || tried >= config.max || !mayTryAgain(exchange);
            const instead = isOver ? undefined : prepare(error);
            if (skipped.length > 0) exchange.headers.set(SKIPPED_HEADER, skipped.join(", "));
            if (instead === undefined) {
              Object.assign(exchange, { model, request });
              throw exchange.signal.aborted ? error : finalError([errors[0] ?? error, ...errors.slice(1)]);
            }
            await leave(exchange);
            Object.assign(exchange, instead);
            exchange.headers.set(COUNT_HEADER, String(tried + 1));
          }
        }
      },
    };
  },
});

/** Lets go of what the failed model has left: its target, and a reply that nobody will read. */
async function leave(exchange: Exchange): Promise<void> {
  const { reply } = exchange;
  exchange.target = undefined;
  exchange.reply = undefined;
  await discard(reply);
}

async function discard(reply: Reply | undefined): Promise<void> {
  if (reply?.kind === "stream") await reply.frames[Symbol.asyncIterator]().return?.();
  else if (reply?.kind === "bytes") await reply.body[Symbol.asyncIterator]().return?.();
}
