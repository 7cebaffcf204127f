/**
 * `npm run bench:instructions`: instructions of each server for one request, counted by valgrind.
 * The count is that of all threads in user mode, and does not depend on what else the machine does.
 */

import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { checkOut } from "./checkout.ts";
import { startLoad, type LoadProcess } from "./load/load-process.ts";
import { runSlice } from "./load/slice.ts";
import { SCENARIOS, SNAPSHOT_MODEL, type Scenario } from "./scenarios.ts";
import { median } from "./statistics.ts";
import { freePort, startServer, type Launch, type Target } from "./target.ts";
import { targets } from "./targets/index.ts";

const UPSTREAM = fileURLToPath(new URL("load/upstream.ts", import.meta.url));
/** For a start, and for an answer of the load: valgrind runs a program fifty times slower. */
const LIMIT_MS = 900_000;

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "floor,sluice" },
    scenario: { type: "string", default: "whole c=32" },
    against: { type: "string" },
    warm: { type: "string", default: "8000" },
    count: { type: "string", default: "1000" },
    parts: { type: "string", default: "3" },
  },
});

if (spawnSync("valgrind", ["--version"]).status === 0) await countAll();
else {
  console.error("valgrind is not installed. Install it, or read the CPU times of `npm run bench`.");
  process.exitCode = 2;
}

async function countAll(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "sluice-instructions-"));
  const load = startLoad(LIMIT_MS);
  const port = await freePort();
  const upstream = await startServer(
    {
      command: process.execPath,
      args: [UPSTREAM, "--port", String(port), "--model", SNAPSHOT_MODEL],
    },
    { directory, port },
    "load",
  );
  try {
    const names = values.only.split(",");
    const other = values.against === undefined ? undefined : checkOut(values.against);
    const wanted = targets(other).filter(({ name }) =>
      names.some((one) => name === one || name === `${one}${other?.suffix}`),
    );
    for (const scenario of SCENARIOS.filter(({ name }) => name.includes(values.scenario))) {
      console.log(`\n## ${scenario.name}, instructions for each request\n`);
      let floor: number | undefined;
      for (const target of wanted) {
        // oxlint-disable-next-line no-await-in-loop -- two at once would share the load.
        const counts = await countTarget(target, scenario, load, directory, port);
        floor ??= target.name === "floor" ? median(counts) : undefined;
        console.log(lineOf(target.name, counts, floor));
      }
    }
  } finally {
    load.stop();
    await upstream.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

function lineOf(name: string, counts: readonly number[], floor: number | undefined): string {
  const shown = counts.map((count) => `${(count / 1_000).toFixed(0)} k`).join(", ");
  const ratio = floor === undefined ? "" : `, ${(median(counts) / floor).toFixed(2)} of the floor`;
  return `${name}: ${shown}${ratio}`;
}

/** Instructions for one request in each part, after the warm-up. Throws when it does not start. */
async function countTarget(
  target: Target,
  scenario: Scenario,
  load: LoadProcess,
  parent: string,
  upstreamPort: number,
): Promise<number[]> {
  const directory = mkdtempSync(join(parent, `${target.name}-`));
  const upstreamUrl = `http://127.0.0.1:${upstreamPort}`;
  const context = { directory, upstreamUrl, port: await freePort(), nodeFlags: [], isSlow: true };
  const launch = await target.prepare(context);
  if ("skip" in launch) throw new Error(`${target.name} cannot be started: ${launch.skip}`);
  const server = await startServer(counted(launch, directory), context, "server");
  try {
    await launch.prepared?.();
    await runSlice(load, server, scenario, Number(values.warm));
    const counts: number[] = [];
    while (counts.length < Number(values.parts)) {
      control("--zero", server.pid);
      // oxlint-disable-next-line no-await-in-loop -- one part after the other.
      await runSlice(load, server, scenario, Number(values.count));
      control("--dump", server.pid);
      // A slice opens its connections, and sends one request more on each.
      counts.push(newestTotal(directory) / (Number(values.count) + scenario.concurrency));
    }
    return counts;
  } finally {
    await server.stop();
  }
}

function counted({ command, args, ...launch }: Launch, directory: string): Launch {
  // `all-non-file`: code that V8 writes over must be read again.
  const flags = [
    "--tool=callgrind",
    "--smc-check=all-non-file",
    `--callgrind-out-file=${join(directory, "counts")}`,
  ];
  return {
    ...launch,
    command: "valgrind",
    args: [...flags, command, ...args],
    startLimitMs: LIMIT_MS,
  };
}

function control(what: "--zero" | "--dump", pid: number): void {
  execFileSync("callgrind_control", [what, String(pid)], { stdio: "ignore" });
}

/** The instructions in the dump with the highest number. */
function newestTotal(directory: string): number {
  const newest = readdirSync(directory)
    .map((name) => Number(/^counts\.(\d+)$/.exec(name)?.[1] ?? 0))
    .reduce((most, number) => Math.max(most, number), 0);
  const text = readFileSync(join(directory, `counts.${newest}`), "utf8");
  const total = /^totals: (\d+)/m.exec(text)?.[1];
  if (total === undefined) throw new Error("The dump of callgrind has no line `totals`.");
  return Number(total);
}
