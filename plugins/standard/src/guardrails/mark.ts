/** The mark of a stream that a guardrail cut. */

import { SERVED } from "@sluice/runtime";
import { type Attempt, type ErrorCode, type Exchange, isGatewayError } from "@sluice/contract";

/** The errors with which guardrails end a stream: a block, a failure, a text that they cannot hold. */
const CUTS: ReadonlySet<ErrorCode> = new Set<ErrorCode>(["guardrail_violation", "plugin_failed", "upstream_invalid_response"]);

/**
 * Marks a stream that a guardrail cut as `partial` in its row, with the reason, because the client
 * did not leave. It does so also when the upstream has already sent all of it, when other readers
 * continue, and when it was served without a call.
 */
export function markAttempt(exchange: Exchange, error: unknown): void {
  if (!isGatewayError(error) || !CUTS.has(error.code)) return;
  const { attempts } = exchange;
  const served = SERVED.get(exchange);
  const records = served === undefined ? attempts : [...attempts, served];
  // An outer guardrail passes on the error of an inner one.
  if (records.some((record) => record.error === error)) return;
  const read = attempts.findLast((attempt) => attempt.error === undefined) ?? served;
  if (read?.error === undefined) mark(read, error);
}

function mark(record: Attempt | undefined, error: Attempt["error"]): void {
  if (record === undefined) return;
  record.error = error;
  // A stream that is still read gets its outcome at its end.
  if (record.outcome === "success") record.outcome = "partial";
}
