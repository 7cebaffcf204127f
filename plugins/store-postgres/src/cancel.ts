/** Cancels the statement that a connection runs. */

import { connect } from "node:net";
import type { PoolClient } from "pg";

/** What a connection knows of its server. The types of the driver leave it out. */
interface Connected {
  readonly host?: string;
  readonly port?: number;
  readonly processID?: number | null;
  readonly secretKey?: number | null;
}

/** `CancelRequest`: https://www.postgresql.org/docs/15/protocol-message-formats.html. */
const CANCEL_REQUEST = 80_877_102;
const LENGTH = 16;
const TIMEOUT_MS = 1_000;

/**
 * Sends a request to cancel, on a connection of its own, as the protocol says. A pooler passes it
 * on. Nothing answers it: the statement ends with an error, or by its timeout.
 */
export function sendCancel(client: PoolClient): void {
  const { host, port, processID, secretKey } = client as unknown as Connected;
  if (host === undefined || port === undefined) return;
  if (typeof processID !== "number" || typeof secretKey !== "number") return;
  const packet = Buffer.alloc(LENGTH);
  for (const [index, value] of [LENGTH, CANCEL_REQUEST, processID, secretKey].entries())
    packet.writeInt32BE(Math.trunc(value), index * 4);
  const socket = host.startsWith("/")
    ? connect(`${host}/.s.PGSQL.${port}`)
    : connect({ host, port });
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy());
  socket.on("error", () => socket.destroy());
  socket.on("connect", () => socket.end(packet));
  socket.unref();
}
