/** What an attempt that has ended says of its deployment. */

import type { Attempt, ErrorCode } from "@sluice/spec";
import type { Verdict } from "./breaker.ts";

const FAILURES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "upstream_unreachable",
  "upstream_timeout",
  "upstream_failed",
  "upstream_overloaded",
  "upstream_invalid_response",
  "upstream_rate_limited",
  "stream_truncated",
]);

/** The upstream answered; what it refused was the client's doing. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "upstream_rejected",
  "context_length_exceeded",
  "content_policy_violation",
]);

/**
 * The verdict. Only what the upstream did counts: not a client that left, not a deadline that a client may have chosen, not
 * a fault of the gateway's own.
 */
export function verdictOf({ outcome, error }: Attempt): Verdict {
  if (outcome === "success") return "success";
  if (error === undefined) return "nothing";
  if (error.code === "upstream_auth_failed") return "credential";
  if (FAILURES.has(error.code)) return "failure";
  return REFUSALS.has(error.code) ? "refused" : "nothing";
}
