/** A proxy before a Redis that misbehaves when a test says so. */

import { connect, createServer, type Socket } from "node:net";
import { once } from "node:events";
import { REDIS } from "./redis.fixture.ts";

const TRICKLE_EVERY_MS = 10;

/** A proxy on a port of its own. */
export interface Proxy {
  readonly url: string;
  /** Connections that were opened so far. */
  readonly opened: number;
  /** Pieces that came by `trickle`: at most one in ten milliseconds. */
  readonly pieces: number;
  /** Ends every connection and every new one until `mend`. */
  die(): void;
  /** Replies come only after so long. */
  slow(ms: number): void;
  /** Of the replies, so many bytes come at once, every ten milliseconds. */
  trickle(bytes: number): void;
  /** Every reply is this text. */
  lie(reply: string): void;
  mend(): void;
  close(): Promise<void>;
}

/** Starts a proxy before the Redis of the tests, database 9. */
export async function startProxy(): Promise<Proxy> {
  const sockets = new Set<Socket>();
  const slowly: { readonly client: Socket; bytes: Buffer }[] = [];
  const trickling = setInterval(() => {
    const [next] = slowly;
    if (next === undefined) return;
    pieces += 1;
    if (!next.client.destroyed) next.client.write(next.bytes.subarray(0, bytesAtOnce));
    next.bytes = next.bytes.subarray(bytesAtOnce);
    if (next.bytes.length === 0) slowly.shift();
  }, TRICKLE_EVERY_MS);
  let isDead = false;
  let delayMs = 0;
  let lie: string | undefined;
  let bytesAtOnce = Infinity;
  let pieces = 0;
  let opened = 0;
  const server = createServer((client) => {
    opened += 1;
    if (isDead) return void client.destroy();
    const upstream = connect(REDIS);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => other.destroy());
      socket.on("close", () => (sockets.delete(socket), other.destroy()));
    }
    client.on("data", (bytes) => upstream.write(bytes));
    upstream.on("data", (bytes) => {
      const reply = lie === undefined ? bytes : Buffer.from(lie);
      if (bytesAtOnce !== Infinity) return void slowly.push({ client, bytes: reply });
      if (delayMs === 0) return void client.write(reply);
      setTimeout(() => client.destroyed || client.write(reply), delayMs).unref();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const destroyAll = (): void => sockets.forEach((socket) => void socket.destroy());
  return {
    url: `redis://127.0.0.1:${port}/9`,
    get opened() {
      return opened;
    },
    die() {
      isDead = true;
      destroyAll();
    },
    get pieces() {
      return pieces;
    },
    slow: (ms) => void (delayMs = ms),
    trickle: (bytes) => void (bytesAtOnce = bytes),
    lie: (reply) => void (lie = reply),
    mend() {
      isDead = false;
      delayMs = 0;
      lie = undefined;
    },
    async close() {
      clearInterval(trickling);
      destroyAll();
      server.close();
      await once(server, "close");
    },
  };
}
