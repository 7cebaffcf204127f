/**
 * Identifies attempts whose reply was lost: the client abandoned them, or the upstream may have
 * billed them although no part of their reply arrived.
 */

import { type Attempt, type ErrorCode, isGatewayError, type Exchange } from "@sluice/contract";

/** The client closed its connection, or stopped reading the reply. */
const GONE: ReadonlySet<string> = new Set<ErrorCode>(["client_closed", "client_stalled"]);

/** Codes of calls that the gateway or the client ended. Other rules decide about their cost. */
const CHOSEN: ReadonlySet<string> = new Set([...GONE, "hedge_lost" satisfies ErrorCode]);

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

/** Whether a code is that of a client that left. */
export function isGoneCode(code: string | null): boolean {
  return code !== null && GONE.has(code);
}

/** Whether the client left the exchange before its end. */
export function isClientGone({ signal }: Pick<Exchange, "signal">): boolean {
  return signal.aborted && isGatewayError(signal.reason) && GONE.has(signal.reason.code);
}

/** Whether an attempt was cut only because the client left. */
export function isAbandoned(
  exchange: Pick<Exchange, "signal">,
  { outcome, error }: Attempt,
): boolean {
  return (
    outcome !== "success" && (error === undefined || GONE.has(error.code)) && isClientGone(exchange)
  );
}
