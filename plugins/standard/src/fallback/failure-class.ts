/** Failures that another model may solve, and the client's error when no model could. */

import { type ErrorCode, type FallbackClass, GatewayError } from "@sluice/contract";

/** Failures that no other model solves, whatever their code's prefix. */
const FINAL = new Set([
  "client_closed",
  "client_stalled",
  "deadline_exceeded",
  "upstream_rejected",
]);

/** Classes that belong to `general` without a list of their own. */
const PARTS: Partial<Record<ErrorCode, FallbackClass>> = {
  rate_limited: "rate_limit",
  upstream_rate_limited: "rate_limit",
  overloaded: "overloaded",
  upstream_overloaded: "overloaded",
  upstream_timeout: "timeout",
};

/** Whether failures of a class belong to `general` when the class has no list. */
export function isPartOfGeneral(name: FallbackClass): boolean {
  return name === "rate_limit" || name === "overloaded" || name === "timeout";
}

/**
 * The class of a failure; `undefined` for failures that the client caused, and for those that end
 * the exchange.
 */
export function fallbackClassOf(error: GatewayError): FallbackClass | undefined {
  const { code, status, retryable } = error;
  if (code === "context_length_exceeded") return "context_window";
  if (code === "content_policy_violation") return "content_policy";
  if (FINAL.has(code) || (status < 500 && status !== 429)) return undefined;
  const isUpstream =
    code.startsWith("upstream_") || code === "provider_unavailable" || code === "overloaded";
  return retryable || isUpstream ? (PARTS[code] ?? "general") : undefined;
}

/**
 * The error when every model failed: the first one's, with the shortest `retry-after` of the
 * failures with its status.
 */
export function finalError(errors: readonly [GatewayError, ...GatewayError[]]): GatewayError {
  const [first] = errors;
  const waits = errors.flatMap(({ status, retryAfterMs }) =>
    status === first.status && retryAfterMs !== undefined ? [retryAfterMs] : [],
  );
  const shortest = waits.length === 0 ? undefined : Math.min(...waits);
  if (shortest === undefined || shortest === first.retryAfterMs) return first;
  const { code, message, param, status, retryable, headers, provider, cause } = first;
  return new GatewayError(code, message, {
    status,
    retryable,
    retryAfterMs: shortest,
    provider,
    ...(param === undefined ? {} : { param }),
    ...(headers === undefined ? {} : { headers }),
    ...(cause === undefined ? {} : { cause }),
  });
}
