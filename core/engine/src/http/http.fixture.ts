/** Real connections for the tests of ingress and egress. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** A request as the server sees it, the client's socket, and what the client has read. */
export interface Exchanged {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly client: Socket;
  /** Everything that the client has read when the connection has ended. */
  readonly received: Promise<string>;
}

/**
 * Sends raw text to a server and hands out both ends. `isPaused`: the client reads nothing until it
 * is resumed.
 */
export async function exchange(text: string, { isPaused = false } = {}): Promise<Exchanged> {
  let arrived: (pair: readonly [IncomingMessage, ServerResponse]) => void;
  const pair = new Promise<readonly [IncomingMessage, ServerResponse]>((resolve) => {
    arrived = resolve;
  });
  const server = createServer((request, response) => arrived([request, response]));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  client.on("error", () => undefined);
  onTestFinished(async () => {
    client.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const received = new Promise<string>((resolve) => {
    const chunks: Buffer[] = [];
    client.on("data", (chunk: Buffer) => chunks.push(chunk));
    client.once("close", () => resolve(Buffer.concat(chunks).toString()));
  });
  if (isPaused) client.pause();
  client.write(text);
  const [request, response] = await pair;
  return { request, response, client, received };
}

/** A GET without a body, on a connection that ends with its reply. */
export const GET = "GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";

/** The body of a raw reply, its chunks joined. */
export function bodyOf(raw: string): string {
  const [head = "", ...rest] = raw.split("\r\n\r\n");
  const body = rest.join("\r\n\r\n");
  return /transfer-encoding: chunked/i.test(head)
    ? body.replace(/(?:^|\r\n)[0-9a-f]+\r\n/g, "").replace(/\r\n$/, "")
    : body;
}
