/**
 * Failover with the shipped defaults: primaries that refuse, hang, are silent, flap or cut their
 * streams, each with one healthy fallback. A client of each asks once a second. The script prints
 * the client's wait, the calls to each upstream, and the time until a healed primary is used again,
 * and ends with status 1 beyond a goal.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { text } from "node:stream/consumers";
import { chat } from "../system/support/client.ts";
import { type GatewayProcess, startGateway } from "../system/support/gateway-process.ts";

const OUTAGE_MS = Number(process.env["SLUICE_OUTAGE_MS"] ?? 60_000);
const AFTER_MS = 15_000;
const EVERY_MS = 1_000;
const FLAP_MS = 5_000;
const GOALS = { firstContentMs: 35_000, callsPerTrial: 1, backMs: 6_000 };

const FAULTS = ["refuses", "hangs", "silent", "flaps", "cuts"] as const;
type Fault = (typeof FAULTS)[number];

const HEAD = { "content-type": "text/event-stream" };
const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model: "m",
    choices: [{ index: 0, delta, finish_reason: finish }],
  })}\n\n`;
const GOOD = `${chunk({ role: "assistant", content: "Good" })}${chunk({ content: " day." })}${chunk({}, "stop")}data: [DONE]\n\n`;

interface Site {
  readonly url: string;
  /** Calls by the text that was asked. */
  readonly calls: Map<string, number>;
  fault: Fault | undefined;
  close(): void;
}

async function openSite(): Promise<Site> {
  const calls = new Map<string, number>();
  const sockets = new Set<Socket>();
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const asked = /Question \d+/.exec(await text(request))?.[0] ?? "";
    calls.set(asked, (calls.get(asked) ?? 0) + 1);
    const isDown = Math.floor(performance.now() / FLAP_MS) % 2 === 0;
    switch (site.fault) {
      case "hangs":
        return;
      case "silent":
        response.writeHead(200, HEAD).flushHeaders();
        return;
      case "cuts":
        response
          .writeHead(200, HEAD)
          .write(chunk({ role: "assistant", content: "Go" }), () => request.socket.destroy());
        return;
      case "flaps":
        if (!isDown) break;
        response
          .writeHead(503, { "content-type": "application/json" })
          .end('{"error":{"message":"down"}}');
        return;
      default:
    }
    response.writeHead(200, HEAD).end(GOOD);
  };
  let server: Server;
  let fault: Fault | undefined;
  const listen = (port: number): Promise<number> =>
    new Promise((resolve) => {
      server = createServer(
        (request, response) => void serve(request, response).catch(() => response.destroy()),
      );
      server.on("connection", (socket) =>
        sockets.add(socket.once("close", () => sockets.delete(socket))),
      );
      server.listen(port, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
    });
  const port = await listen(0);
  const close = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  const site: Site = {
    url: `http://127.0.0.1:${port}/v1`,
    calls,
    get fault() {
      return fault;
    },
    set fault(next) {
      if (next === "refuses") close();
      else if (fault === "refuses") void listen(port);
      fault = next;
    },
    close,
  };
  return site;
}

interface Asked {
  readonly question: string;
  readonly startedMs: number;
  firstContentMs?: number;
  model?: string | null;
  isWhole?: boolean;
  endedMs?: number;
}

async function ask(gateway: GatewayProcess, model: string, question: string): Promise<Asked> {
  const asked: Asked = { question, startedMs: performance.now() };
  const response = await chat(gateway, {
    model,
    stream: true,
    messages: [{ role: "user", content: question }],
  });
  asked.model = response.headers.get("x-sluice-model");
  let all = "";
  for await (const piece of response.body ?? []) {
    all += Buffer.from(piece).toString();
    if (all.includes('"content"')) asked.firstContentMs ??= performance.now() - asked.startedMs;
  }
  asked.isWhole = all.includes("[DONE]");
  asked.endedMs = performance.now();
  return asked;
}

const spare = await openSite();
const sites = new Map(
  await Promise.all(FAULTS.map(async (fault) => [fault, await openSite()] as const)),
);
const key = 'api_key: "${env:OPENAI_API_KEY}"';
const gateway = await startGateway({
  baseUrl: spare.url,
  providers: [...sites].map(
    ([fault, { url }]) => `${fault}: { use: openai, ${key}, base_url: "${url}" }`,
  ),
  models: [
    "{ id: spare, targets: [{ provider: openai, model: m }] }",
    ...FAULTS.map(
      (fault) =>
        `{ id: ${fault}, targets: [{ provider: ${fault}, model: m }], fallbacks: { general: [spare] } }`,
    ),
  ],
});

/** The longest time that this machine left the script waiting: waits include it. */
let stallMs = 0;
let tickMs = performance.now();
const ticking = setInterval(() => {
  stallMs = Math.max(stallMs, performance.now() - tickMs - 50);
  tickMs = performance.now();
}, 50);

let number = 0;
async function play(fault: Fault, site: Site) {
  const running: Promise<Asked>[] = [];
  let healedMs = Infinity;
  let backMs: number | undefined;
  const askFor = async (ms: number): Promise<void> => {
    for (
      const untilMs = performance.now() + ms;
      performance.now() < untilMs;
      await pause(EVERY_MS)
    ) {
      const asked = ask(gateway, fault, `Question ${(number += 1)}`);
      running.push(asked);
      void asked.then(({ model, isWhole, endedMs = 0, startedMs }) => {
        if (startedMs >= healedMs && model === fault && isWhole === true)
          backMs ??= endedMs - healedMs;
      });
    }
  };
  await askFor(3_000);
  site.fault = fault;
  const brokenMs = performance.now();
  await askFor(OUTAGE_MS);
  site.fault = undefined;
  healedMs = performance.now();
  await askFor(AFTER_MS);
  const all = await Promise.all(running);
  const during = all.filter(({ startedMs }) => startedMs >= brokenMs && startedMs < healedMs);
  const callsOf = ({ question }: Asked): number => site.calls.get(question) ?? 0;
  // The first request that was spared the primary proves the ejection. What calls it afterwards is
  // a trial.
  const sparedMs = Math.min(
    ...during
      .filter((asked) => callsOf(asked) === 0 && fault !== "refuses")
      .map(({ startedMs }) => startedMs),
  );
  const trials = during.filter((asked) => asked.startedMs > sparedMs && callsOf(asked) > 0);
  const waits = all
    .map(({ firstContentMs = Infinity }) => firstContentMs)
    .toSorted((a, b) => a - b);
  return {
    fault,
    requests: during.length,
    "without a whole reply": all.filter(({ isWhole }) => isWhole !== true).length,
    "first content, median ms": Math.round(waits[waits.length >> 1] ?? 0),
    "first content, longest ms": Math.round(waits.at(-1) ?? 0),
    "calls to the primary": during.reduce((sum, asked) => sum + callsOf(asked), 0),
    "calls to the fallback": during.filter(({ question }) => spare.calls.has(question)).length,
    trials: trials.length,
    "calls of a trial, at most": Math.max(0, ...trials.map(callsOf)),
    "used again after ms": backMs === undefined ? Infinity : Math.round(backMs),
  };
}

let isMet = true;
try {
  const results = await Promise.all([...sites].map(([fault, site]) => play(fault, site)));
  console.table(results);
  console.log(`The longest stall of this machine: ${Math.round(stallMs)} ms.`);
  isMet = results.every(
    (result) =>
      result["first content, longest ms"] <= GOALS.firstContentMs &&
      // Flapping recovers between its outages: what follows is no trial.
      (result.fault === "flaps" || result["calls of a trial, at most"] <= GOALS.callsPerTrial) &&
      result["used again after ms"] <= GOALS.backMs,
  );
  console.log(isMet ? "Every goal is met." : `A goal is not met: ${JSON.stringify(GOALS)}`);
} finally {
  clearInterval(ticking);
  await gateway.dispose();
  for (const site of [spare, ...sites.values()]) site.close();
}
process.exitCode = isMet ? 0 : 1;
