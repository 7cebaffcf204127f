/**
 * `npm run proof:heap`: how much of what requests allocate outlives them. An object that refers
 * from one request to the next keeps all of them until a full collection: see
 * core/decisions/2026-11-20-heap.md. Counts bytes of V8's young collections, no time. Ends with 1
 * when a goal is missed.
 */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startLoad } from "../bench/load/load-process.ts";
import { runSlice, warmUp } from "../bench/load/slice.ts";
import { MODEL, SCENARIOS } from "../bench/scenarios.ts";
import { freePort, startServer, type RunningServer } from "../bench/target.ts";
import { PRESENT } from "../bench/targets/gateway/present.ts";
import { sluiceTargets } from "../bench/targets/sluice.ts";

const UPSTREAM = fileURLToPath(new URL("../bench/load/upstream.ts", import.meta.url));
/** Slices of the load, until there are enough collections. */
const MAX_SLICES = 60;
/** Of the bytes that were allocated since the last young collection, in the median one. */
const MAX_SURVIVED = 0.06;
const MIN_COLLECTIONS = 20;
const CASES = [
  ["sluice", "whole c=32"],
  ["sluice", "burst stream c=32"],
  ["sluice-limits", "whole c=32"],
  ["sluice-guardrails", "whole c=32"],
] as const;

const directory = mkdtempSync(join(tmpdir(), "sluice-heap-"));
const load = startLoad();
const port = await freePort();
const upstream = await startServer(
  { command: process.execPath, args: [UPSTREAM, "--port", String(port), "--model", MODEL] },
  { directory, port },
  "load",
);
try {
  for (const [target, scenario] of CASES) {
    const shares = await survivors(target, scenario);
    const middle = shares.toSorted((a, b) => a - b)[Math.floor(shares.length / 2)] ?? 1;
    const isKept = shares.length >= MIN_COLLECTIONS && middle <= MAX_SURVIVED;
    const seen = `${(middle * 100).toFixed(1)} % survive in the median of ${shares.length} collections`;
    console.log(
      `${isKept ? "ok  " : "MISS"}  ${target}, ${scenario}: ${seen} (goal: ${MAX_SURVIVED * 100} %)`,
    );
    if (!isKept) process.exitCode = 1;
  }
} finally {
  load.stop();
  await upstream.stop();
  rmSync(directory, { recursive: true, force: true });
}

/**
 * The surviving share of each young collection under the load of a scenario, the first collections
 * left out.
 */
async function survivors(name: string, scenarioName: string): Promise<readonly number[]> {
  const target = sluiceTargets(PRESENT).find((one) => one.name === name);
  const scenario = SCENARIOS.find((one) => one.name === scenarioName);
  if (target === undefined || scenario === undefined)
    throw new Error(`There is no target ${name} or no scenario ${scenarioName}.`);
  const own = mkdtempSync(join(directory, "server-"));
  const context = {
    directory: own,
    upstreamUrl: `http://127.0.0.1:${port}`,
    port: await freePort(),
  };
  const launch = await target.prepare({ ...context, nodeFlags: ["--trace-gc-nvp"] });
  if ("skip" in launch) throw new Error(launch.skip);
  const server: RunningServer = await startServer(launch, context, "server");
  let before = 0;
  try {
    const count = await warmUp(load, server, scenario, { warmMs: 3_000, sliceMs: 800 });
    before = collectionsIn(own).length;
    for (
      let slice = 0;
      slice < MAX_SLICES && collectionsIn(own).length < before + MIN_COLLECTIONS;
      slice += 1
    ) {
      // oxlint-disable-next-line no-await-in-loop -- one slice after the other.
      await runSlice(load, server, scenario, count);
    }
  } finally {
    await server.stop();
  }
  return collectionsIn(own).slice(before);
}

function collectionsIn(folder: string): readonly number[] {
  const lines = readFileSync(join(folder, "output.log"), "utf8").split("\n");
  return lines.flatMap((line) => {
    // Small collections are those of other threads.
    const survived = Number(/ new_space_survived=(\d+)/.exec(line)?.[1]);
    const allocated = Number(/ allocated=(\d+)/.exec(line)?.[1]);
    return line.includes(" gc=s ") && allocated > 10_000_000 ? [survived / allocated] : [];
  });
}
