/**
 * `npm run proof:customers`: 1,000,000 customers in ten minutes over 200 keys, each with a default
 * budget and limits. A second gateway, the spared one, has as many requests of known customers. The
 * memory of the flooded gateway is flat after its bound; other keys cost the CPU there that they
 * cost at the spared one, after the flood; their p99 beside invented customers is at most 1.5 times
 * that beside known ones. Both are medians of interleaved rounds. `-- --minutes 3` for a part of it.
 * Linux only. Ends with 1 when a goal is missed.
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
/** Requests a second that name customers, and those of the other keys. */
const RATE = Number(values.rate ?? 2_400);
const OTHERS_RATE = 100;
/** Of invented customers, and of known ones: with the rate, a million are invented in ten minutes. */
const ROUND_MS = 10_000;
const KNOWN_MS = 4_000;
/** The begin of a round, whose times do not count: connections that had no request are made anew. */
const SETTLE_MS = 1_000;
/**
 * Rounds of other keys alone, after the flood: pairs of one at each gateway. The rate keeps compiled
 * code and caches of the processor warm; at a few requests a second a process that was never loaded
 * costs from 1 to 2 of itself within a minute. The first pairs end what the flood has begun.
 */
const AFTER = { rate: 1_000, roundMs: 2_000, pairs: 24, warm: 3 };
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
const upstream = await startServer(
  { command: process.execPath, args: [UPSTREAM, "--port", String(upstreamPort), "--model", MODEL] },
  { directory, port: upstreamPort },
  "load",
);

interface Gateway {
  readonly port: number;
  readonly server: Awaited<ReturnType<typeof startServer>>;
}

/** A gateway with a store of its own, and its keys. */
async function startGateway(): Promise<Gateway> {
  const context = {
    directory: mkdtempSync(join(directory, "server-")),
    upstreamUrl: `http://127.0.0.1:${upstreamPort}`,
    port: await freePort(),
    nodeFlags: [],
  };
  const launched = await launch(PRESENT, context, {
    sections:
      "customers: { defaults: { max_budget: 1, budget_duration: 1d, rpm: 1000, tpm: 1000000 } }\n",
  });
  if ("skip" in launched) throw new Error(launched.skip);
  const server = await startServer(launched, context, "server");
  const data = join(context.directory, "data");
  insertKeys(data, KEYS + OTHERS, (number) => `sk-customers-${number}`);
  return { port: context.port, server };
}
const flooded = await startGateway();
const spared = await startGateway();

const agent = new Agent({ keepAlive: true, maxSockets: 256 });
const statuses = new Map<number, number>();
let serial = 0;
const running = { open: 0 };

/** Sends one request, and resolves with its milliseconds. */
function send(port: number, key: number, user: string | undefined): Promise<number> {
  const began = performance.now();
  running.open += 1;
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
          running.open -= 1;
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

interface Load {
  /** Requests a second that name customers. */
  readonly rate: number;
  readonly userOf: (key: number) => string;
  /** Requests a second of the other keys. */
  readonly othersRate: number;
  readonly roundMs: number;
}

/** A round of the other keys at a gateway, beside requests whose customers `userOf` names. */
async function round({ port, server }: Gateway, load: Partial<Load>): Promise<Round> {
  const { rate = RATE, userOf = known, othersRate = OTHERS_RATE, roundMs = ROUND_MS } = load;
  const [before, beganMs] = [cpuMs(server.pid), performance.now()];
  const times: number[] = [];
  let [asked, own, requests] = [0, 0, 0];
  while (performance.now() - beganMs < roundMs) {
    const seconds = (performance.now() - beganMs) / 1_000;
    // A stalled gateway is not asked for more.
    for (; asked < seconds * rate && running.open < 250; asked += 1) {
      const key = asked % KEYS;
      void send(port, key, userOf(key));
      requests += 1;
    }
    for (; own < seconds * othersRate; own += 1) {
      const isSettled = seconds * 1_000 >= SETTLE_MS;
      void send(port, KEYS + (own % OTHERS), undefined).then((ms) => isSettled && times.push(ms));
      requests += 1;
    }
    await pause(TICK_MS);
  }
  while (running.open > 0) await pause(TICK_MS);
  const cpuUs = ((cpuMs(server.pid) - before) * 1_000) / requests;
  const sorted = times.toSorted((a, b) => a - b);
  return { cpuUs, requests, p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? 0 };
}

/** The CPU of other keys at the flooded gateway, by that at the spared one: the median of pairs. */
async function costAfterFlood(): Promise<number> {
  const { rate: othersRate, roundMs, pairs, warm } = AFTER;
  const alone = { rate: 0, othersRate, roundMs };
  const ratios: number[] = [];
  for (let pair = 0; pair < warm + pairs; pair += 1) {
    // Neither is always the first.
    const order = pair % 2 === 0 ? [flooded, spared] : [spared, flooded];
    const costs = new Map<Gateway, number>();
    for (const gateway of order) costs.set(gateway, (await round(gateway, alone)).cpuUs);
    const [one, other] = [costs.get(flooded) ?? Infinity, costs.get(spared) ?? 0];
    console.log(
      `      other keys alone: CPU ${other.toFixed(0)} spared, ${one.toFixed(0)} flooded`,
    );
    if (pair >= warm) ratios.push(one / other);
  }
  return median(ratios);
}

const known = (key: number): string => `known-${key}`;
const invented = (): string => `invented-${(serial += 1)}`;
let isMissed = false;
const judge = (isMet: boolean, text: string): void => {
  console.log(`${isMet ? "ok  " : "MISS"}  ${text}`);
  isMissed ||= !isMet;
};

try {
  for (const gateway of [flooded, spared]) await round(gateway, { rate: RATE / 4 });
  const rounds: { readonly known: Round; readonly invented: Round }[] = [];
  const memory: number[] = [];
  const endMs = performance.now() + MINUTES * 60_000;
  while (performance.now() < endMs) {
    const pair = {
      known: await round(spared, { roundMs: KNOWN_MS }),
      invented: await round(flooded, { userOf: invented }),
    };
    rounds.push(pair);
    memory.push(residentMb(flooded.server.pid));
    const [one, other] = [pair.known, pair.invented];
    console.log(
      `      ${serial} customers: ${memory.at(-1)?.toFixed(0)} MB; CPU ${one.cpuUs.toFixed(0)} → ${other.cpuUs.toFixed(0)} µs a request of ${one.requests} and ${other.requests}, p99 ${one.p99Ms.toFixed(1)} → ${other.p99Ms.toFixed(1)} ms`,
    );
  }
  const cpu = await costAfterFlood();
  const bound = median(memory.slice(WARM_ROUNDS, WARM_ROUNDS + 4));
  const last = median(memory.slice(-4));
  judge(
    last <= bound * MAX_GROWTH,
    `memory: ${bound.toFixed(0)} MB at its bound, ${last.toFixed(0)} MB at the end (goal: ${MAX_GROWTH})`,
  );
  judge(
    cpu <= MAX_CPU,
    `CPU of other keys after the flood: ${cpu.toFixed(2)} of that at the spared gateway (goal: ${MAX_CPU})`,
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
  for (const { server } of [flooded, spared]) await server.stop();
  await upstream.stop();
  rmSync(directory, { recursive: true, force: true });
}
process.exitCode = isMissed ? 1 : 0;
