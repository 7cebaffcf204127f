/**
 * `npm run bench:faces`: what a stream through a face costs beside one through chat completions, on
 * one gateway: slices of all scenarios in turn, and the ratio of their CPU within each round.
 */

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startLoad } from "./load/load-process.ts";
import { runSlice, type Slice, warmUp } from "./load/slice.ts";
import { FACE_SCENARIOS, GEMINI_MODEL, SCENARIOS, SNAPSHOT_MODEL } from "./scenarios.ts";
import { freePort, startServer } from "./target.ts";
import { launch as launchGateway } from "./targets/gateway/launch.ts";
import { completingPipelines } from "./targets/gateway/pipelines.ts";
import { PRESENT } from "./targets/gateway/present.ts";

const UPSTREAM = fileURLToPath(new URL("load/upstream.ts", import.meta.url));
/** The stream that the others are compared with. */
const BASE = "burst stream c=32";
/** What is promised of a lane and of a bridge. */
const MAX_LANE = 1.1;
const MAX_BRIDGE = 1.6;

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "40" },
    warm: { type: "string", default: "6" },
    slice: { type: "string", default: "0.4" },
    scenario: { type: "string", default: "" },
  },
});

const scenarios = [...SCENARIOS, ...FACE_SCENARIOS]
  .filter(
    ({ name, isBurst }) => isBurst === true && (name === BASE || name.includes(values.scenario)),
  )
  .filter(({ name }) => name === BASE || /^(?:messages|responses|gemini|completions)\b/.test(name));
const directory = mkdtempSync(join(tmpdir(), "sluice-faces-"));
const load = startLoad();
const port = await freePort();
const args = [UPSTREAM, "--port", String(port), "--model", SNAPSHOT_MODEL];
const upstream = await startServer(
  { command: process.execPath, args },
  { directory, port },
  "load",
);
const own = join(directory, "sluice");
mkdirSync(own);
const context = {
  directory: own,
  upstreamUrl: `http://127.0.0.1:${port}`,
  port: await freePort(),
  nodeFlags: [],
};
const launch = await launchGateway(PRESENT, context, {
  pipelines: completingPipelines(join(PRESENT.root, "pipelines"), own),
  plugins: ["provider-google"],
  providers: `  gemini: { use: gemini, api_key: "\${env:OPENAI_API_KEY}", base_url: "${context.upstreamUrl}" }\n`,
  models: `  - id: ${GEMINI_MODEL}\n    targets: [{ provider: gemini, model: ${GEMINI_MODEL} }]\n`,
});
if ("skip" in launch) throw new Error("The gateway cannot be started.");
const server = await startServer(launch, context, "server");
try {
  await launch.prepared?.();
  const counts = new Map<string, number>();
  const limits = { warmMs: Number(values.warm) * 1_000, sliceMs: Number(values.slice) * 1_000 };
  // One after the other, and again: V8 has compiled for all of them then.
  for (const warmMs of [limits.warmMs / 2, limits.warmMs / 2])
    for (const scenario of scenarios)
      counts.set(scenario.name, await warmUp(load, server, scenario, { ...limits, warmMs }));
  const slices = new Map(scenarios.map(({ name }) => [name, [] as Slice[]]));
  const cpuOf = (name: string): number[] => (slices.get(name) ?? []).map(({ cpuUs }) => cpuUs);
  for (let round = 0; round < Number(values.rounds); round++)
    for (let turn = 0; turn < scenarios.length; turn++) {
      const scenario = scenarios[(round + turn) % scenarios.length]!;
      const slice = await runSlice(load, server, scenario, counts.get(scenario.name) ?? 64);
      slices.get(scenario.name)?.push(slice);
    }
  const base = cpuOf(BASE);
  for (const { name, isNative, isTranslated } of scenarios) {
    const own = cpuOf(name);
    const reads = quantile(
      (slices.get(name) ?? []).map((slice) => slice.reads),
      0.5,
    );
    const ratio = quantile(
      own.map((us, at) => us / (base[at] ?? Number.NaN)),
      0.5,
    );
    const isLane = isNative === true || isTranslated === true;
    const goal = name === BASE ? "" : `, at most ${isLane ? MAX_LANE : MAX_BRIDGE}`;
    console.log(
      `${name}: ${quantile(own, 0.1).toFixed(0)} to ${quantile(own, 0.5).toFixed(0)} µs; ${ratio.toFixed(2)} of chat in its round, ${(quantile(own, 0.1) / quantile(base, 0.1)).toFixed(2)} of the best tenths, ${reads.toFixed(2)} reads${goal}`,
    );
  }
} finally {
  load.stop();
  await Promise.all([server.stop(), upstream.stop()]);
  rmSync(directory, { recursive: true, force: true });
}

function quantile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? Number.NaN;
}
