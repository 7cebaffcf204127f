/** The refusal of new calls while the gateway shuts down. */

import { GatewayError } from "@sluice/contract";

/**
 * A 503 with `retry-after` that ends its connection, so that the next call may reach another
 * gateway.
 */
export function shuttingDown(): GatewayError {
  return new GatewayError("overloaded", "The gateway is shutting down.", {
    retryAfterMs: 1_000,
    headers: { connection: "close" },
  });
}
