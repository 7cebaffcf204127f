/** Tells attempts that the upstream may have billed, although nothing of their reply came. */

import { type Attempt, type ErrorCode, isGatewayError } from "@sluice/spec";

/** What ends a call by somebody's own choice. What such a call costs is ruled elsewhere. */
const CHOSEN: ReadonlySet<ErrorCode> = new Set<ErrorCode>(["client_closed", "client_stalled", "hedge_lost"]);

/**
 * Whether a call was written to the upstream in full and then lost, so that nobody knows whether it was carried out. `reason`:
 * what ended it.
 */
export function isAmbiguous(attempt: Attempt, reason: unknown = attempt.error): boolean {
  const { isUnanswered, firstContentAtMs, outcome } = attempt;
  if (isUnanswered !== true || firstContentAtMs !== undefined) return false;
  if (outcome === "success" || outcome === "partial") return false;
  return isGatewayError(reason) && !CHOSEN.has(reason.code);
}
