/** Reads the errors of the reference dialect: error replies, and error objects inside a 200 or a stream. */

import { type ErrorCode, type ErrorReply, GatewayError, type GatewayErrorOptions, type JsonObject } from "@sluice/spec";
import { modelDenied, refusedClass } from "../dialect/errors.ts";
import { isObject } from "../json/narrow.ts";
import { readRetryAfterMs } from "../transport/retry-after.ts";
import { scrub } from "./scrub.ts";

const REFUSED_CONTENT = "The upstream's content policy refused the request.";

/** The gateway's error of a reply whose status is not 2xx. */
export function readErrorReply(reply: ErrorReply): GatewayError {
  const detail = errorObject(reply.body);
  const message = typeof detail?.message === "string" ? scrub(detail.message) : undefined;
  const { status } = reply;
  if (status === 429) return rateLimited(detail, message, readRetryAfterMs(reply.headers));
  if (status === 401 || status === 402 || status === 403) {
    const failure = refusedClass(status, message, String(detail?.code ?? ""));
    if (failure === "model") return modelDenied(status);
    if (failure === "content_policy") return new GatewayError("content_policy_violation", message ?? REFUSED_CONTENT);
    return new GatewayError("upstream_auth_failed", `The upstream refused the gateway's credential with status ${status}.`);
  }
  if (status === 400 || status === 404 || status === 413 || status === 422) return rejected(status, detail, message);
  if (status === 408 || status === 504)
    return new GatewayError("upstream_timeout", `The upstream gave up with status ${status}.`);
  if (status === 503 || status === 529) {
    return new GatewayError(
      "upstream_overloaded",
      message ?? "The upstream is overloaded.",
      retryAfter(readRetryAfterMs(reply.headers)),
    );
  }
  if (status >= 500 || status === 409)
    return new GatewayError("upstream_failed", message ?? `The upstream failed with status ${status}.`);
  return new GatewayError("upstream_failed", `The upstream answered with status ${status}, which the gateway does not accept.`, {
    retryable: false,
  });
}

/** The gateway's error of an error object that came inside a 200 reply or a stream. */
export function readEmbeddedError(error: JsonObject): GatewayError {
  const { code } = error;
  // Some say by the code which status it would have been (openrouter.ai/docs/api/reference/errors-and-debugging).
  if (typeof code === "number" && code >= 400 && code <= 599)
    return readErrorReply({ status: code, headers: {}, body: JSON.stringify({ error }) });
  const message = typeof error.message === "string" ? scrub(error.message) : undefined;
  const kind = `${String(error.type ?? "")} ${String(error.code ?? "")}`;
  if (/rate_limit|\b429\b/.test(kind)) return rateLimited(error, message, undefined);
  if (/overloaded|\b503\b|\b529\b/.test(kind))
    return new GatewayError("upstream_overloaded", message ?? "The upstream is overloaded.");
  if (/context_length|content_policy|content_filter|invalid_request/.test(kind)) return rejected(400, error, message);
  return new GatewayError("upstream_failed", message ?? "The upstream reported an error inside its reply.");
}

function rejected(status: number, detail: JsonObject | undefined, message: string | undefined): GatewayError {
  const code = String(detail?.code ?? "");
  const options: GatewayErrorOptions = typeof detail?.param === "string" ? { param: scrub(detail.param) } : {};
  const name: ErrorCode =
    code === "context_length_exceeded" || code === "string_above_max_length"
      ? "context_length_exceeded"
      : code === "content_policy_violation" || code === "content_filter"
        ? "content_policy_violation"
        : "upstream_rejected";
  const said = message ?? `The upstream refused the request with status ${status}.`;
  return new GatewayError(name, said, name === "upstream_rejected" ? { ...options, status } : options);
}

function rateLimited(
  detail: JsonObject | undefined,
  message: string | undefined,
  retryAfterMs: number | undefined,
): GatewayError {
  // A spent quota answers 429 as well; asking again does not help.
  const isSpent = detail?.code === "insufficient_quota" || detail?.type === "insufficient_quota";
  return new GatewayError("upstream_rate_limited", message ?? "The upstream's rate limit is reached.", {
    ...(isSpent ? { retryable: false } : retryAfter(retryAfterMs)),
  });
}

function retryAfter(retryAfterMs: number | undefined): GatewayErrorOptions {
  return retryAfterMs === undefined ? {} : { retryAfterMs };
}

function errorObject(body: string): JsonObject | undefined {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  return isObject(value.error) ? value.error : typeof value.error === "string" ? { message: value.error } : value;
}
