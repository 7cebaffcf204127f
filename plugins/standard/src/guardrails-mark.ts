/** The mark of a stream that a guardrail cut. */

import { type Attempt, type ErrorCode, type Exchange, isGatewayError } from "@sluice/spec";

/** What guardrails end a stream with: an offence, a failure of their own, a text that they cannot hold. */
const CUTS: ReadonlySet<ErrorCode> = new Set<ErrorCode>(["guardrail_violation", "plugin_failed", "upstream_invalid_response"]);

/**
 * A stream that a guardrail cut is `partial` in its row, and says why: it was not the client who left. So it is also where the
 * upstream has told all of it already, or tells it to others who read along, and where it was served without a call.
 */
export function markAttempt(exchange: Exchange, error: unknown): void {
  if (!isGatewayError(error) || !CUTS.has(error.code)) return;
  const { attempts, served } = exchange;
  const records = served === undefined ? attempts : [...attempts, served];
  // One guardrail behind another passes on what ended it.
  if (records.some((record) => record.error === error)) return;
  const read = attempts.findLast((attempt) => attempt.error === undefined) ?? served;
  if (read?.error === undefined) mark(read, error);
}

function mark(record: Attempt | undefined, error: Attempt["error"]): void {
  if (record === undefined) return;
  record.error = error;
  // One that is still read gets its outcome at its end.
  if (record.outcome === "success") record.outcome = "partial";
}
