/** A proxy before a Redis that misbehaves when a test says so. */

import { connect, createServer, type Socket } from "node:net";
import { once } from "node:events";
import { REDIS } from "./redis.fixture.ts";

/** A proxy on a port of its own. */
export interface Proxy {
  readonly url: string;
  /** Connections that were opened so far. */
  readonly opened: number;
  /** Bytes of replies that are held. */
  readonly held: number;
  /** The length of the oldest held reply, a text; 0 while it is not there as a whole. */
  readonly nextReply: number;
  /** Ends every connection and every new one until `mend`. */
  die(): void;
  /** Replies come only after so long. */
  slow(ms: number): void;
  /** Replies come only by `release`. */
  hold(): void;
  /** Lets so many bytes of the held replies pass. */
  release(bytes: number): void;
  /** Nothing more passes on a connection that brings a piece of so many bytes, until `mend`. */
  stall(bytes: number): void;
  /** Every reply is this text. */
  lie(reply: string): void;
  mend(): void;
  close(): Promise<void>;
}

/** Starts a proxy before the Redis of the tests, database 9. */
export async function startProxy(): Promise<Proxy> {
  const sockets = new Set<Socket>();
  const held: { readonly client: Socket; bytes: Buffer }[] = [];
  let isDead = false;
  let delayMs = 0;
  let lie: string | undefined;
  let isHolding = false;
  let stallBytes = Infinity;
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
    let isStalled = false;
    client.on("data", (bytes) => {
      isStalled ||= bytes.length >= stallBytes;
      if (!isStalled) upstream.write(bytes);
    });
    upstream.on("data", (bytes) => {
      const reply = lie === undefined ? bytes : Buffer.from(lie);
      if (isHolding) return void held.push({ client, bytes: reply });
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
    get held() {
      return held.reduce((total, { bytes }) => total + bytes.length, 0);
    },
    get nextReply() {
      const bytes = Buffer.concat(held.map((one) => one.bytes));
      const [head, length] = /^\$(\d+)\r\n/.exec(bytes.subarray(0, 20).toString("latin1")) ?? [];
      const whole = head === undefined ? Infinity : head.length + Number(length) + 2;
      return bytes.length < whole ? 0 : whole;
    },
    slow: (ms) => void (delayMs = ms),
    hold: () => void (isHolding = true),
    release(bytes) {
      for (let left = bytes; left > 0 && held[0] !== undefined;) {
        const [next] = held;
        const piece = next.bytes.subarray(0, left);
        next.client.write(piece);
        left -= piece.length;
        next.bytes = next.bytes.subarray(piece.length);
        if (next.bytes.length === 0) held.shift();
      }
    },
    stall: (bytes) => void (stallBytes = bytes),
    lie: (reply) => void (lie = reply),
    mend() {
      isDead = false;
      delayMs = 0;
      stallBytes = Infinity;
      lie = undefined;
    },
    async close() {
      destroyAll();
      server.close();
      await once(server, "close");
    },
  };
}
