/**
 * `npm run proof:faces`: what a black-box test asks of the faces, as figures. The tests of each point
 * run, and are counted. Then 1,000 streams of each face are open at once, in several rounds: the
 * memory of the gateway, the streams that are whole and in order, and the time in which upstreams
 * are left by clients that went away. `-- --only tests` or `-- --only streams` runs a part. The
 * first point, real agents, is `npm run proof:agents`. Ends with 1 when a test fails, a stream is
 * not whole or memory grows.
 */

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { residentMb } from "../bench/process-cost.ts";
import { eventually } from "../system/support/eventually.ts";
import {
  fourProviders,
  LANE,
  openCompletions,
  PROVIDER_ENVIRONMENT,
  withResponsesLane,
} from "../system/support/faces/four-providers.ts";
import { createScriptedModel, type ScriptedModel } from "../system/support/faces/scripted-model.ts";
import { askWire, sendWire, type WireName, WIRES } from "../system/support/faces/wires.ts";
import { type GatewayProcess, startGateway } from "../system/support/gateway-process.ts";
import { createWorkspace } from "../system/support/workspace.ts";

const FACES = "test/system/faces";
/** Each point with the files whose tests show it, and the part of their names. */
const POINTS: readonly (readonly [point: string, files: readonly string[], names?: string])[] = [
  ["recorded replies, byte for byte on lanes, folded by SDKs on bridges", ["recorded"]],
  ["three turns of signed thoughts", ["../scale/faces"], "three turns"],
  ["fallbacks between lanes and bridges", ["fallback"]],
  ["each class of error in the class of each SDK", ["vendor-errors"]],
  ["usage of client and row by the rules of each dialect", ["matrix"], "usage"],
  [
    "guardrails block, mask and restore",
    ["guarded-replies", "guarded-lane", "guarded-server-tools"],
  ],
  [
    "what a key may not use looks like what does not exist",
    ["hostile-requests", "stored/background"],
    "key",
  ],
  ["limits and budgets", ["limits", "compaction"]],
  ["clients that leave are billed as on chat", ["aborts"]],
  ["1,000 streams at once, and clients that leave them", ["../scale/faces"], "streams of"],
  ["what the gateway does not know", ["../scale/faces"], "does not know"],
  ["every cell of the matrix", ["matrix"]],
];

const STREAMS = 1_000;
const ROUNDS = 5;
const LEAVING = 200;
/** Of the resident memory, from the third round to the last one. */
const MAX_GROWTH = 0.15;
const WORDS = Array.from({ length: 10 }, (_, index) => `w${index} `);

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    /** Faces whose name holds it. */
    face: { type: "string", default: "" },
  },
});

if (values.only !== "streams") for (const point of POINTS) countTests(...point);
if (values.only !== "tests") await measureStreams();

/** Runs the tests of a point and prints their number. */
function countTests(point: string, files: readonly string[], names?: string): void {
  const directory = mkdtempSync(join(tmpdir(), "sluice-faces-"));
  const output = join(directory, "tests.json");
  const run = spawnSync(
    "npx",
    [
      "vitest",
      "run",
      "--project=system",
      "--project=further",
      "--project=processes",
      "--project=long",
      "--reporter=json",
      `--outputFile.json=${output}`,
      ...(names === undefined ? [] : ["-t", names]),
      ...files.map((file) => join(FACES, `${file}.test.ts`)),
    ],
    { encoding: "utf8", stdio: ["ignore", "ignore", "pipe"] },
  );
  try {
    const { numPassedTests: passed, numFailedTests: failed } = JSON.parse(
      readFileSync(output, "utf8"),
    ) as { readonly numPassedTests: number; readonly numFailedTests: number };
    say(failed === 0 && passed > 0, `${point}: ${passed} of ${passed + failed} tests`);
  } catch {
    say(false, `${point}: no result. ${run.stderr.slice(-400)}`);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function measureStreams(): Promise<void> {
  const model = await createScriptedModel();
  const workspace = createWorkspace(withResponsesLane(model.url, fourProviders(model.url)));
  openCompletions(workspace);
  const gateway = await startGateway(workspace, PROVIDER_ENVIRONMENT);
  try {
    const lanes = [
      ["messages", "anthropic"],
      ["responses", LANE],
      ["gemini", "gemini"],
    ] as const;
    const all = [...WIRES.map((wire) => [wire, "openai"] as const), ...lanes];
    for (const [wire, id] of all.filter(([wire]) => wire.includes(values.face))) {
      // oxlint-disable-next-line no-await-in-loop -- one face after the other.
      await measureFace({ gateway, model }, wire, id);
    }
  } finally {
    await gateway.dispose();
    workspace.remove();
    await model.close();
  }
}

interface Place {
  readonly gateway: GatewayProcess;
  readonly model: ScriptedModel;
}

async function measureFace(place: Place, wire: WireName, id: string): Promise<void> {
  const { gateway, model } = place;
  const memory: number[] = [];
  let whole = 0;
  for (let round = 0; round < ROUNDS; round++) {
    model.says({ text: WORDS.join(""), piece: 3 });
    const question = { model: id, stream: true };
    // oxlint-disable-next-line no-await-in-loop -- one round after the other.
    const replies = await Promise.all(
      Array.from({ length: STREAMS }, () => askWire(gateway, wire, question)),
    );
    whole += replies.filter(({ end, text }) => end === "whole" && text === WORDS.join("")).length;
    memory.push(residentMb(gateway.pid));
  }
  const times = await leave(place, wire, id);
  const growth = (memory.at(-1) ?? 0) / (memory[2] ?? 0) - 1;
  const name = wire === "chat" ? wire : `${wire}, ${id === "openai" ? "bridge" : "native lane"}`;
  say(
    whole === ROUNDS * STREAMS && growth <= MAX_GROWTH,
    `${name}: ${whole} of ${ROUNDS * STREAMS} streams whole and in order, ${STREAMS} at once; ` +
      `resident memory behind the rounds ${memory.map((mb) => mb.toFixed(0)).join(", ")} MB; ` +
      `${LEAVING} clients left: the last upstream closed after ${times.toFixed(0)} ms`,
  );
}

/** Milliseconds until the last upstream of clients that leave together is closed. */
async function leave({ gateway, model }: Place, wire: WireName, id: string): Promise<number> {
  model.says({ text: WORDS.join(""), piece: 3, silentBefore: "w5" });
  const { closed } = model;
  const leaving = new AbortController();
  const question = { model: id, stream: true };
  await Promise.all(
    Array.from({ length: LEAVING }, async () => {
      const response = await sendWire(gateway, wire, question, { signal: leaving.signal });
      await response.body?.getReader().read();
    }),
  );
  const sinceMs = performance.now();
  leaving.abort();
  await eventually("the upstreams are left", () => model.closed === closed + LEAVING);
  return performance.now() - sinceMs;
}

function say(isRight: boolean, text: string): void {
  console.log(`${isRight ? "ok  " : "FAIL"}  ${text}`);
  if (!isRight) process.exitCode = 1;
}
