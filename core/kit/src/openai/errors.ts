/**
 * Reads the errors of the reference dialect: error replies, and error objects inside a 200 or a
 * stream.
 */

import type { ErrorReply, GatewayError, JsonObject } from "@sluice/contract";
import { type FailureClass, refusalOf, upstreamError, wordsOf } from "../dialect/errors.ts";
import { readCompatibleError } from "./compatible-errors.ts";

/** The gateway's error of a reply whose status is not 2xx. */
export function readErrorReply(reply: ErrorReply): GatewayError {
  return readCompatibleError(reply);
}

/** The gateway's error for an error object inside a 200 reply or a stream. */
export function readEmbeddedError(error: JsonObject): GatewayError {
  const { code } = error;
  // Some upstreams send the HTTP status as the code
  // (openrouter.ai/docs/api/reference/errors-and-debugging).
  if (typeof code === "number" && code >= 400 && code <= 599)
    return readCompatibleError({ status: code, headers: {}, body: JSON.stringify({ error }) });
  const message =
    typeof error.message === "string" && error.message !== "" ? error.message : undefined;
  const failure =
    refusalOf(message, code, error.type) ??
    classOf(`${String(error.type ?? "")} ${String(code ?? "")}`);
  const param = typeof error.param === "string" && error.param !== "" ? { param: error.param } : {};
  return upstreamError({
    message:
      message ??
      (failure === undefined ? "The upstream reported an error inside its reply." : undefined),
    failure,
    words: wordsOf(error),
    ...param,
  });
}

/** The class by `type` and `code`. The table of refusals has the other classes. */
function classOf(kind: string): FailureClass | undefined {
  if (/insufficient_quota/.test(kind)) return "quota";
  if (/rate_limit|\b429\b/.test(kind)) return "rate_limit";
  if (/overloaded|\b503\b|\b529\b/.test(kind)) return "overloaded";
  return /invalid_request/.test(kind) ? "bad_request" : undefined;
}
