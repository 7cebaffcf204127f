/** Identifies attempts that the client abandoned. */

import { type Attempt, type ErrorCode, type Exchange, isGatewayError } from "@sluice/contract";

/** The client closed its connection, or stopped reading the reply. */
const GONE: ReadonlySet<ErrorCode> = new Set<ErrorCode>(["client_closed", "client_stalled"]);

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
