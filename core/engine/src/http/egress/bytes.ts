/** Writes the bytes of an upstream's body unchanged. */

import type { ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { closing } from "@sluice/runtime";
import { type BytesReply, GatewayError, isGatewayError } from "@sluice/contract";

/** Errors of a write to a client that has left. Faults of an upstream are gateway errors here. */
const CLIENT_GONE = new Set(["ERR_STREAM_PREMATURE_CLOSE", "EPIPE", "ECONNRESET"]);

/**
 * Writes bytes to their end, with back-pressure. The rows are durable before the end; a failure
 * destroys the connection, so that a cut body looks cut. Rejects with the reason of `signal` when
 * that ended the exchange: a client that has left is `client_closed`, for any error of its socket.
 */
export async function writeBytes(
  response: ServerResponse,
  reply: BytesReply,
  headers: string[],
  settle: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  for (const [name, value] of Object.entries(reply.headers)) headers.push(name, value);
  const body = reply.body[Symbol.asyncIterator]();
  // A body that fails before its first byte is a failure with a status of its own.
  const first = await body.next();
  response.writeHead(reply.status, headers);
  try {
    await pipeline(
      closing(resumed(first, body), () => body.return?.()),
      response,
      { end: false },
    );
  } catch (error) {
    response.destroy();
    if (signal.aborted) throw signal.reason;
    if (isGatewayError(error) || !CLIENT_GONE.has((error as NodeJS.ErrnoException).code ?? ""))
      throw error;
    throw new GatewayError("client_closed", "The client closed the connection.", { cause: error });
  }
  await settle();
  response.end();
}

async function* resumed(
  first: IteratorResult<Uint8Array>,
  body: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  for (let step = first; step.done !== true; step = await body.next()) yield step.value;
}
