/** The mark of a stream that a guardrail cut. */

import { SERVED, writerOf } from "@sluice/runtime";
import { type ErrorCode, type Exchange, isGatewayError } from "@sluice/contract";

/**
 * The errors with which guardrails end a stream: a block, a failure, a text that they cannot hold.
 */
const CUTS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "guardrail_violation",
  "plugin_failed",
  "upstream_invalid_response",
]);

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
  // A stream that is still read gets its outcome at its end.
  if (read !== undefined) writerOf(read).withhold(error);
}
