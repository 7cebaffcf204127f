/** The step `fallback`: asks other models when the first one fails. */

import { defineStep, discardReply } from "@sluice/kit";
import {
  type Exchange,
  type FallbackClass,
  type GatewayError,
  type GatewayRequest,
  type Host,
  isGatewayError,
  type Model,
  type Next,
} from "@sluice/spec";
import { fallbackClassOf, finalError, isPartOfGeneral } from "./fallback-class.ts";
import { type StandIns, standInsOf } from "./fallback-lists.ts";
import { candidateOf } from "./fallback-model.ts";
import { type Needs, needsOf } from "./fallback-needs.ts";
import { limitTries, mayTryAgain } from "./tries.ts";

/** Options of the step `fallback`. */
export interface FallbackConfig {
  readonly classes: readonly FallbackClass[];
  readonly max: number;
  readonly max_attempts: number;
}

const CLASSES: readonly FallbackClass[] = ["general", "context_window", "content_policy", "rate_limit", "overloaded", "timeout"];
const COUNT_HEADER = "x-sluice-fallbacks";
const SKIPPED_HEADER = "x-sluice-fallback-skipped";
/** Ids that a wildcard matches are as long as a client likes. */
const MAX_SKIPPED_CHARACTERS = 1_000;

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
          "Failures that lead to another model: `context_window` and `content_policy` as the upstream calls them, `general` for its other failures. `rate_limit`, `overloaded` and `timeout` are parts of `general` with lists of their own where a model has them. A 4xx that the client caused never does.",
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
  before: [
    { capability: "hedge", reason: "attempts race at one model; another one is asked when all of them failed" },
    { capability: "retry", reason: "each retry would go through all models again" },
    { capability: "target", reason: "another model has targets of its own" },
  ],
  create(config, host) {
    return {
      async run({ exchange }, next) {
        limitTries(exchange, config.max_attempts);
        const { model, request } = exchange;
        if (model === undefined || request === undefined) return next();
        const standIns = standInsOf(request, model);
        try {
          return await next();
        } catch (error) {
          if (!isGatewayError(error)) throw error;
          const needs = needsOf(request, exchange.operation, host.tokens);
          return askOthers({ exchange, next, config, host, model, request, standIns, needs }, error);
        }
      },
    };
  },
});

interface Asking {
  readonly exchange: Exchange;
  readonly next: Next;
  readonly config: FallbackConfig;
  readonly host: Host;
  /** What the exchange began with. */
  readonly model: Model;
  readonly request: GatewayRequest;
  readonly standIns: StandIns;
  readonly needs: Needs;
}

/** Asks one model after the other. Throws the final error, on an exchange as it began, when none answers. */
async function askOthers(asking: Asking, first: GatewayError): Promise<void> {
  const { exchange, next, config, model, request } = asking;
  const errors: [GatewayError, ...GatewayError[]] = [first];
  const seen = new Set([model.id]);
  for (let last = first; ;) {
    const isOver = exchange.signal.aborted || errors.length > config.max || !mayTryAgain(exchange);
    const instead = isOver ? undefined : await nextModel(asking, last, seen);
    if (instead === undefined || exchange.signal.aborted) {
      exchange.note("fallback", isOver ? whyOver(asking, errors.length) : "no model to ask instead after", last.code);
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
    exchange.headers.set(COUNT_HEADER, String(errors.length));
    try {
      return await next();
    } catch (error) {
      if (!isGatewayError(error)) throw error;
      errors.push(error);
      last = error;
    }
  }
}

/** Why nobody else is asked after a failure. */
function whyOver({ exchange, config }: Asking, asked: number): string {
  if (exchange.signal.aborted) return "the request has ended, after";
  return asked > config.max ? "no more models than `max`, after" : "no more calls than `max_attempts`, after";
}

/** The next model that can stand in after a failure, and its body. Whoever is looked at is `seen`, and not looked at again. */
async function nextModel(
  { exchange, config, host, model, request, standIns, needs }: Asking,
  error: GatewayError,
  seen: Set<string>,
): Promise<Pick<Exchange, "model" | "request"> | undefined> {
  const name = enabledClass(fallbackClassOf(error), config.classes);
  if (name === undefined) return undefined;
  for (const { id, overrides } of standIns(name)) {
    if (seen.has(id)) continue;
    seen.add(id);
    const candidate = await candidateOf(id, { asked: model, exchange, host, needs });
    for (const skipped of candidate.skipped) exchange.note("fallback", "skipped", skipped);
    reportSkipped(exchange, candidate.skipped);
    if (candidate.model === undefined) continue;
    return { model: candidate.model, request: { ...request, document: request.document.with(overrides) } };
  }
  return undefined;
}

/** The class that a failure counts as: where only `general` is named, it includes its parts. */
function enabledClass(name: FallbackClass | undefined, enabled: readonly FallbackClass[]): FallbackClass | undefined {
  if (name === undefined || enabled.includes(name)) return name;
  return isPartOfGeneral(name) && enabled.includes("general") ? "general" : undefined;
}

function reportSkipped({ headers }: Exchange, skipped: readonly string[]): void {
  if (skipped.length === 0) return;
  const before = headers.get(SKIPPED_HEADER);
  const all = before === undefined ? skipped : [before, ...skipped];
  headers.set(SKIPPED_HEADER, all.join(", ").slice(0, MAX_SKIPPED_CHARACTERS));
}

/** Lets go of what the failed model has left: its target, and a reply that nobody will read. */
async function leave(exchange: Exchange): Promise<void> {
  const { reply } = exchange;
  exchange.target = undefined;
  exchange.reply = undefined;
  await discardReply(reply);
}
