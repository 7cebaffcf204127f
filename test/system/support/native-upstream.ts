/**
 * An upstream with a native API: it answers what a test says, and remembers what it was sent, byte
 * for byte.
 */

import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request as it arrived. */
export interface NativeRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A running upstream. */
export interface NativeUpstream {
  readonly url: string;
  readonly requests: readonly NativeRequest[];
  /** Answers every request from now on. */
  answer(write: (response: ServerResponse, request: NativeRequest) => void): void;
  /** Answers every request from now on with the same reply. */
  reply(
    status: number,
    type: string,
    body: string | Uint8Array,
    headers?: Readonly<Record<string, string>>,
  ): void;
  /** The JSON that was sent last. */
  lastBody(): unknown;
  close(): Promise<void>;
}

/** Starts an upstream on a free port of this machine. */
export async function createNativeUpstream(): Promise<NativeUpstream> {
  const requests: NativeRequest[] = [];
  let write: (response: ServerResponse, request: NativeRequest) => void = (response) =>
    response.end("{}");
  const server = createServer((message, response) => {
    const chunks: Buffer[] = [];
    message.on("data", (chunk: Buffer) => chunks.push(chunk));
    message.on("end", () => {
      const { method = "", url = "", headers } = message;
      const request = { method, url, headers, body: Buffer.concat(chunks) };
      requests.push(request);
      write(response, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answer: (next) => (write = next),
    reply: (status, type, body, headers = {}) =>
      (write = (response) =>
        response.writeHead(status, { "content-type": type, ...headers }).end(body)),
    lastBody: () => JSON.parse(requests.at(-1)?.body.toString() ?? "null"),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
