/** Statements that are cancelled. */

import { connect } from "node:net";
import type { Pool, PoolClient } from "pg";

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
 * Runs a statement outside of transactions. An abort of the signal cancels it. Rejects with its
 * error.
 */
export async function runCancellable(
  pool: Pick<Pool, "connect">,
  text: string,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const client = await pool.connect();
  const cancel = (): void => sendCancel(client);
  signal.addEventListener("abort", cancel, { once: true });
  try {
    await client.query(text);
  } finally {
    signal.removeEventListener("abort", cancel);
    // A cancel that is under way may reach the next statement of the connection.
    client.release(signal.aborted);
  }
}

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
