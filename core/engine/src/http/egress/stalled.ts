/** Clients that do not read: what waits for them does not wait for ever. */

import type { ServerResponse } from "node:http";
import { type Clock, GatewayError } from "@sluice/spec";
import type { LiveExchange } from "../../pipeline/exchange.ts";

/** A client that takes less than this while a part of its reply waits counts as one that takes nothing. */
const MIN_BYTES_PER_SECOND = 1_024;
/** Looks within the time limit: a client is cut at most an eighth later than it says. */
const LOOKS = 8;

/**
 * Cuts the connection of a client that took less than 1 KiB a second for `timeoutMs` while a part of its reply waited; the
 * exchange is aborted with `client_stalled`. The timer is ours: a socket's own starts anew with a write that the system took
 * in part. The system's own buffers come first, some megabytes with a client near by: what lies there is not seen from here.
 */
export function cutWhenStalled(exchange: LiveExchange, response: ServerResponse, timeoutMs: number, clock: Clock): void {
  const leastBytes = Math.ceil((MIN_BYTES_PER_SECOND * timeoutMs) / 1_000);
  let sinceMs = clock.monotonic();
  let takenThen = 0;
  const timer = setTimeout(() => {
    if (response.destroyed) return;
    timer.refresh();
    const taken = takenBytes(response);
    const nowMs = clock.monotonic();
    // Nothing waits, or another reply of the connection comes first: the upstream, the body and that reply have clocks of their own.
    const isWaiting = taken !== undefined && response.writableLength > 0;
    if (!isWaiting || taken - takenThen >= leastBytes) {
      sinceMs = nowMs;
      takenThen = taken ?? 0;
    } else if (nowMs - sinceMs >= timeoutMs) {
      exchange.abort(new GatewayError("client_stalled", `The client took too little of the reply for ${timeoutMs} ms.`));
      response.destroy();
    }
  }, timeoutMs / LOOKS);
  timer.unref();
  response.on("close", () => clearTimeout(timer));
}

/** Bytes that the system has taken of what was written to the connection; `undefined` while the reply is not its turn. */
function takenBytes({ socket }: ServerResponse): number | undefined {
  return socket === null ? undefined : socket.bytesWritten - socket.writableLength;
}
