/** The verdict of an ended attempt on its deployment. */

import { neverConnected } from "@sluice/runtime";
import type { Attempt, ErrorCode } from "@sluice/contract";

/**
 * `credential`: the credential was refused. `limited`: the upstream's rate limit is reached; it
 * works. `refused`: the request is at fault. `nothing`: no verdict, because the client left.
 */
export type Verdict = "success" | "failure" | "credential" | "limited" | "refused" | "nothing";

const VERDICTS: Partial<Record<ErrorCode, Verdict>> = {
  upstream_unreachable: "failure",
  upstream_timeout: "failure",
  upstream_failed: "failure",
  upstream_overloaded: "failure",
  upstream_invalid_response: "failure",
  stream_truncated: "failure",
  upstream_auth_failed: "credential",
  upstream_rate_limited: "limited",
  upstream_rejected: "refused",
  upstream_model_denied: "refused",
  context_length_exceeded: "refused",
  content_policy_violation: "refused",
};

/**
 * The verdict. Only the upstream's behaviour counts. A client that left, a deadline that a client
 * may have chosen, and the gateway's own faults do not.
 */
export function verdictOf({ outcome, error }: Attempt): Verdict {
  if (outcome === "success") return "success";
  return error === undefined ? "nothing" : (VERDICTS[error.code] ?? "nothing");
}

/** Whether no request can have caused a failure: no connection was opened. */
export function isForced({ error }: Attempt): boolean {
  return error !== undefined && neverConnected(error);
}

/** Whether a failure came after the head of a successful response. */
export function isAfterHead({ upstreamStatus }: Attempt): boolean {
  return upstreamStatus !== undefined && upstreamStatus >= 200 && upstreamStatus <= 299;
}

/**
 * Whether a refused credential is not accepted at all. A 402 and a 403 may be about a plan, a model
 * or a prompt.
 */
export function isUnknownCredential({ upstreamStatus }: Attempt): boolean {
  return upstreamStatus !== 402 && upstreamStatus !== 403;
}
