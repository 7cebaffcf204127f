/**
 * `npm run bench:reload`: latencies at a fixed rate while an edit is applied each second, beside
 * those of quiet seconds of the same server, and the longest turn of its event loop.
 */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { checkOut } from "./checkout.ts";
import { startLoad, type LoadProcess } from "./load/load-process.ts";
import { requestOf, runSlice } from "./load/slice.ts";
import type { PacedResultMessage } from "./messages.ts";
import { SCENARIOS, SNAPSHOT_MODEL } from "./scenarios.ts";
import { median } from "./statistics.ts";
import { freePort, startServer, type RunningServer } from "./target.ts";
import { applyEdit } from "./targets/gateway/apply-edit.ts";
import { launch, type GatewayLaunch } from "./targets/gateway/launch.ts";
import { PRESENT, type Checkout } from "./targets/gateway/present.ts";

const UPSTREAM = fileURLToPath(new URL("load/upstream.ts", import.meta.url));
const PROBE = new URL("../soak/loop-probe.ts", import.meta.url).href;
const PROBE_LIMIT_MS = 5_000;
const SCENARIO = SCENARIOS.find(({ name }) => name === "whole c=32")!;

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "8" },
    seconds: { type: "string", default: "4" },
    rate: { type: "string", default: "200" },
    warm: { type: "string", default: "12000" },
    against: { type: "string" },
  },
});
const seconds = Number(values.seconds);

/** A gateway under edits. */
interface Edited {
  readonly name: string;
  readonly launched: GatewayLaunch;
  readonly server: RunningServer;
  readonly log: string;
  readonly rounds: Round[];
  edits: number;
}

interface Round {
  readonly quiet: PacedResultMessage;
  readonly edited: PacedResultMessage;
  readonly editMs: readonly number[];
  readonly turnMs: number;
}

const directory = mkdtempSync(join(tmpdir(), "sluice-reload-"));
const load = startLoad();
const port = await freePort();
const upstream = await startServer(
  {
    command: process.execPath,
    args: [UPSTREAM, "--port", String(port), "--model", SNAPSHOT_MODEL],
  },
  { directory, port },
  "load",
);
const gateways: Edited[] = [];
try {
  const checkouts = [PRESENT, ...(values.against === undefined ? [] : [checkOut(values.against)])];
  for (const checkout of checkouts) gateways.push(await start(checkout));
  for (let round = 0; round < Number(values.rounds); round += 1)
    for (const gateway of gateways) gateway.rounds.push(await measure(gateway, load));
  for (const gateway of gateways) print(gateway);
} finally {
  load.stop();
  await Promise.all([...gateways.map(({ server }) => server.stop()), upstream.stop()]);
  rmSync(directory, { recursive: true, force: true });
}

async function start(checkout: Checkout): Promise<Edited> {
  const own = mkdtempSync(join(directory, "gateway-"));
  const context = {
    directory: own,
    upstreamUrl: `http://127.0.0.1:${port}`,
    port: await freePort(),
    nodeFlags: ["--import", PROBE],
  };
  const launched = await launch(checkout, context);
  if ("skip" in launched) throw new Error(launched.skip);
  const server = await startServer(launched, context, "server");
  await runSlice(load, server, SCENARIO, Number(values.warm));
  const name = `sluice${checkout.suffix}`;
  return { name, launched, server, log: join(own, "output.log"), rounds: [], edits: 0 };
}

async function measure(gateway: Edited, by: LoadProcess): Promise<Round> {
  const quiet = await window(gateway, by);
  await longestTurnMs(gateway);
  const editMs: number[] = [];
  const loaded = window(gateway, by);
  for (let second = 0; second < seconds; second += 1) {
    const beganMs = performance.now();
    await edit(gateway);
    editMs.push(performance.now() - beganMs);
    await pause(Math.max(0, beganMs + 1_000 - performance.now()));
  }
  const edited = await loaded;
  return { quiet, edited, editMs, turnMs: await longestTurnMs(gateway) };
}

/** So many seconds of the load. Throws when a request fails. */
async function window({ server }: Edited, by: LoadProcess): Promise<PacedResultMessage> {
  await by.prepare(requestOf(server, SCENARIO));
  const result = await by.paced({ perSecond: Number(values.rate), seconds });
  if (result.failed > 0) throw new Error(`${result.failed} requests did not get status 200.`);
  return result;
}

/** Adds a model, or names it otherwise, and waits until that serves. */
async function edit(gateway: Edited): Promise<void> {
  const { configFile } = gateway.launched;
  gateway.edits += 1;
  const line = `  - { id: edited-${gateway.edits}, targets: [{ provider: openai, model: gpt-4o-mini }] }\n`;
  const text = readFileSync(configFile, "utf8").replace(/^ {2}- \{ id: edited-.*\n/m, "");
  writeFileSync(configFile, text.replace(/^prices:/m, `${line}prices:`));
  await applyEdit(gateway.launched);
}

/** What one turn took of the thread's CPU at most since it was asked last. */
async function longestTurnMs({ server, log }: Edited): Promise<number> {
  const lines = () => readFileSync(log, "utf8").match(/^loop .*$/gm) ?? [];
  const before = lines().length;
  process.kill(server.pid, "SIGUSR2");
  const untilMs = performance.now() + PROBE_LIMIT_MS;
  while (lines().length === before) {
    if (performance.now() > untilMs) throw new Error("The server does not say its longest turn.");
    await pause(10);
  }
  return (JSON.parse(lines().at(-1)!.slice("loop ".length)) as { readonly mostMs: number }).mostMs;
}

function print({ name, rounds }: Edited): void {
  const middle = (pick: (round: Round) => number) => median(rounds.map(pick));
  const figure = (pick: (round: Round) => number) => middle(pick).toFixed(1);
  const ratio = middle(({ quiet, edited }) => edited.p99Ms / quiet.p99Ms);
  const turnMs = middle((round) => round.turnMs);
  console.log(`
## ${name}: ${values.rate} requests/s, an edit each second, medians of ${rounds.length} rounds

| | p50 ms | p99 ms | max ms |
|---|---|---|---|
| quiet | ${figure(({ quiet }) => quiet.p50Ms)} | ${figure(({ quiet }) => quiet.p99Ms)} | ${figure(({ quiet }) => quiet.maxMs)} |
| edited | ${figure(({ edited }) => edited.p50Ms)} | ${figure(({ edited }) => edited.p99Ms)} | ${figure(({ edited }) => edited.maxMs)} |

An edit serves after ${figure(({ editMs }) => median(editMs))} ms. Longest turn, CPU: ${turnMs.toFixed(1)} ms.

- ${ratio <= 1.5 ? "met" : "**missed**"}: p99 under edits at most 1.5 times the quiet one (${ratio.toFixed(2)})
- ${turnMs < 10 ? "met" : "**missed**"}: the longest turn takes less than 10 ms of CPU (${turnMs.toFixed(1)})`);
}
