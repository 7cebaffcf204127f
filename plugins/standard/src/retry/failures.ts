/** The names of failures that `on` of the step retry knows. */

import type { ErrorCode, GatewayError } from "@sluice/contract";

/** `failed`: a status of 500 and above, and every failure without a name of its own. */
export const RETRIED_FAILURES = [
  "timeout",
  "rate_limit",
  "overloaded",
  "unreachable",
  "invalid_response",
  "failed",
] as const;

export type RetriedFailure = (typeof RETRIED_FAILURES)[number];

const NAMES: Partial<Record<ErrorCode, RetriedFailure>> = {
  upstream_timeout: "timeout",
  upstream_rate_limited: "rate_limit",
  upstream_overloaded: "overloaded",
  overloaded: "overloaded",
  upstream_unreachable: "unreachable",
  upstream_invalid_response: "invalid_response",
  stream_truncated: "invalid_response",
};

/** The name of a failure. */
export function failureOf({ code }: GatewayError): RetriedFailure {
  return NAMES[code] ?? "failed";
}
