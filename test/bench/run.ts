/**
 * `npm run bench`: all targets in one run, in turn, slice by slice. `--help` says which flags there
 * are.
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CheckoutError, checkOut } from "./checkout.ts";
import { checkTargets, collect } from "./report/collect.ts";
import { compareCommits } from "./report/compare-commits.ts";
import { CAN_PIN } from "./cores.ts";
import { startLoad, type LoadProcess } from "./load/load-process.ts";
import { HELP, readOptions, type BenchOptions } from "./options.ts";
import { keepProfile, topFunctions } from "./profile.ts";
import { judge } from "./report/goals.ts";
import {
  headline,
  section,
  summarize,
  table,
  type ScenarioResult,
  type TargetSlices,
} from "./report/tables.ts";
import { MODEL, SCENARIOS, SNAPSHOT_MODEL, type Scenario } from "./scenarios.ts";
import { runSlice, warmUp, type Slice } from "./load/slice.ts";
import { freePort, startServer, type RunningServer, type Target } from "./target.ts";
import { targets } from "./targets/index.ts";
import type { Checkout } from "./targets/gateway/present.ts";

const UPSTREAM = fileURLToPath(new URL("load/upstream.ts", import.meta.url));
const EXIT_ON_SIGTERM = new URL("exit-on-sigterm.ts", import.meta.url).href;
/** Outlives the run. */
const PROFILES = fileURLToPath(new URL("../../node_modules/.cache/profiles", import.meta.url));
const RESULTS = fileURLToPath(new URL("results.md", import.meta.url));
/** A server that idles while all others are warmed cools down: each is warmed in so many turns. */
const WARM_TURNS = 5;

const options = readOptions();
if (options === undefined) console.log(HELP);
else {
  try {
    await bench(options, options.against === undefined ? undefined : checkOut(options.against));
  } catch (error) {
    if (!(error instanceof CheckoutError)) throw error;
    console.error(error.message);
    process.exitCode = 2;
  }
}

async function bench(options: BenchOptions, other: Checkout | undefined): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "sluice-bench-"));
  const servers = new Map<string, RunningServer>();
  const replyModel = options.sameModel ? MODEL : SNAPSHOT_MODEL;
  const upstream = await startUpstream(directory, replyModel);
  const load = startLoad();
  const stopAll = async () => {
    load.stop();
    await Promise.all([...servers.values(), upstream].map((server) => server.stop()));
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => void stopAll().finally(() => process.exit(130)));

  try {
    const notes = CAN_PIN ? [] : ["processes are not pinned to cores"];
    notes.push(
      ...(await startTargets(
        options,
        directory,
        `http://127.0.0.1:${upstream.port}`,
        servers,
        other,
      )),
    );
    const results: ScenarioResult[] = [];
    const comparisons: string[] = [];
    for (const scenario of SCENARIOS.filter(
      ({ name }) => options.scenario === undefined || name.includes(options.scenario),
    )) {
      checkTargets(options.collect, scenario.name, [...servers.keys()]);
      const measured = collect(
        options.collect,
        scenario.name,
        await runScenario(options, scenario, servers, load, notes),
      );
      const result = summarize(scenario.name, measured);
      results.push(result);
      console.log(`\n${table(result)}`);
      if (other !== undefined)
        comparisons.push(...compareCommits(scenario.name, measured, other.suffix));
    }
    if (comparisons.length > 0)
      console.log(["\n## This checkout ÷ the other commit\n", ...comparisons].join("\n"));
    const goals = judge(results);
    if (goals.length > 0) console.log(`\n## Goals\n\n${goals.join("\n")}\n`);
    for (const note of notes) console.log(`note: ${note}`);
    if (options.isComplete)
      writeFileSync(RESULTS, `${headline(options.command)}\n\n${section(results, notes)}\n`);
  } finally {
    await stopAll();
    if (options.profile) printProfiles(directory, [...servers.keys()]);
    rmSync(directory, { recursive: true, force: true });
  }
}

async function startUpstream(directory: string, model: string): Promise<RunningServer> {
  const port = await freePort();
  const args = [UPSTREAM, "--port", String(port), "--model", model];
  return startServer({ command: process.execPath, args }, { directory, port }, "load");
}

/** Starts what can be started. Returns a note for each target that is left out. */
async function startTargets(
  options: BenchOptions,
  directory: string,
  upstreamUrl: string,
  servers: Map<string, RunningServer>,
  other: Checkout | undefined,
): Promise<string[]> {
  const notes: string[] = [];
  const isWanted = ({ name, isOnRequest = false }: Target) =>
    options.only?.some((wanted) => name === wanted || name === `${wanted}${other?.suffix}`) ??
    !isOnRequest;
  for (const target of targets(other).filter(isWanted)) {
    const own = join(directory, target.name);
    mkdirSync(own);
    const nodeFlags =
      options.profile && target.isNode
        ? ["--cpu-prof", `--cpu-prof-dir=${own}`, "--import", EXIT_ON_SIGTERM]
        : [];
    const context = { directory: own, upstreamUrl, port: await freePort(), nodeFlags };
    try {
      const launch = await target.prepare(context);
      if ("skip" in launch) notes.push(`${target.name} is left out: ${launch.skip}`);
      else {
        servers.set(target.name, await startServer(launch, context, "server"));
        await launch.prepared?.();
      }
    } catch (error) {
      notes.push(`${target.name} is left out: it did not start. ${String(error)}`);
    }
  }
  return notes;
}

/**
 * One scenario on every server: warm all of them, then round by round a slice on each, another one
 * first each time.
 */
async function runScenario(
  options: BenchOptions,
  scenario: Scenario,
  servers: ReadonlyMap<string, RunningServer>,
  load: LoadProcess,
  notes: string[],
): Promise<TargetSlices[]> {
  const counts = await warmAll(options, scenario, servers, load, notes);
  const runs = [...servers].flatMap(([target, server]) => {
    const count = counts.get(target);
    return count === undefined ? [] : [{ target, server, count, slices: [] as Slice[] }];
  });
  for (let round = 0; round < options.rounds; round += 1) {
    for (let turn = 0; turn < runs.length; turn += 1) {
      const run = runs[(round + turn) % runs.length]!;
      run.slices.push(await runSlice(load, run.server, scenario, run.count));
    }
  }
  return runs;
}

/**
 * Warms all servers in turn. Returns how many requests make a slice of each; one that failed is
 * missing.
 */
async function warmAll(
  options: BenchOptions,
  scenario: Scenario,
  servers: ReadonlyMap<string, RunningServer>,
  load: LoadProcess,
  notes: string[],
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  const left = new Map(servers);
  const limits = { ...options, warmMs: options.warmMs / WARM_TURNS };
  for (let turn = 0; turn < WARM_TURNS; turn += 1) {
    for (const [target, server] of left) {
      try {
        counts.set(target, await warmUp(load, server, scenario, limits));
      } catch (error) {
        left.delete(target);
        counts.delete(target);
        notes.push(`${target} is left out of ${scenario.name}: ${String(error)}`);
      }
    }
  }
  return counts;
}

function printProfiles(directory: string, names: readonly string[]): void {
  for (const name of names) {
    const lines = topFunctions(join(directory, name), 40);
    if (lines.length === 0) continue;
    const kept = keepProfile(join(directory, name), join(PROFILES, `${name}.cpuprofile`));
    console.log(
      `\n## Profile of ${name}\n\n${lines.join("\n")}\n\nAs a flame graph: ${kept} in the performance panel of Chromium.`,
    );
  }
}
