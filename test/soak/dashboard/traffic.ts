/** Check 14: what five open dashboards cost the traffic, in interleaved rounds. */

import { Agent, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { cpuMs } from "../../bench/process-cost.ts";
import { MODEL } from "../../bench/scenarios.ts";
import { median } from "../../bench/statistics.ts";
import { type Goals, quantile } from "../store/goals.ts";
import { type ProofGateway, startProofGateway } from "./gateway.ts";

const TABS = 5;
/** What an open Overview reads, and how often: `status.ts` and `live.ts` of the dashboard. */
const READS = [
  { path: "/config/status", everyMs: 5_000 },
  { path: "/overview?window=1h", everyMs: 2_000 },
];
const WARM_ROUNDS = 3;
const RATE = 200;
const ROUND_MS = 10_000;
const TICK_MS = 5;
const MAX_CPU = 1.05;
const MAX_P99 = 1.5;
const MAX_OPEN = 200;
const BODY = JSON.stringify({
  model: MODEL,
  messages: [{ role: "user", content: "Say something." }],
});

interface Round {
  readonly cpuUs: number;
  readonly p99Ms: number;
  readonly polls: number;
}

/** Sends chat requests at a rate, with the tabs open and closed in turn. */
export async function proveTraffic(goals: Goals, rounds: number): Promise<void> {
  await using gateway = await startProofGateway({ isProbed: false });
  console.log("check 14: traffic beside open dashboards");
  const agent = new Agent({ keepAlive: true, maxSockets: MAX_OPEN });
  const pairs: { readonly closed: Round; readonly open: Round }[] = [];
  try {
    for (let number = 0; number < WARM_ROUNDS; number += 1) await round(gateway, agent, false);
    for (let number = 0; number < rounds; number += 1) {
      // Which comes first alternates.
      const isOpenFirst = number % 2 === 1;
      const first = await round(gateway, agent, isOpenFirst);
      const second = await round(gateway, agent, !isOpenFirst);
      const pair = isOpenFirst ? { open: first, closed: second } : { closed: first, open: second };
      pairs.push(pair);
      console.log(
        `      CPU ${pair.closed.cpuUs.toFixed(0)} → ${pair.open.cpuUs.toFixed(0)} µs a request, p99 ${pair.closed.p99Ms.toFixed(1)} → ${pair.open.p99Ms.toFixed(1)} ms, ${pair.open.polls} polls`,
      );
    }
  } finally {
    agent.destroy();
  }
  const of = (figure: "cpuUs" | "p99Ms"): number =>
    median(pairs.map(({ open }) => open[figure])) /
    median(pairs.map(({ closed }) => closed[figure]));
  goals.atMost(`CPU a chat request beside ${TABS} tabs`, of("cpuUs"), MAX_CPU, "times");
  goals.atMost(`p99 of chat beside ${TABS} tabs`, of("p99Ms"), MAX_P99, "times");
}

async function round(gateway: ProofGateway, agent: Agent, isOpen: boolean): Promise<Round> {
  const { server, masterKey } = gateway;
  const ends = new AbortController();
  const tabs = isOpen
    ? Array.from({ length: TABS }, (_, tab) => poll(gateway, tab, ends.signal))
    : [];
  const [before, beganMs] = [cpuMs(server.pid), performance.now()];
  const times: number[] = [];
  const load = { open: 0, sent: 0, failed: 0 };
  const send = (): void => {
    const sentMs = performance.now();
    load.open += 1;
    load.sent += 1;
    const sent = request(
      {
        agent,
        port: server.port,
        method: "POST",
        path: "/v1/chat/completions",
        headers: { authorization: `Bearer ${masterKey}`, "content-type": "application/json" },
      },
      (answer) => {
        if (answer.statusCode !== 200) load.failed += 1;
        answer.resume().on("end", () => {
          load.open -= 1;
          times.push(performance.now() - sentMs);
        });
      },
    );
    sent.on("error", () => {
      load.open -= 1;
      load.failed += 1;
    });
    sent.end(BODY);
  };
  while (performance.now() - beganMs < ROUND_MS) {
    const due = ((performance.now() - beganMs) / 1_000) * RATE;
    while (load.sent < due && load.open < MAX_OPEN) send();
    await pause(TICK_MS);
  }
  while (load.open > 0) await pause(TICK_MS);
  const cpuUs = ((cpuMs(server.pid) - before) * 1_000) / load.sent;
  ends.abort();
  const polls = (await Promise.all(tabs)).reduce((sum, count) => sum + count, 0);
  if (load.failed > 0) throw new Error(`${load.failed} chat requests failed.`);
  return { cpuUs, polls, p99Ms: quantile(times, 0.99) };
}

/** One tab: it reads, keeps the tags, and reads again. Resolves with the number of reads. */
async function poll(gateway: ProofGateway, tab: number, signal: AbortSignal): Promise<number> {
  const counts = await Promise.all(
    READS.map(({ path, everyMs }) =>
      repeat(gateway, path, everyMs, (everyMs / TABS) * tab, signal),
    ),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

async function repeat(
  { ask }: ProofGateway,
  path: string,
  everyMs: number,
  delayMs: number,
  signal: AbortSignal,
): Promise<number> {
  let tag: string | undefined;
  let count = 0;
  await pause(delayMs, undefined, { signal }).catch(() => undefined);
  while (!signal.aborted) {
    const answer = await ask(path, tag === undefined ? {} : { "if-none-match": tag });
    if (answer.status !== 200 && answer.status !== 304)
      throw new Error(`GET ${path}: ${answer.status}`);
    tag = answer.etag ?? tag;
    count += 1;
    await pause(everyMs, undefined, { signal }).catch(() => undefined);
  }
  return count;
}
