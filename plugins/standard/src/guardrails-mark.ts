/** The mark of a stream that a guardrail cut. */

import { type Exchange, isGatewayError } from "@sluice/spec";

/** A stream that a guardrail cut says so in its row: it was not the client who left. */
export function markAttempt(exchange: Exchange, error: unknown): void {
  const attempt = exchange.attempts.findLast(({ outcome }) => outcome === undefined);
  if (attempt !== undefined && isGatewayError(error)) attempt.error ??= error;
}
