/** Bytes on the wire: somebody else's body, as it comes. */

import type { ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import type { BytesReply } from "@sluice/spec";

/**
 * Writes bytes to their end, with back-pressure. The rows are durable before the end; a failure destroys the connection, so
 * that a cut body looks cut.
 */
export async function writeBytes(
  response: ServerResponse,
  reply: BytesReply,
  headers: string[],
  settle: () => Promise<void>,
): Promise<void> {
  for (const [name, value] of Object.entries(reply.headers)) headers.push(name, value);
  response.writeHead(reply.status, headers);
  try {
    await pipeline(reply.body, response, { end: false });
  } catch (error) {
    response.destroy();
    throw error;
  }
  await settle();
  response.end();
}
