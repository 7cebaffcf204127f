/**
 * Proof: hostile bodies of one key neither end a gateway with a heap of 512 MB nor hurt another key. `npm run proof:bodies`. Linux
 * only: memory is read from `/proc`. Exits with 1 where a goal is missed.
 */

import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { chat, createKey, MESSAGES } from "../system/client.ts";
import { eventually } from "../system/eventually.ts";
import { type GatewayProcess, startGateway } from "../system/gateway-process.ts";
import { createNativeUpstream } from "../system/native-upstream.ts";

const MB = 1024 * 1024;
const HEAP_MB = 512;
const MAX_RSS_MB = 700;
const MAX_TURN_MS = 50;
const QUIET_SECONDS = 4;
const VICTIM_EVERY_MS = 50;
/** How long an attack is watched, at most. */
const ATTACK_SECONDS = 12;

const WHOLE = JSON.stringify({
  id: "c",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

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
const large = JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content: "x".repeat(10_000_000) }] });
const stalled = JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content: "x".repeat(19 * MB) }] });

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
const ATTACKS: readonly (readonly [string, number, Upload])[] = [
  ["12 x 8 MiB, deep", 12, sized("/openai/v1/chat/completions", () => deep)],
  ["12 x 8 MiB, wide", 12, sized("/openai/v1/chat/completions", () => wide)],
  ["100 x 10 MB", 100, sized("/v1/chat/completions", () => large)],
  ["6 x 3 MB in 1-byte chunks", 6, crumbs],
  ["80 stalled uploads of 19 MB", 80, sized("/v1/chat/completions", () => stalled, 18 * MB)],
];

function attack(gateway: GatewayProcess, key: string, upload: Upload, statuses: number[]): Socket {
  const { port, hostname } = new URL(gateway.publicUrl);
  const length = upload.bytes === undefined ? "transfer-encoding: chunked" : `content-length: ${upload.bytes}`;
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  socket.on("data", (chunk) => {
    const [, status] = /^HTTP\/1\.1 (\d+)/.exec(String(chunk)) ?? [];
    if (status !== undefined) statuses.push(Number(status));
  });
  const send = async (): Promise<void> => {
    await once(socket, "connect");
    socket.write(
      `POST ${upload.path} HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\nconnection: close\r\n${length}\r\n\r\n`,
    );
    for (const piece of upload.pieces()) {
      if (socket.destroyed) return;
      if (!socket.write(piece)) await Promise.race([once(socket, "drain"), once(socket, "close")]);
    }
  };
  void send().catch(() => undefined);
  return socket;
}

/** Latencies of one request every 50 ms of another key until `isOver`, sorted; and how many failed. */
async function victim(
  gateway: GatewayProcess,
  key: string,
  isOver: () => boolean,
): Promise<{ latencies: number[]; failed: number }> {
  const latencies: number[] = [];
  let failed = 0;
  const calls: Promise<void>[] = [];
  while (!isOver()) {
    const startedMs = performance.now();
    const call = chat(gateway, { model: "gpt-4o", messages: MESSAGES }, { headers: { authorization: `Bearer ${key}` } })
      .then(async (response) => {
        await response.text();
        if (response.status !== 200) failed += 1;
      })
      .catch(() => void (failed += 1))
      .then(() => void latencies.push(performance.now() - startedMs));
    calls.push(call);
    await pause(VICTIM_EVERY_MS);
  }
  await Promise.all(calls);
  return { latencies: latencies.toSorted((a, b) => a - b), failed };
}

const p99 = (sorted: readonly number[]): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))] ?? 0;

function rssMb(pid: number): number {
  const [, kilobytes = "0"] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1_024;
}

/** The longest turn since the last time this was asked, in milliseconds of CPU. */
async function longestTurnMs(gateway: GatewayProcess): Promise<number> {
  const from = gateway.stderr.length;
  gateway.signal("SIGUSR2");
  const line = await eventually("the loop probe", () => /^loop (.*)$/m.exec(gateway.stderr.slice(from))?.[1]);
  return (JSON.parse(line) as { mostMs: number }).mostMs;
}

const upstream = await createNativeUpstream();
upstream.answer((response) => response.writeHead(200, { "content-type": "application/json" }).end(WHOLE));
const probe = new URL("loop-probe.ts", import.meta.url).pathname;
const gateway = await startGateway(
  { baseUrl: `${upstream.url}/v1` },
  { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB} --import ${probe}` },
);
const rows: Record<string, unknown>[] = [];
let isMissed = false;
try {
  const other = await createKey(gateway, {});
  const until = (seconds: number) => {
    const endMs = performance.now() + seconds * 1_000;
    return () => performance.now() > endMs;
  };
  await victim(gateway, other.key, until(2));
  for (const [limits, fields] of [
    ["rpm 1", { rpm_limit: 1 }],
    ["no limits", {}],
  ] as const) {
    for (const [name, clients, upload] of ATTACKS) {
      const { key } = await createKey(gateway, fields);
      const quiet = await victim(gateway, other.key, until(QUIET_SECONDS));
      await longestTurnMs(gateway);
      const statuses: number[] = [];
      let peak = rssMb(gateway.pid);
      const watch = setInterval(() => (peak = Math.max(peak, rssMb(gateway.pid))), 25);
      const sockets = Array.from({ length: clients }, () => attack(gateway, key, upload, statuses));
      const isLate = until(ATTACK_SECONDS);
      const beside = await victim(gateway, other.key, () => isLate() || sockets.every(({ destroyed }) => destroyed));
      clearInterval(watch);
      const turnMs = await longestTurnMs(gateway);
      for (const socket of sockets) socket.destroy();
      const counts = Object.fromEntries(
        [...new Set(statuses)].map((status) => [status, statuses.filter((each) => each === status).length]),
      );
      const isSlow = p99(beside.latencies) > Math.max(2 * p99(quiet.latencies), 20);
      isMissed ||= peak > MAX_RSS_MB || turnMs > MAX_TURN_MS || beside.failed > 0 || isSlow;
      rows.push({
        attack: name,
        key: limits,
        answers: JSON.stringify(counts),
        "RSS MB": Math.round(peak),
        "longest turn, ms CPU": Number(turnMs.toFixed(1)),
        "p99 quiet": Number(p99(quiet.latencies).toFixed(1)),
        "p99 beside": Number(p99(beside.latencies).toFixed(1)),
        failed: beside.failed,
      });
    }
  }
} catch (error) {
  isMissed = true;
  console.error(error, gateway.stderr.slice(-2_000));
} finally {
  console.table(rows);
  await gateway.dispose();
  gateway.workspace.remove();
  await upstream.close();
}
process.exit(isMissed ? 1 : 0);
