/**
 * Proof: clients that read nothing of large streams cost the gateway little memory, and good
 * traffic hardly any time. `npm run proof:slow-readers`. Linux only: memory is read from `/proc`.
 */

import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { chat, MESSAGES } from "../system/support/client.ts";
import { eventually } from "../system/support/eventually.ts";
import { type GatewayProcess, startGateway } from "../system/support/gateway-process.ts";
import { createWorkspace } from "../system/support/workspace.ts";

const { values } = parseArgs({
  options: {
    readers: { type: "string", default: "100" },
    megabytes: { type: "string", default: "10" },
    seconds: { type: "string", default: "8" },
    "event-characters": { type: "string", default: "40" },
  },
});
const READERS = Number(values.readers);
const MB = 1024 * 1024;
const STREAM_BYTES = Number(values.megabytes) * MB;
const SECONDS = Number(values.seconds);
const WORKERS = 4;
const WARM_UP_SECONDS = 3;
/** For the connections of those who left to end. */
const SETTLE_MS = 2_000;

const CONTENT = "x".repeat(Number(values["event-characters"]));
const EVENT = `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_700_000_000, model: "large", choices: [{ index: 0, delta: { content: CONTENT }, finish_reason: null }] })}\n\n`;
const BATCH = EVENT.repeat(Math.ceil(16_384 / EVENT.length));
const WHOLE = JSON.stringify({
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1_700_000_000,
  model: "small",
  choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

/** Large streams that are open at the upstream, and the bytes that were streams of each. */
const streams = new Set<{ bytes: number }>();

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = "";
  for await (const piece of request) body += String(piece);
  if (!body.includes('"large"')) {
    response
      .writeHead(200, { "content-type": "application/json", "content-length": WHOLE.length })
      .end(WHOLE);
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const stream = { bytes: 0 };
  streams.add(stream);
  const closed = new AbortController();
  response.once("close", () => {
    streams.delete(stream);
    closed.abort();
  });
  while (stream.bytes < STREAM_BYTES && !response.destroyed) {
    const isAccepted = response.write(BATCH);
    stream.bytes += BATCH.length;
    if (!isAccepted)
      await once(response, "drain", { signal: closed.signal }).catch(() => undefined);
  }
  response.end("data: [DONE]\n\n");
}

/** A client that asks for a large stream and reads nothing. */
function stall(gateway: GatewayProcess): Socket {
  const url = new URL(gateway.publicUrl);
  const body = JSON.stringify({ model: "openai/large", messages: MESSAGES, stream: true });
  const socket = connect(Number(url.port), url.hostname, () => {
    socket.pause();
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: ${url.host}\r\nauthorization: Bearer ${gateway.masterKey}\r\n` +
        `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
  });
  socket.on("error", () => undefined);
  return socket;
}

/** Latencies of good traffic for some seconds, in milliseconds, sorted. */
async function goodTraffic(gateway: GatewayProcess, seconds: number): Promise<number[]> {
  const latencies: number[] = [];
  const untilMs = performance.now() + seconds * 1_000;
  const work = async (): Promise<void> => {
    while (performance.now() < untilMs) {
      const startedMs = performance.now();
      const response = await chat(gateway, { model: "openai/small", messages: MESSAGES });
      await response.text();
      if (response.status !== 200) throw new Error(`Good traffic was answered ${response.status}.`);
      latencies.push(performance.now() - startedMs);
      await pause(5);
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, work));
  return latencies.toSorted((a, b) => a - b);
}

function rssMb(pid: number): number {
  const [, kilobytes = "0"] =
    /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1_024;
}

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.floor(sorted.length * share)] ?? 0;

/** What the gateway's main thread holds when its garbage is gone, heap and buffers. */
async function heldMb(gateway: GatewayProcess): Promise<number> {
  const from = gateway.stderr.length;
  gateway.signal("SIGUSR2");
  const line = await eventually(
    "the memory probe",
    () => /^memory (.*)$/m.exec(gateway.stderr.slice(from))?.[1],
  );
  const { heapUsed, external } = JSON.parse(line) as NodeJS.MemoryUsage;
  return (heapUsed + external) / MB;
}

const server = createServer((request, response) => void answer(request, response));
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const probe = new URL("memory-probe.ts", import.meta.url).pathname;
const gateway = await startGateway(
  createWorkspace({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    // One for each reader, and some for the others. A key has half of them at most.
    provider: `connections: ${2 * (READERS + 100)}`,
    server: "stalled_client_timeout: 10m",
  }),
  { NODE_OPTIONS: `--expose-gc --import ${probe}` },
);
try {
  await goodTraffic(gateway, WARM_UP_SECONDS);
  const alone = await goodTraffic(gateway, SECONDS);
  const rssBefore = rssMb(gateway.pid);
  const heldBefore = await heldMb(gateway);
  let peak = rssBefore;
  const watch = setInterval(() => (peak = Math.max(peak, rssMb(gateway.pid))), 50);
  const sockets = Array.from({ length: READERS }, () => stall(gateway));
  const beside = await goodTraffic(gateway, SECONDS);
  const heldStalled = await heldMb(gateway);
  const taken = Math.max(0, ...[...streams].map(({ bytes }) => bytes)) / MB;
  for (const socket of sockets) socket.destroy();
  await pause(SETTLE_MS);
  clearInterval(watch);
  console.table({
    "readers that read nothing": READERS,
    "MB offered of each stream": STREAM_BYTES / MB,
    "MB the upstream could write, at most": Number(taken.toFixed(1)),
    "RSS before, MB": Math.round(rssBefore),
    "RSS more at most, MB": Math.round(peak - rssBefore),
    "held more while stalled, MB": Math.round(heldStalled - heldBefore),
    "held more when they had left, MB": Math.round((await heldMb(gateway)) - heldBefore),
    "good traffic p50 alone, ms": Number(quantile(alone, 0.5).toFixed(1)),
    "good traffic p50 beside them, ms": Number(quantile(beside, 0.5).toFixed(1)),
    "good traffic p99 alone, ms": Number(quantile(alone, 0.99).toFixed(1)),
    "good traffic p99 beside them, ms": Number(quantile(beside, 0.99).toFixed(1)),
    "upstream streams left open": streams.size,
  });
} finally {
  await gateway.dispose();
  gateway.workspace.remove();
  server.closeAllConnections();
  server.close();
}
