/** Tells the attempts that a client did not wait for. */

import { type Attempt, type ErrorCode, type Exchange, isGatewayError } from "@sluice/spec";

/** The client closed its connection, or took nothing of the reply any more. */
const GONE: ReadonlySet<ErrorCode> = new Set<ErrorCode>(["client_closed", "client_stalled"]);

/** Whether the client has left the exchange before its end. */
export function isClientGone({ signal }: Pick<Exchange, "signal">): boolean {
  return signal.aborted && isGatewayError(signal.reason) && GONE.has(signal.reason.code);
}

/** Whether an attempt was cut because the client left, and for no other reason. */
export function isAbandoned(exchange: Pick<Exchange, "signal">, { outcome, error }: Attempt): boolean {
  return outcome !== "success" && (error === undefined || GONE.has(error.code)) && isClientGone(exchange);
}
