/**
 * Plugins that block the event loop: the process serves no client meanwhile, so the log and the
 * metrics name the plugin.
 */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { admin, chat, MESSAGES } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace } from "../support/workspace.ts";

/** Holds the loop for as many milliseconds as `x-hold` says, in the way that `x-how` says. */
const STEP = `
import { execFileSync } from "node:child_process";
import { defineStep } from "@sluice/kit";

function compute(ms) {
  const endMs = performance.now() + ms;
  let sum = 0;
  while (performance.now() < endMs) sum += Math.sqrt(sum + 1);
  return sum;
}

const ways = {
  async compute(ms) { compute(ms); },
  async later(ms) { await new Promise((resolve) => setTimeout(resolve, 5)); compute(ms); },
  async wait(ms) { execFileSync("sleep", [String(ms / 1000)]); },
};

export default defineStep({
  name: "NAME",
  stability: "experimental",
  summary: "Holds the loop.",
  config: { type: "object", properties: {} },
  create: () => ({
    async run({ exchange }, next) {
      if (exchange.client.header("x-who") === "NAME") await ways[exchange.client.header("x-how")](Number(exchange.client.header("x-hold")));
      await next();
    },
  }),
});
`;

/**
 * Far above what a busy machine takes from a process, and below the blocks that are to be named.
 */
const WARNING = "block_warning: 500ms";
/** A block that is named after its end, in milliseconds: one of 2 s is named while it lasts. */
const BLOCK_MS = 1_500;
/** A block that is named while it lasts. */
const LONG_BLOCK_MS = 8_000;
/** Of one plugin's blocks a line is logged this often at most. */
const QUIET_MS = 10_000;

let gateway: GatewayProcess;

/** A gateway with three steps that hold the loop. */
async function startWith(server?: string): Promise<GatewayProcess> {
  const workspace = createWorkspace(server === undefined ? {} : { server });
  const folder = join(workspace.folder, "my-plugins");
  mkdirSync(folder);
  const names = ["slow-one", "slow-two", "slow-three"];
  for (const name of names)
    writeFileSync(join(folder, `${name}.ts`), STEP.replaceAll("NAME", name));
  const plugins = names.map((name) => `  - ../my-plugins/${name}.ts\n`).join("");
  workspace.write(
    readFileSync(workspace.configPath, "utf8").replace("plugins:\n", `plugins:\n${plugins}`),
  );
  const pipeline = join(workspace.pipelinesFolder, "chat.yaml");
  const steps = names.map((name) => `  - ${name}\n`).join("");
  writeFileSync(
    pipeline,
    readFileSync(pipeline, "utf8").replace(/^ {2}- cost$/m, `${steps}  - cost`),
  );
  return startGateway(workspace);
}

beforeAll(async () => {
  gateway = await startWith(WARNING);
});
afterAll(() => gateway?.dispose());

async function hold(who: string, how: string, ms: number, at = gateway): Promise<void> {
  const headers = { "x-who": who, "x-how": how, "x-hold": String(ms) };
  const response = await chat(at, { model: "echo", messages: MESSAGES }, { headers });
  expect(response.status).toBe(200);
  await response.arrayBuffer();
}

interface Line {
  readonly msg: string;
  readonly plugin: string;
  readonly blocked_ms: number;
  readonly at: string;
  readonly stack: readonly string[];
}

function linesOf(plugin: string): Line[] {
  return gateway.stderr
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Line)
    .filter((line) => line.plugin === plugin && line.msg.startsWith("the event loop"));
}

/** The numbers of a metric by plugin. */
async function metric(name: string, at = gateway): Promise<Record<string, number>> {
  const page = await (await admin(at, "/metrics")).text();
  const samples = [...page.matchAll(new RegExp(`^${name}\\{plugin="([^"]+)"\\} (\\S+)$`, "gm"))];
  return Object.fromEntries(samples.map(([, plugin = "", value]) => [plugin, Number(value)]));
}

describe("G8: a plugin that holds the event loop", () => {
  it.each([
    ["slow-one", "compute", /^compute \(file:.*slow-one\.ts:\d+\)$/],
    ["slow-two", "later", /^compute \(file:.*slow-two\.ts:\d+\)$/],
    ["slow-three", "wait", /^wait \(file:.*slow-three\.ts:\d+\)$/],
  ])("is named, with its function: %s, %s", async (plugin, how, at) => {
    await hold(plugin, how, BLOCK_MS);
    const [line] = await eventually("the log to say so", () => {
      const lines = linesOf(plugin);
      return lines.length > 0 && lines;
    });
    expect(line).toMatchObject({
      msg: "the event loop was blocked",
      at: expect.stringMatching(at) as string,
    });
    expect(line?.blocked_ms).toBeGreaterThan(1_000);
    expect((await metric("sluice_event_loop_blocks_total"))[plugin]).toBe(1);
    expect((await metric("sluice_event_loop_blocked_seconds_total"))[plugin]).toBeGreaterThan(1);
  });

  it("is named again without a line for each", async () => {
    const startedMs = Date.now();
    const before = linesOf("slow-one").length;
    for (let round = 0; round < 3; round++) await hold("slow-one", "compute", BLOCK_MS);
    await eventually(
      "the metric to count them",
      async () => ((await metric("sluice_event_loop_blocks_total"))["slow-one"] ?? 0) >= 4,
    );
    const quietTimes = Math.ceil((Date.now() - startedMs) / QUIET_MS);
    expect(linesOf("slow-one").length - before).toBeLessThanOrEqual(quietTimes);
  });

  it("is named while it lasts when it lasts long", async () => {
    const held = hold("slow-two", "compute", LONG_BLOCK_MS);
    const line = await eventually("the log to say so", () =>
      linesOf("slow-two").find(({ msg }) => msg.endsWith("is blocked")),
    );
    expect(line.at).toMatch(/slow-two\.ts/);
    // The thread said so, not the loop.
    expect(linesOf("slow-two").filter(({ blocked_ms: ms }) => ms >= LONG_BLOCK_MS)).toEqual([]);
    await held;
    await eventually(
      "the metric to count it",
      async () => ((await metric("sluice_event_loop_blocks_total"))["slow-two"] ?? 0) === 2,
    );
  });

  it("and one that takes its time without holding the loop is not", async () => {
    const before = await metric("sluice_event_loop_blocks_total");
    await hold("slow-three", "later", 50);
    expect(await metric("sluice_event_loop_blocks_total")).toEqual(before);
    expect(Object.keys(before)).not.toContain("unknown");
  });

  it("is not looked for by default: the delay is measured, and no debugger is attached", async () => {
    const plain = await startWith();
    try {
      await hold("slow-one", "compute", BLOCK_MS, plain);
      expect(await metric("sluice_event_loop_blocks_total", plain)).toEqual({});
      expect(await (await admin(plain, "/metrics")).text()).toContain(
        "sluice_event_loop_delay_seconds",
      );
      expect(plain.stderr).not.toContain("the event loop was blocked");
    } finally {
      await plain.dispose();
    }
  });
});
