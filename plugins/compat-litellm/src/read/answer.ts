/**
 * Requests that are several requests: a list of models, and fallbacks with messages of their own.
 * Each is made as a request of its caller, so that every step judges its messages as it judges any.
 */

import {
  type ClientRequest,
  type EdgeAnswer,
  type EdgeGateway,
  type EdgeReading,
  type EdgeRequest,
  type EdgeStream,
  GatewayError,
  type JsonObject,
  type JsonValue,
} from "@sluice/contract";
import { isObject } from "@sluice/kit";

type Answer = NonNullable<EdgeReading["answer"]>;

const CHAT = "/v1/chat/completions";
/** Maximum of models in a list, and of calls for fallbacks. */
const MAX_CALLS = 8;

/** The answer of a request that is several; `undefined` for any other one. */
export function answerInstead(
  { operation, body, client }: EdgeRequest,
  isConfigured: (id: string) => boolean,
): Answer | undefined {
  if (operation !== "chat") return undefined;
  const { model } = body;
  if (typeof model === "string" && model.includes(",") && !isConfigured(model))
    return listAnswer(body, modelsIn(model), client);
  return fallbackAnswer(body, client.path);
}

function modelsIn(list: string): readonly string[] {
  const names = list
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  return [...new Set(names)];
}

/** A longer body is not sent several times at once: each call holds it. */
const MAX_SHARED_BYTES = 1_048_576;

function listAnswer(body: JsonObject, models: readonly string[], client: ClientRequest): Answer {
  const { fastest_response: isRace, ...rest } = body;
  const { path } = client;
  // Without a length, as in a chunked or a coded body, the size is not known.
  const isLarge =
    client.header("content-encoding") !== undefined ||
    !(Number(client.header("content-length")) <= MAX_SHARED_BYTES);
  if (isRace === true && isLarge)
    throw invalid("fastest_response", "is for bodies of at most 1 MiB that say their length");
  if (models.length > MAX_CALLS)
    throw invalid("model", `names ${models.length} models; a list has at most ${MAX_CALLS}`);
  if (isRace !== true && body.stream === true)
    throw invalid("stream", "cannot be true with a list of models; send fastest_response: true");
  const bodies = models.map((model): JsonObject => ({ ...rest, model }));
  return isRace === true
    ? (gateway) => fastestOf(gateway, bodies, path)
    : (gateway) => allOf(gateway, bodies, path, isLarge ? 1 : bodies.length);
}

/** Every reply, in the order of the models. A failed one is an error body. */
async function allOf(
  gateway: EdgeGateway,
  bodies: readonly JsonObject[],
  path: string,
  atOnce: number,
): Promise<EdgeAnswer> {
  const replies: EdgeAnswer[] = [];
  for (let from = 0; from < bodies.length; from += atOnce) {
    const some = bodies.slice(from, from + atOnce);
    const calls = some.map((body) => gateway.call({ method: "POST", path, body }));
    // oxlint-disable-next-line no-await-in-loop -- large bodies are sent one after the other.
    replies.push(...(await Promise.all(calls)));
  }
  const failed = replies.find(({ status }) => status >= 400);
  if (failed !== undefined && replies.every(({ status }) => status >= 400)) return failed;
  return { status: 200, body: replies.map(({ body }) => body) };
}

/** The first reply that succeeds; the other calls end. */
async function fastestOf(
  gateway: EdgeGateway,
  bodies: readonly JsonObject[],
  path: string,
): Promise<EdgeAnswer | EdgeStream> {
  const controllers = bodies.map(() => new AbortController());
  const calls = bodies.map(async (body, index) => {
    const { signal } = controllers[index] as AbortController;
    const reply = await gateway.open({ method: "POST", path, body, signal });
    if (reply.status >= 400) throw new FailedCall(reply);
    return { reply, index };
  });
  try {
    const first = await Promise.any(calls);
    controllers.forEach((controller, index) => {
      if (index !== first.index) controller.abort(new Error("Another model answered first."));
    });
    return first.reply;
  } catch (error) {
    const [failed] = error instanceof AggregateError ? (error.errors as unknown[]) : [error];
    if (failed instanceof FailedCall) return failed.reply;
    throw failed;
  }
}

/** A call that was answered with an error. */
class FailedCall extends Error {
  readonly reply: EdgeAnswer | EdgeStream;

  constructor(reply: EdgeAnswer | EdgeStream) {
    super("The call failed.");
    this.reply = reply;
  }
}

/**
 * A request with fallbacks that have messages: one call after the other, until one succeeds or
 * fails in a way that no other model solves.
 */
function fallbackAnswer(body: JsonObject, path: string): Answer | undefined {
  const { fallbacks, disable_fallbacks: isOff, ...rest } = body;
  if (!Array.isArray(fallbacks) || isOff === true) return undefined;
  const entries = fallbacks as readonly JsonValue[];
  const first = entries.findIndex((entry) => isObject(entry) && entry.messages !== undefined);
  if (first < 0) return undefined;
  if (entries.length - first >= MAX_CALLS)
    throw invalid("fallbacks", `has more than ${MAX_CALLS} entries beside ones with messages`);
  // Names before the first entry with messages stay with the request: the pipeline tries them.
  const calls: { readonly path: string; readonly body: JsonObject }[] = [
    { path, body: { ...rest, fallbacks: entries.slice(0, first) } },
  ];
  for (const entry of entries.slice(first)) {
    const overrides = isObject(entry) ? entry : { model: String(entry) };
    calls.push({ path: CHAT, body: { ...rest, ...overrides, fallbacks: [] } });
  }
  return async (gateway) => {
    for (const [index, call] of calls.entries()) {
      // oxlint-disable-next-line no-await-in-loop -- a fallback is called after the failure.
      const reply = await gateway.open({ method: "POST", ...call });
      if (index === calls.length - 1 || !mayFallBack(reply)) return counted(reply, index, first);
    }
    throw new GatewayError("internal_error", "No call was made.");
  };
}

/** Whether another model may solve a failure: the classes of the step `fallback`. */
function mayFallBack(reply: EdgeAnswer | EdgeStream): boolean {
  const { status } = reply;
  if (status < 400) return false;
  const error = "body" in reply && isObject(reply.body) ? reply.body.error : undefined;
  const type = isObject(error) ? error.type : undefined;
  if (type === "budget_exceeded") return false;
  if (type === "context_length_exceeded" || type === "content_policy_violation") return true;
  return status >= 500 || status === 429 || status === 408;
}

/** The reply with the number of models that were asked before. */
function counted<R extends EdgeAnswer | EdgeStream>(reply: R, index: number, before: number): R {
  if (index === 0) return reply;
  const asked = String(before + index);
  const headers = { ...reply.headers, "x-sluice-fallbacks": asked };
  return { ...reply, headers: { ...headers, "x-litellm-attempted-fallbacks": asked } };
}

function invalid(param: string, problem: string): GatewayError {
  return new GatewayError("invalid_field", `The field ${param} ${problem}.`, { param });
}
