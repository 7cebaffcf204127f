/**
 * Proof: hostile bodies of one key neither end a gateway with a heap of 512 MB nor hurt another
 * key. `npm run proof:bodies`. Linux only: memory is read from `/proc`. Exits with 1 where a goal
 * is missed.
 */

import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { chat, createKey, MESSAGES } from "../system/support/client.ts";
import { eventually } from "../system/support/eventually.ts";
import { type GatewayProcess, startGateway } from "../system/support/gateway-process.ts";
import { createNativeUpstream } from "../system/support/native-upstream.ts";
import { type Attack, ATTACKS } from "./bodies-attack.ts";

/** `--only deep` runs the attacks whose name holds it. */
const { values } = parseArgs({ options: { only: { type: "string" } } });
const HEAP_MB = 512;
const MAX_RSS_MB = 700;
const MAX_TURN_MS = 50;
const QUIET_SECONDS = 3;
const VICTIM_EVERY_MS = 50;
/** How long an attack is watched, at most. */
const ATTACK_SECONDS = 10;

const WHOLE = JSON.stringify({
  id: "c",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

/**
 * Latencies of one request every 50 ms of another key until `isOver`, sorted; and how many failed.
 */
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
    const call = chat(
      gateway,
      { model: "gpt-4o", messages: MESSAGES },
      { headers: { authorization: `Bearer ${key}` } },
    )
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

const p99 = (sorted: readonly number[]): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))] ?? 0;

function rssMb(pid: number): number {
  const [, kilobytes = "0"] =
    /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1_024;
}

/** The longest turn since the last time this was asked, in milliseconds of CPU. */
async function longestTurnMs(gateway: GatewayProcess): Promise<number> {
  const from = gateway.stderr.length;
  gateway.signal("SIGUSR2");
  const line = await eventually(
    "the loop probe",
    () => /^loop (.*)$/m.exec(gateway.stderr.slice(from))?.[1],
  );
  return (JSON.parse(line) as { mostMs: number }).mostMs;
}

const upstream = await createNativeUpstream();
upstream.answer((response) =>
  response.writeHead(200, { "content-type": "application/json" }).end(WHOLE),
);
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
    for (const [index, [name]] of ATTACKS.entries()) {
      if (values.only !== undefined && !name.includes(values.only)) continue;
      const { key } = await createKey(gateway, fields);
      const quiet = await victim(gateway, other.key, until(QUIET_SECONDS));
      await longestTurnMs(gateway);
      const statuses: number[] = [];
      let peak = rssMb(gateway.pid);
      const watch = setInterval(() => (peak = Math.max(peak, rssMb(gateway.pid))), 25);
      const thread = new Worker(new URL("bodies-attack.ts", import.meta.url), {
        workerData: { url: gateway.publicUrl, key, index } satisfies Attack,
      });
      let isOver = false;
      thread.on("message", (message: number | "over") => {
        if (message === "over") isOver = true;
        else statuses.push(message);
      });
      const isLate = until(ATTACK_SECONDS);
      const beside = await victim(gateway, other.key, () => isLate() || isOver);
      clearInterval(watch);
      const turnMs = await longestTurnMs(gateway);
      await thread.terminate();
      const counts = Object.fromEntries(
        [...new Set(statuses)].map((status) => [
          status,
          statuses.filter((each) => each === status).length,
        ]),
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
