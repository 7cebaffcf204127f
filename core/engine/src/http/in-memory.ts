/** Sends requests without a network: client and server share an in-memory duplex pipe. */

import type { IncomingMessage, RequestListener } from "node:http";
import { duplexPair } from "node:stream";
import { buffer } from "node:stream/consumers";
import { createServer, request as httpRequest } from "./node-http.ts";

/** A request. */
export interface SentRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** The reply to it. */
export interface ReceivedReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/**
 * Sends one request to a handler through Node's HTTP parser and writer. Rejects with the signal's
 * reason, and when the reply ends early. `remoteAddress`: the address of the client that it is sent
 * for.
 */
export async function sendInMemory(
  handler: RequestListener,
  sent: SentRequest,
  signal: AbortSignal,
  remoteAddress?: string,
): Promise<ReceivedReply> {
  const { reply, close } = await openInMemory(handler, sent, signal, remoteAddress);
  try {
    const body = await buffer(reply);
    return { status: reply.statusCode ?? 0, headers: reply.headers, body: body.toString("utf8") };
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    close();
  }
}

/** A reply whose body is not read yet. */
export interface OpenReply {
  readonly reply: IncomingMessage;
  /** Ends the exchange, also before its reply has ended. */
  readonly close: () => void;
}

/** Sends one request. Resolves with the head of the reply; the caller closes it. */
export async function openInMemory(
  handler: RequestListener,
  sent: SentRequest,
  signal: AbortSignal,
  remoteAddress?: string,
): Promise<OpenReply> {
  signal.throwIfAborted();
  const [near, far] = duplexPair();
  // A response may call `setTimeout` of its socket, which a duplex pipe lacks. The test has its own
  // deadline.
  const socket = Object.assign(far, { setTimeout: () => far, remoteAddress });
  const server = createServer(handler);
  server.emit("connection", socket);
  const close = (): void => {
    signal.removeEventListener("abort", close);
    near.destroy();
    far.destroy();
  };
  signal.addEventListener("abort", close, { once: true });
  try {
    return { reply: await begin(near, sent), close };
  } catch (error) {
    close();
    signal.throwIfAborted();
    throw error;
  }
}

function begin(
  near: ReturnType<typeof duplexPair>[0],
  { method, target, headers, body }: SentRequest,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const request = httpRequest({
      createConnection: () => near,
      method,
      path: target,
      headers: { host: "sluice-test.invalid", ...length, ...headers },
      setHost: false,
    });
    request.once("response", resolve).once("error", reject);
    near.once("close", () => reject(new Error("the connection was closed without a reply")));
    request.end(body);
  });
}
