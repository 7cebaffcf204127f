/**
 * The attacks of `proof:bodies`, and the thread that runs one: so that the other key's latencies
 * are not the attacker's work.
 */

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { isMainThread, parentPort, workerData } from "node:worker_threads";

const MB = 1024 * 1024;

/** What one client sends: a head, and the body in pieces. */
interface Upload {
  readonly path: string;
  readonly bytes: number | undefined;
  readonly pieces: () => Iterable<string | Buffer>;
}

const sized = (path: string, text: () => string, sent?: number): Upload => {
  const bytes = Buffer.byteLength(text());
  return {
    path,
    bytes,
    *pieces() {
      const whole = Buffer.from(text());
      for (let from = 0; from < (sent ?? whole.length); from += 262_144)
        yield whole.subarray(from, Math.min(sent ?? whole.length, from + 262_144));
    },
  };
};

const deep = `{"a":${"[".repeat(4 * MB)}${"]".repeat(4 * MB - 8)}}`;
const wide = `{"a":[${"[],".repeat((8 * MB) / 3 - 10)}[]]}`;
const large = JSON.stringify({
  model: "gpt-4o",
  messages: [{ role: "user", content: "x".repeat(10_000_000) }],
});
const stalled = JSON.stringify({
  model: "gpt-4o",
  messages: [{ role: "user", content: "x".repeat(19 * MB) }],
});

const crumbs: Upload = {
  path: "/v1/chat/completions",
  bytes: undefined,
  *pieces() {
    const start = `{"model":"gpt-4o","messages":[{"role":"user","content":"`;
    yield `${start.length.toString(16)}\r\n${start}\r\n`;
    const many = "1\r\nx\r\n".repeat(20_000);
    for (let count = 0; count < 150; count += 1) yield many;
    yield `4\r\n"}]}\r\n0\r\n\r\n`;
  },
};

/** The attacks: what they are, how many clients at once, and what each sends. */
export const ATTACKS: readonly (readonly [string, number, Upload])[] = [
  ["12 x 8 MiB, deep", 12, sized("/openai/v1/chat/completions", () => deep)],
  ["12 x 8 MiB, wide", 12, sized("/openai/v1/chat/completions", () => wide)],
  ["100 x 10 MB", 100, sized("/v1/chat/completions", () => large)],
  ["6 x 3 MB in 1-byte chunks", 6, crumbs],
  ["80 stalled uploads of 19 MB", 80, sized("/v1/chat/completions", () => stalled, 18 * MB)],
];

function attack(url: string, key: string, upload: Upload): Socket {
  const { port, hostname } = new URL(url);
  const length =
    upload.bytes === undefined ? "transfer-encoding: chunked" : `content-length: ${upload.bytes}`;
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  socket.on("data", (chunk) => {
    const [, status] = /^HTTP\/1\.1 (\d+)/.exec(String(chunk)) ?? [];
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    if (status !== undefined) parentPort?.postMessage(Number(status));
  });
  const send = async (): Promise<void> => {
    await once(socket, "connect");
    socket.write(
      `POST ${upload.path} HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\nconnection: close\r\n${length}\r\n\r\n`,
    );
    for (const piece of upload.pieces()) {
      if (socket.destroyed) return;
      if (!socket.write(piece)) await once(socket, "drain");
    }
  };
  void send().catch(() => undefined);
  return socket;
}

/** What a thread is given. */
export interface Attack {
  readonly url: string;
  readonly key: string;
  readonly index: number;
}

if (!isMainThread) {
  const { url, key, index } = workerData as Attack;
  const [, clients, upload] = ATTACKS[index] ?? [];
  const sockets = Array.from({ length: clients ?? 0 }, () => attack(url, key, upload as Upload));
  await Promise.all(
    sockets.map((socket) => new Promise((resolve) => socket.once("close", resolve))),
  );
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage("over");
}
