/** Tells the attempts that a client did not wait for. */

import { type Attempt, type Exchange, isGatewayError } from "@sluice/spec";

/** Whether the client has left the exchange before its end. */
export function isClientGone({ signal }: Pick<Exchange, "signal">): boolean {
  return signal.aborted && isGatewayError(signal.reason) && signal.reason.code === "client_closed";
}

/** Whether an attempt was cut because the client left, and for no other reason. */
export function isAbandoned(exchange: Pick<Exchange, "signal">, { outcome, error }: Attempt): boolean {
  return outcome !== "success" && (error === undefined || error.code === "client_closed") && isClientGone(exchange);
}
