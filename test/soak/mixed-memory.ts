/**
 * Proof: the memory of a gateway under mixed load stays flat. `npm run proof:memory`, an hour; `--
 * --minutes 20` for less. Whole replies, streams, embeddings, Messages, native calls, refusals,
 * clients that leave, failing upstreams, new keys and edits, at a fixed rate. The slope of the
 * resident memory after the first ten minutes is at most 0.2 MB a minute. Linux only: memory is
 * read from `/proc`.
 */

import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { MESSAGES } from "../system/support/client.ts";
import { type GatewayProcess, startGateway } from "../system/support/gateway-process.ts";
import { createWorkspace } from "../system/support/workspace.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "60" },
    rate: { type: "string", default: "30" },
    "warm-up": { type: "string", default: "10" },
  },
});
const MINUTES = Number(values.minutes);
const WARM_UP_MINUTES = Number(values["warm-up"]);
const GAP_MS = 1_000 / Number(values.rate);
const MAX_SLOPE_MB = 0.2;
const SAMPLE_MS = 10_000;
const EDIT_MS = 30_000;
if (MINUTES <= WARM_UP_MINUTES + 1)
  throw new Error("--minutes must exceed --warm-up by more than one minute.");

/** Requests under way at most: a stalled gateway is not asked for more. */
const MAX_OPEN = 64;

const VECTOR = Array<number>(256).fill(0.125);
const USAGE = { prompt_tokens: 9, completion_tokens: 40, total_tokens: 49 };

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let text = "";
  for await (const piece of request) text += String(piece);
  const body = JSON.parse(text) as { model: string; stream?: boolean; user?: string };
  const common = { id: "chatcmpl-1", created: 1_700_000_000, model: body.model };
  if (body.user === "fails") {
    response.writeHead(500, { "content-type": "application/json" });
    response.end('{"error":{"message":"down","type":"server_error"}}');
  } else if (request.url?.endsWith("/embeddings") === true) {
    response.writeHead(200, { "content-type": "application/json" });
    const data = [0, 1].map((index) => ({ object: "embedding", index, embedding: VECTOR }));
    response.end(JSON.stringify({ object: "list", data, model: body.model, usage: USAGE }));
  } else if (body.stream === true) {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (let index = 0; index < 40 && !response.destroyed; index++) {
      const choices = [{ index: 0, delta: { content: `word ${index} ` }, finish_reason: null }];
      const chunk = { ...common, object: "chat.completion.chunk", choices };
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
      // oxlint-disable-next-line no-await-in-loop -- a stream has its pace.
      if (index % 10 === 9) await pause(5);
    }
    const last = { ...common, object: "chat.completion.chunk", choices: [], usage: USAGE };
    response.end(`data: ${JSON.stringify(last)}\n\ndata: [DONE]\n\n`);
  } else {
    const message = { role: "assistant", content: "A sentence of some words. ".repeat(20) };
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ ...common, object: "chat.completion", choices, usage: USAGE }));
  }
}

/** One request of the mixture. `ends`: the status that it must have, or that the client leaves. */
interface Kind {
  readonly path: string;
  readonly body: unknown;
  readonly key?: string;
  readonly ends: number | "left";
}

const model = "openai/small";
const KINDS: readonly Kind[] = [
  { path: "/v1/chat/completions", body: { model, messages: MESSAGES }, ends: 200 },
  { path: "/v1/chat/completions", body: { model, messages: MESSAGES, stream: true }, ends: 200 },
  { path: "/v1/embeddings", body: { model, input: ["a", "b"] }, ends: 200 },
  { path: "/v1/messages", body: { model, messages: MESSAGES, max_tokens: 99 }, ends: 200 },
  {
    path: "/v1/messages",
    body: { model, messages: MESSAGES, max_tokens: 99, stream: true },
    ends: 200,
  },
  {
    path: "/v1/responses",
    body: { model, input: "Say something.", stream: true, store: false },
    ends: 200,
  },
  { path: "/openai/v1/chat/completions", body: { model: "small", messages: MESSAGES }, ends: 200 },
  { path: "/v1/chat/completions", body: { model, messages: MESSAGES, stream: true }, ends: "left" },
  { path: "/v1/chat/completions", body: { model: "none", messages: MESSAGES }, ends: 404 },
  { path: "/v1/chat/completions", body: { model, messages: "x" }, ends: 400 },
  { path: "/v1/chat/completions", body: { model, messages: MESSAGES }, key: "sk-no", ends: 401 },
  { path: "/v1/chat/completions", body: { model, messages: MESSAGES, user: "fails" }, ends: 502 },
];

const counts = new Map<string, number>();

async function send(gateway: GatewayProcess, kind: Kind, sequence: number): Promise<void> {
  const left = new AbortController();
  // Each prompt is another one, and each unknown key too.
  const body = { ...(kind.body as object), metadata: { n: String(sequence) } };
  const key = kind.key === undefined ? gateway.masterKey : `${kind.key}-${sequence}`;
  let ended: number | "left";
  try {
    const response = await fetch(`${gateway.publicUrl}${kind.path}`, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      signal: left.signal,
    });
    ended = response.status;
    if (kind.ends === "left") left.abort();
    else await response.text();
  } catch (error) {
    if (kind.ends !== "left") throw error;
    ended = "left";
  }
  const isExpected = kind.ends === "left" || ended === kind.ends;
  const name = isExpected ? "as expected" : `${kind.path} ${kind.ends}: ${ended}`;
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function rssMb(pid: number): number {
  const [, kilobytes = "0"] =
    /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1_024;
}

/** The slope of a line through the samples, by least squares. */
function slopeOf(samples: readonly (readonly [minute: number, mb: number])[]): number {
  const [meanX, meanY] = [0, 1].map(
    (at) => samples.reduce((sum, sample) => sum + (sample[at] ?? 0), 0) / samples.length,
  ) as [number, number];
  const above = samples.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  return above / samples.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
}

/** Keeps the mixture going at its rate, and an edit every half minute. Returns the samples. */
async function load(gateway: GatewayProcess): Promise<[number, number][]> {
  const samples: [number, number][] = [];
  const open = new Set<Promise<void>>();
  const startedMs = performance.now();
  const config = readFileSync(gateway.workspace.configPath, "utf8");
  let [sampledMs, editedMs, sequence] = [startedMs, startedMs, 0];
  for (let nowMs = startedMs; nowMs - startedMs < MINUTES * 60_000; nowMs = performance.now()) {
    const kind = KINDS[sequence % KINDS.length];
    if (kind !== undefined && open.size < MAX_OPEN) {
      const sent = send(gateway, kind, sequence).finally(() => open.delete(sent));
      open.add(sent);
    }
    sequence++;
    if (nowMs - sampledMs >= SAMPLE_MS) {
      sampledMs = nowMs;
      samples.push([(nowMs - startedMs) / 60_000, rssMb(gateway.pid)]);
      if (samples.length % 30 === 0)
        console.log(
          `${Math.round((nowMs - startedMs) / 60_000)} min: ${sequence} requests,`,
          samples.at(-1)?.[1].toFixed(1),
          "MB",
        );
    }
    if (nowMs - editedMs >= EDIT_MS) {
      editedMs = nowMs;
      gateway.workspace.write(`${config}\n# edit ${sequence}\n`);
    }
    // oxlint-disable-next-line no-await-in-loop -- the rate of the load.
    await pause(Math.max(0, startedMs + sequence * GAP_MS - performance.now()));
  }
  await Promise.all(open);
  return samples;
}

const server = createServer((request, response) => void answer(request, response));
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
const gateway = await startGateway(createWorkspace({ baseUrl, attempts: 1 }));
try {
  const samples = await load(gateway);
  const slope = slopeOf(samples.filter(([minute]) => minute >= WARM_UP_MINUTES));
  const isFlat = slope <= MAX_SLOPE_MB;
  console.table(Object.fromEntries(counts));
  console.log(
    `${isFlat ? "ok  " : "MISS"}  ${slope.toFixed(3)} MB a minute after ${WARM_UP_MINUTES} minutes (goal: ${MAX_SLOPE_MB})`,
  );
  if (!isFlat || counts.size > 1) process.exitCode = 1;
} finally {
  await gateway.dispose();
  gateway.workspace.remove();
  server.closeAllConnections();
  server.close();
}
