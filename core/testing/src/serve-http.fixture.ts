/** Local servers for the transport's tests, and calls to them. */

import { createServer, type RequestListener } from "node:http";
import {
  type AddressInfo,
  createServer as createSocketServer,
  type Server,
  type Socket,
} from "node:net";
import type { HttpCall } from "@sluice/contract";
import { onTestFinished } from "vitest";
import { type SendOptions, Upstream, type UpstreamOptions } from "@sluice/kit/internals";

/** A server on 127.0.0.1 and a free port. It closes with the test. */
export interface LocalServer {
  readonly url: string;
  /** Every connection that was ever opened, in order. */
  readonly sockets: readonly Socket[];
}

/** Serves HTTP. */
export function serveHttp(handler: RequestListener): Promise<LocalServer> {
  const server = createServer({ keepAliveTimeout: 60_000 }, handler);
  return open(server);
}

/** Serves raw bytes: `handler` runs when the first bytes of a connection have arrived. */
export function serveBytes(handler: (socket: Socket) => void): Promise<LocalServer> {
  return open(
    createSocketServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => handler(socket));
    }),
  );
}

async function open(server: Server): Promise<LocalServer> {
  const sockets: Socket[] = [];
  server.on("connection", (socket: Socket) => void sockets.push(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets };
}

/** An upstream pool that is destroyed with the test. */
export function openPool(options: Partial<UpstreamOptions> = {}): Upstream {
  const pool = new Upstream({ connections: 4, connectMs: 1_000, ...options });
  onTestFinished(() => pool.destroy());
  return pool;
}

/** A GET of a path. */
export function get(server: LocalServer, path = "/"): HttpCall {
  return { kind: "http", method: "GET", url: `${server.url}${path}`, headers: {}, body: undefined };
}

/** Timeouts that only a fault reaches; tests shorten the one they mean. */
export function within(
  timeouts: Partial<SendOptions["timeouts"]> = {},
  signal?: SendOptions["signal"],
): SendOptions {
  return {
    signal: signal ?? new AbortController().signal,
    timeouts: { connectMs: 1_000, firstByteMs: 5_000, idleMs: 5_000, ...timeouts },
  };
}

/** Resolves with true when a connection has ended. */
export function closed(socket: Socket | undefined): Promise<boolean> {
  if (socket === undefined) return Promise.reject(new Error("There was no connection."));
  return socket.closed
    ? Promise.resolve(true)
    : new Promise((resolve) => socket.once("close", () => resolve(true)));
}
