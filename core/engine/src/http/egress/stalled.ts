/** Clients that do not read: what waits for them does not wait for ever. */

import type { ServerResponse } from "node:http";
import { GatewayError } from "@sluice/spec";
import type { LiveExchange } from "../../pipeline/exchange.ts";

/**
 * Cuts the connection of a client that took nothing for `timeoutMs` while a part of its reply waited; the exchange is aborted
 * with `client_stalled`. A socket's timer runs anew with everything that the system takes, so a client that reads is safe.
 * The system's own buffers come first, some megabytes with a client near by: what lies there is not seen from here.
 */
export function cutWhenStalled(exchange: LiveExchange, response: ServerResponse, timeoutMs: number): void {
  response.setTimeout(timeoutMs, () => {
    // Nothing waits: it is the upstream that is slow, or a body still on its way in, and both have clocks of their own.
    if (response.writableLength === 0) return;
    exchange.abort(new GatewayError("client_stalled", `The client took nothing of the reply for ${timeoutMs} ms.`));
    response.destroy();
  });
}
