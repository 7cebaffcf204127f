/** Reads replies, streams and errors of Acme. */

import { isObject } from "@sluice/kit";
import {
  chatReply,
  createStreamTranslator,
  type FailureClass,
  type FinishTable,
  invalidReply,
  readFailure,
  readJsonBody,
  readJsonEvent,
  tokenCount,
  upstreamError,
  type UpstreamFailure,
  usageOf,
} from "@sluice/kit/dialect";
import type {
  DecodedReply,
  ErrorReply,
  GatewayError,
  JsonObject,
  JsonValue,
  ProviderRequest,
  StreamTranslator,
  Usage,
} from "@sluice/contract";

/** Finish reasons by the API's values. A value that is missing here means `stop`. */
const FINISH: FinishTable = { complete: "stop", cut: "length", withheld: "content_filter" };

/** Failure classes by the API's values, where these are more precise than the status. */
const FAILURES: ReadonlyMap<unknown, FailureClass> = new Map([
  ["too_long", "context_window"],
  ["withheld", "content_policy"],
  ["busy", "overloaded"],
] as const);

/** Decodes a whole reply. Throws `upstream_invalid_response` for a body that is not a reply. */
export function decodeReply(body: Uint8Array, request: ProviderRequest): DecodedReply {
  const { answer, meter } = readJsonBody(body);
  if (!isObject(answer)) throw invalidReply("has no answer");
  return chatReply(request, {
    text: textOf(answer.say),
    nativeFinish: textOf(answer.ended),
    finishTable: FINISH,
    usage: readUsage(meter),
  });
}

/**
 * Creates the translator of one stream: `piece` events, then one `end`; or a `problem` at any time.
 */
export function translateStream(request: ProviderRequest): StreamTranslator {
  return createStreamTranslator(request, (writer) => ({ event, data }) => {
    const value = readJsonEvent(data);
    switch (event) {
      case "piece":
        writer.text(textOf(value.say));
        break;
      case "end":
        writer.finish(textOf(value.ended), FINISH);
        writer.usage(readUsage(value.meter));
        writer.done();
        break;
      case "problem":
        throw upstreamError(failureOf(value));
      default:
        // Event types that this provider does not know are ignored.
        break;
    }
  });
}

/**
 * Makes the gateway's error of a reply whose status is not 2xx. The status decides when the body
 * has no known problem.
 */
export function readError(reply: ErrorReply): GatewayError {
  return readFailure(reply, ({ problem }) => (isObject(problem) ? failureOf(problem) : {}));
}

/** `{ kind, text, field }` of a problem. */
function failureOf({ kind, text, field }: JsonObject): Omit<UpstreamFailure, "status"> {
  return {
    message: typeof text === "string" ? text : undefined,
    failure: FAILURES.get(kind),
    ...(typeof field === "string" ? { param: field } : {}),
  };
}

/**
 * Reads `{ read, written }` in tokens. Missing values stay unknown; the gateway then counts them.
 */
function readUsage(meter: JsonValue | undefined): Usage | undefined {
  if (!isObject(meter)) return undefined;
  return usageOf({
    promptTokens: tokenCount(meter.read),
    completionTokens: tokenCount(meter.written),
  });
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}
