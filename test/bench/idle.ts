/**
 * `npm run bench:idle`: what a gateway costs that serves nothing: its start, its memory, the
 * memory of each open stream, and the time of a command; beside them the start of a bare Koa server
 * and the open streams of the floor. `-- --against <folder>` measures another checkout beside this
 * one, interleaved.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { bareKoa, gatewayOf, type Started } from "./idle/start.ts";
import { timeCommand } from "./idle/command.ts";
import {
  memoryPerStream,
  prepareFloor,
  prepareGateway,
  type StreamMemory,
} from "./idle/streams.ts";
import { PRESENT } from "./targets/gateway/present.ts";
import { median } from "./statistics.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "8" },
    streams: { type: "string", default: "1000,5000" },
    settle: { type: "string", default: "12" },
    against: { type: "string" },
  },
});
const rounds = Number(values.rounds);
const settleMs = Number(values.settle) * 1_000;
const roots = [PRESENT.root, ...(values.against === undefined ? [] : [resolve(values.against)])];

interface Figures {
  readonly readyMs: number[];
  readonly readyCpuMs: number[];
  readonly idleMb: number[];
  readonly commands: Map<string, number[]>;
}

const figures = new Map(roots.map((root): [string, Figures] => [root, emptyFigures()]));
const floor: Pick<Figures, "readyMs" | "readyCpuMs" | "idleMb"> = emptyFigures();
const COMMANDS = [["--version"], ["check"]];

for (let round = 0; round < rounds; round++) {
  await look(floor, bareKoa, 500);
  for (const root of roots) {
    const found = figures.get(root) ?? emptyFigures();
    for (const command of COMMANDS) {
      const name = command.join(" ");
      found.commands.set(name, [...(found.commands.get(name) ?? []), timeCommand(root, command)]);
    }
    await look(found, (directory) => gatewayOf(root, directory), settleMs);
  }
  process.stderr.write(`round ${round + 1} of ${rounds}\n`);
}
console.log(
  `medians of ${rounds} interleaved rounds; memory ${settleMs / 1_000} s after the start\n`,
);
print("bare Koa", floor);
for (const [root, found] of figures) {
  const ratio = (of: "readyMs" | "readyCpuMs"): string =>
    `${(median(found[of]) / median(floor[of])).toFixed(1)} × bare Koa`;
  print(root, found);
  console.log(`  ready: wall ${ratio("readyMs")}, CPU ${ratio("readyCpuMs")}`);
  goal("ready, wall, of bare Koa", median(found.readyMs) / median(floor.readyMs), 6);
  goal("idle memory, MB", median(found.idleMb), 110);
  for (const [name, times] of found.commands) {
    const ratioToFloor = median(times) / median(floor.readyCpuMs);
    if (name === "check") goal("`sluice check`, of bare Koa", ratioToFloor, 4);
    console.log(
      `  sluice ${name}: ${median(times).toFixed(0)} ms CPU, ${ratioToFloor.toFixed(1)} × bare Koa`,
    );
  }
}
for (const streams of values.streams.split(",").map(Number)) {
  printStreams("the floor", streams, await memoryPerStream(prepareFloor, streams));
  for (const root of roots)
    printStreams(root, streams, await memoryPerStream(prepareGateway(root), streams), 15);
}

function printStreams(
  name: string,
  streams: number,
  { heldKb, residentKb }: StreamMemory,
  atMostKb?: number,
): void {
  console.log(
    `${name}, each of ${streams} open streams: ${heldKb.toFixed(1)} KB held, ${residentKb.toFixed(1)} KB resident`,
  );
  if (atMostKb !== undefined) goal("KB held by an open stream", heldKb, atMostKb);
}

function goal(what: string, figure: number, atMost: number): void {
  const verdict = figure <= atMost ? "met" : "missed";
  console.log(`  ${verdict}: ${what}: at most ${atMost} (${figure.toFixed(1)})`);
}

function print(name: string, { readyMs, readyCpuMs, idleMb }: typeof floor): void {
  console.log(
    `${name}: ready after ${median(readyMs).toFixed(0)} ms, ${median(readyCpuMs).toFixed(0)} ms CPU; ${median(idleMb).toFixed(0)} MB idle`,
  );
}

async function look(
  found: typeof floor,
  start: (directory: string) => Promise<Started>,
  waitMs: number,
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "sluice-idle-"));
  try {
    const started = await start(directory);
    found.readyMs.push(started.readyMs);
    found.readyCpuMs.push(started.readyCpuMs);
    found.idleMb.push(await started.residentAfter(waitMs));
    await started.stop();
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function emptyFigures(): Figures {
  return { readyMs: [], readyCpuMs: [], idleMb: [], commands: new Map() };
}
