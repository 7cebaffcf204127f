/** How soon a gateway leaves the calls of clients that went away, counted in exchanges. */

import type { GatewayProcess } from "../gateway-process.ts";

/**
 * Exchanges that a gateway may answer before it has left its upstreams. It answers two or three, of
 * some milliseconds each: one that waits for a second first answers many more.
 */
export const MAX_EXCHANGES = 10;

/**
 * Exchanges with the gateway, one after the other, until a state holds. Resolves with their number.
 * Throws where the gateway answers more than `MAX_EXCHANGES` before. A slow machine does not change
 * the number.
 */
export async function exchangesUntil(
  { publicUrl }: Pick<GatewayProcess, "publicUrl">,
  what: string,
  holds: () => boolean,
): Promise<number> {
  for (let count = 0; count <= MAX_EXCHANGES; count++) {
    if (holds()) return count;
    // oxlint-disable-next-line no-await-in-loop -- one after the other is the clock.
    await (await fetch(`${publicUrl}/health/live`)).text();
  }
  throw new Error(`The gateway answered ${MAX_EXCHANGES} exchanges before ${what}.`);
}
