/**
 * Errors in Anthropic's form: `{type: "error", error: {type, message}, request_id}`
 * (platform.claude.com/docs/en/api/errors).
 */

import type { FaceError, GatewayError, JsonObject } from "@sluice/contract";
import { threadDetails } from "./read/thread.ts";

/** Types by status. Another 4xx is `invalid_request_error`, another 5xx `api_error`. */
const TYPES: ReadonlyMap<number, string> = new Map([
  [401, "authentication_error"],
  [402, "billing_error"],
  [403, "permission_error"],
  [404, "not_found_error"],
  [408, "timeout_error"],
  [413, "request_too_large"],
  [429, "rate_limit_error"],
  [504, "timeout_error"],
  [529, "overloaded_error"],
]);
const OVERLOADED = 529;

/** The reply to a request that failed. */
export function errorReply(error: GatewayError, requestId: string): FaceError {
  const status = statusOf(error);
  // The SDK repeats these statuses unless this header says otherwise.
  const isRepeated = status === 408 || status === 409 || status === 429 || status >= 500;
  return {
    status,
    body: { ...errorBody(error), request_id: requestId },
    headers: {
      "request-id": requestId,
      ...(isRepeated && !error.retryable ? { "x-should-retry": "false" } : {}),
    },
  };
}

/** The error without the request's id: the body of an `error` event. */
export function errorBody(error: GatewayError): JsonObject {
  const details = threadDetails(error);
  return {
    type: "error",
    error: {
      type: typeOf(statusOf(error)),
      message: messageOf(error),
      ...(details !== undefined && { details }),
    },
  };
}

function statusOf({ status }: GatewayError): number {
  return status === 503 ? OVERLOADED : status;
}

function typeOf(status: number): string {
  return TYPES.get(status) ?? (status < 500 ? "invalid_request_error" : "api_error");
}

/** How Anthropic words that a prompt, alone or with the room for the reply, does not fit. */
const DOES_NOT_FIT = /prompt is too long|exceed context limit/i;

/**
 * Clients recover by the wording of a refused request
 * (code.claude.com/docs/en/llm-gateway-protocol, "errors"): the upstream's stays as it was. Where
 * another API says that the prompt does not fit, Anthropic's words for it stand before.
 */
function messageOf({ code, status, message, provider }: GatewayError): string {
  const isRefusal = status >= 400 && status < 500 && status !== 429;
  const text = isRefusal ? (provider?.message ?? message) : message;
  return code === "context_length_exceeded" && !DOES_NOT_FIT.test(text)
    ? `prompt is too long: ${text}`
    : text;
}
