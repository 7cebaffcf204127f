/**
 * `npm run proof:customers`: 1,000,000 customers in ten minutes over 200 keys, each with a default
 * budget and limits. The gateway's memory is flat after its bound; other keys cost the same CPU
 * after the flood as before it, and their p99 beside invented customers is at most 1.5 times that
 * beside known ones, in the median of interleaved rounds. `-- --minutes 3` for a part of it. Linux
 * only. Ends with 1 when a goal is missed.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { cpuMs, residentMb } from "../bench/process-cost.ts";
import { KEY_NUMBER, MODEL } from "../bench/scenarios.ts";
import { median } from "../bench/statistics.ts";
import { freePort, startServer } from "../bench/target.ts";
import { insertKeys } from "../bench/targets/gateway/insert-keys.ts";
import { launch } from "../bench/targets/gateway/launch.ts";
import { PRESENT } from "../bench/targets/gateway/present.ts";

const { values } = parseArgs({
  options: { minutes: { type: "string", default: "10" }, rate: { type: "string" } },
});
const MINUTES = Number(values.minutes);
const KEYS = 200;
const OTHERS = 20;
/** Requests a second that name customers, half of them invented; and those of the other keys. */
const RATE = Number(values.rate ?? 3_400);
const OTHERS_RATE = 100;
const ROUND_MS = 10_000;
const TICK_MS = 10;
/** The memory has its bound after so many rounds. */
const WARM_ROUNDS = 4;
const MAX_GROWTH = 1.1;
const MAX_CPU = 1.05;
const MAX_P99 = 1.5;
const BODY = { model: MODEL, messages: [{ role: "user", content: "Say something." }] };

const UPSTREAM = fileURLToPath(new URL("../bench/load/upstream.ts", import.meta.url));
const directory = mkdtempSync(join(tmpdir(), "sluice-customers-"));
const upstreamPort = await freePort();
const port = await freePort();
const upstream = await startServer(
  { command: process.execPath, args: [UPSTREAM, "--port", String(upstreamPort), "--model", MODEL] },
  { directory, port: upstreamPort },
  "load",
);
const context = {
  directory: mkdtempSync(join(directory, "server-")),
  upstreamUrl: `http://127.0.0.1:${upstreamPort}`,
  port,
  nodeFlags: [],
};
const launched = await launch(PRESENT, context, {
  sections:
    "customers: { defaults: { max_budget: 1, budget_duration: 1d, rpm: 1000, tpm: 1000000 } }\n",
});
if ("skip" in launched) throw new Error(launched.skip);
const server = await startServer(launched, context, "server");
insertKeys(join(context.directory, "data"), KEYS + OTHERS, (number) => `sk-customers-${number}`);

const agent = new Agent({ keepAlive: true, maxSockets: 256 });
const statuses = new Map<number, number>();
let serial = 0;
const load = { open: 0 };

/** Sends one request, and resolves with its milliseconds. */
function send(key: number, user: string | undefined): Promise<number> {
  const began = performance.now();
  load.open += 1;
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        agent,
        port,
        method: "POST",
        path: "/v1/chat/completions",
        headers: {
          authorization: `Bearer sk-customers-${String(key).padStart(KEY_NUMBER.length, "0")}`,
          "content-type": "application/json",
        },
      },
      (answer) => {
        statuses.set(answer.statusCode ?? 0, (statuses.get(answer.statusCode ?? 0) ?? 0) + 1);
        answer.resume().on("end", () => {
          load.open -= 1;
          resolve(performance.now() - began);
        });
      },
    );
    sent.on("error", reject);
    sent.end(JSON.stringify(user === undefined ? BODY : { ...BODY, user }));
  });
}

interface Round {
  readonly cpuUs: number;
  readonly p99Ms: number;
  readonly requests: number;
}

/** A round of the other keys, beside requests whose customers `userOf` names. */
async function round(rate: number, userOf: (key: number) => string): Promise<Round> {
  const [before, beganMs] = [cpuMs(server.pid), performance.now()];
  const times: number[] = [];
  let [asked, own, requests] = [0, 0, 0];
  while (performance.now() - beganMs < ROUND_MS) {
    const seconds = (performance.now() - beganMs) / 1_000;
    // A stalled gateway is not asked for more.
    for (; asked < seconds * rate && load.open < 250; asked += 1) {
      const key = asked % KEYS;
      void send(key, userOf(key));
      requests += 1;
    }
    for (; own < seconds * OTHERS_RATE; own += 1) {
      void send(KEYS + (own % OTHERS), undefined).then((ms) => times.push(ms));
      requests += 1;
    }
    await pause(TICK_MS);
  }
  while (load.open > 0) await pause(TICK_MS);
  const cpuUs = ((cpuMs(server.pid) - before) * 1_000) / requests;
  const sorted = times.toSorted((a, b) => a - b);
  return { cpuUs, requests, p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? 0 };
}

const known = (key: number): string => `known-${key}`;
const invented = (): string => `invented-${(serial += 1)}`;
let isMissed = false;
const judge = (isMet: boolean, text: string): void => {
  console.log(`${isMet ? "ok  " : "MISS"}  ${text}`);
  isMissed ||= !isMet;
};

try {
  await round(RATE / 4, known);
  const alone = await round(0, known);
  const rounds: { readonly known: Round; readonly invented: Round }[] = [];
  const memory: number[] = [];
  const endMs = performance.now() + MINUTES * 60_000;
  while (performance.now() < endMs) {
    const pair = { known: await round(RATE, known), invented: await round(RATE, invented) };
    rounds.push(pair);
    memory.push(residentMb(server.pid));
    const [one, other] = [pair.known, pair.invented];
    console.log(
      `      ${serial} customers: ${memory.at(-1)?.toFixed(0)} MB; CPU ${one.cpuUs.toFixed(0)} → ${other.cpuUs.toFixed(0)} µs a request of ${one.requests} and ${other.requests}, p99 ${one.p99Ms.toFixed(1)} → ${other.p99Ms.toFixed(1)} ms`,
    );
  }
  const after = await round(0, known);
  const bound = median(memory.slice(WARM_ROUNDS, WARM_ROUNDS + 4));
  const last = median(memory.slice(-4));
  judge(
    last <= bound * MAX_GROWTH,
    `memory: ${bound.toFixed(0)} MB at its bound, ${last.toFixed(0)} MB at the end (goal: ${MAX_GROWTH})`,
  );
  const cpu = after.cpuUs / alone.cpuUs;
  judge(
    cpu <= MAX_CPU,
    `CPU of other keys after the flood: ${cpu.toFixed(2)} of before (goal: ${MAX_CPU})`,
  );
  const p99 = median(rounds.map((pair) => pair.invented.p99Ms / pair.known.p99Ms));
  judge(
    p99 <= MAX_P99,
    `p99 of other keys: ${p99.toFixed(2)} of that beside known customers (goal: ${MAX_P99})`,
  );
  const each = median(rounds.map((pair) => pair.invented.cpuUs / pair.known.cpuUs));
  console.log(
    `      a request that brings a customer: ${each.toFixed(2)} of the CPU of one that does not`,
  );
  judge(
    (statuses.get(200) ?? 0) === [...statuses.values()].reduce((sum, count) => sum + count, 0),
    `statuses: ${JSON.stringify([...statuses])}`,
  );
} finally {
  agent.destroy();
  await server.stop();
  await upstream.stop();
  rmSync(directory, { recursive: true, force: true });
}
process.exitCode = isMissed ? 1 : 0;
