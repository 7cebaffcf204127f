/** Google's errors: `{ error: { code, message, status, details } }`, alone or in a list. */

import {
  type FailureClass,
  Failures,
  Members,
  readFailure,
  upstreamError,
  type UpstreamFailure,
} from "@sluice/kit/dialect";
import { isObject } from "@sluice/kit";
import type { ErrorReply, GatewayError, JsonObject } from "@sluice/contract";

/**
 * Names of `google.rpc.Code` that are more precise than the status
 * (cloud.google.com/apis/design/errors).
 */
const FAILURES: Readonly<Record<string, FailureClass>> = {
  UNAUTHENTICATED: "auth",
  PERMISSION_DENIED: "auth",
  RESOURCE_EXHAUSTED: "rate_limit",
  UNAVAILABLE: "overloaded",
  DEADLINE_EXCEEDED: "timeout",
  INTERNAL: "server",
  UNKNOWN: "server",
  ABORTED: "server",
};

/** The gateway's error of a reply whose status is not 2xx. */
export function readError(reply: ErrorReply): GatewayError {
  return readFailure(reply, (body) => failureOf(isObject(body.error) ? body.error : body));
}

/** The error in an event of a stream, or in a reply with status 200. */
export function embeddedError(error: JsonObject): GatewayError {
  const { code } = error;
  return upstreamError({
    ...(typeof code === "number" && code >= 400 ? { status: code } : {}),
    words: Failures.wordsOf(error),
    ...failureOf(error),
  });
}

/**
 * The class of an error. Google answers 400 to an unknown key; the error's reason identifies it
 * (`google.rpc.ErrorInfo`).
 */
export function failureOf(
  error: JsonObject,
): Pick<UpstreamFailure, "message" | "failure" | "retryAfterMs"> {
  const message = typeof error.message === "string" ? error.message : undefined;
  const details = Members.objectsOf(error.details);
  const isKey =
    details.some(({ reason }) => reason === "API_KEY_INVALID") ||
    /api key (?:not valid|expired)/i.test(message ?? "");
  const retryAfterMs = durationMs(
    details.find(({ retryDelay }) => retryDelay !== undefined)?.retryDelay,
  );
  return {
    message,
    failure: isKey ? "auth" : classOf(String(error.status), message),
    retryAfterMs,
  };
}

function classOf(status: string, message: string | undefined): FailureClass | undefined {
  const refused =
    status === "INVALID_ARGUMENT" || status === "FAILED_PRECONDITION"
      ? Failures.refusalOf(message)
      : undefined;
  if (refused !== undefined) return refused;
  return Object.hasOwn(FAILURES, status) ? FAILURES[status] : undefined;
}

/** A duration as protobuf writes it in JSON: `12s`, `0.5s` (`google.rpc.RetryInfo`). */
function durationMs(value: unknown): number | undefined {
  const seconds =
    typeof value === "string" ? /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(value)?.[1] : undefined;
  return seconds === undefined ? undefined : Math.ceil(Number(seconds) * 1_000);
}
