/**
 * Identifies attempts that the upstream may have billed although no part of their reply arrived.
 */

import { type Attempt, type ErrorCode, isGatewayError } from "@sluice/contract";

/** Codes of calls that the gateway or the client ended. Other rules decide about their cost. */
const CHOSEN: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "client_closed",
  "client_stalled",
  "hedge_lost",
]);

/**
 * Whether a call was written to the upstream in full and then lost, so that its execution is
 * unknown. `reason`: the error that ended it.
 */
export function isAmbiguous(attempt: Attempt, reason: unknown = attempt.error): boolean {
  const { isUnanswered, firstContentAtMs, outcome } = attempt;
  if (isUnanswered !== true || firstContentAtMs !== undefined) return false;
  if (outcome === "success" || outcome === "partial") return false;
  return isGatewayError(reason) && !CHOSEN.has(reason.code);
}
