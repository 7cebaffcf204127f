/** Plugins that break the rules: each has its outcome, without an effect on other requests. */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { chat, configPost, configStatus, MESSAGES, rowsOf } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

/** A step that does what the header `x-do` says. */
const RASCAL = `
import { defineStep } from "@sluice/kit";

const deeds = {
  async "throw"() { throw new Error("secret of the plugin"); },
  "throw at once"() { throw new Error("secret of the plugin"); },
  async "throw after"(_ctx, next) { await next(); throw new Error("secret of the plugin"); },
  async "throw in the stream"({ exchange }, next) {
    await next();
    const { reply } = exchange;
    exchange.reply = { ...reply, frames: (async function* () {
      let seen = 0;
      for await (const frame of reply.frames) { if (++seen > 3) throw new Error("secret of the plugin"); yield frame; }
    })() };
  },
  async "hang"() { await new Promise(() => {}); },
  async "next twice"(_ctx, next) { await next(); await next(); },
  async "forget next"() {},
  async "write after the end"({ exchange }, next) {
    await next();
    exchange.lifetime.onSettle(() => { exchange.headers.set("x-late", "1"); exchange.reply = undefined; });
  },
  async "detached"(_ctx, next) { void Promise.reject(new Error("detached failure")); await next(); },
  async "endless stream"({ exchange }, next) {
    await next();
    const { reply } = exchange;
    exchange.reply = { ...reply, frames: (async function* () {
      for await (const frame of reply.frames) for (;;) { yield frame; await new Promise((resolve) => setTimeout(resolve, 5)); }
    })() };
  },
  async "silent stream"({ exchange }, next) {
    await next();
    const { reply } = exchange;
    exchange.reply = { ...reply, frames: (async function* () {
      for await (const frame of reply.frames) { yield frame; await new Promise(() => {}); }
    })() };
  },
};

export default defineStep({
  name: "rascal",
  stability: "experimental",
  summary: "Does what no step may.",
  config: { type: "object", properties: { words: { type: "array", default: ["a"], items: { type: "string" }, description: "Some." } } },
  create: (config, host) => ({
    run(ctx, next) {
      const deed = ctx.exchange.client.header("x-do");
      if (deed === "change the options") config.words.push("b");
      if (deed === undefined || deed === "change the options") return next();
      return deeds[deed](ctx, next);
    },
  }),
});
`;

const definition = (name: string, more: string): string => `
import { defineStep } from "@sluice/kit";
export default defineStep({
  name: "${name}", stability: "experimental", summary: "Fails.", config: { type: "object", properties: {} }, ${more}
});
`;

let upstream: Upstream;
let workspace: Workspace;
let gateway: GatewayProcess;
let pipeline: string;
const pipelineFile = () => join(workspace.pipelinesFolder, "chat.yaml");

beforeAll(async () => {
  upstream = await createUpstream();
  workspace = createWorkspace({ baseUrl: upstream.baseUrl });
  const folder = join(workspace.folder, "my-plugins");
  mkdirSync(folder);
  writeFileSync(join(folder, "rascal.ts"), RASCAL);
  writeFileSync(
    join(folder, "broken.ts"),
    definition("broken", 'create() { throw new Error("no such colour"); }'),
  );
  writeFileSync(
    join(folder, "failing.ts"),
    definition(
      "failing",
      'create: (_config, host) => { host.scope.defer(() => void host.log.warn("closed what was made")); return { run: (_ctx, next) => next(), start: async () => { throw new Error("no such host"); } }; }',
    ),
  );
  const names = ["rascal", "broken", "failing"]
    .map((name) => `  - ../my-plugins/${name}.ts\n`)
    .join("");
  workspace.write(
    readFileSync(workspace.configPath, "utf8").replace("plugins:\n", `plugins:\n${names}`),
  );
  pipeline = readFileSync(pipelineFile(), "utf8")
    .replace(/^ {2}- cost$/m, "  - { use: rascal, timeout: 150ms }\n  - cost")
    .replace("deadline: 600s", "deadline: 1s");
  writeFileSync(pipelineFile(), pipeline);
  gateway = await startGateway(workspace);
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

interface Outcome {
  readonly status: number;
  readonly text: string;
  readonly id: string | null;
  readonly late: string | null;
  readonly calls: number;
}

async function ask(deed: string | undefined, stream = false): Promise<Outcome> {
  const before = upstream.requests.length;
  const headers = deed === undefined ? {} : { "x-do": deed };
  const response = await chat(
    gateway,
    { model: "gpt-4o-mini", messages: MESSAGES, stream },
    { headers },
  );
  const text = await response.text();
  const id = response.headers.get("x-request-id");
  return {
    status: response.status,
    text,
    id,
    late: response.headers.get("x-late"),
    calls: upstream.requests.length - before,
  };
}

const FAILED = { message: "The step rascal failed.", type: "server_error", code: 500, param: null };

describe("a step", () => {
  it.each([
    ["G1", "throw", 0],
    ["G1", "throw at once", 0],
    ["G1", "throw after", 1],
    ["G2", "hang", 0],
    ["G3", "next twice", 1],
    ["G4", "forget next", 0],
    ["G6", "change the options", 0],
  ])(
    "%s: that wants to %s ends its own request with 500, after %i upstream calls",
    async (_fault, deed, calls) => {
      const [bad, good] = await Promise.all([
        ask(deed),
        chat(gateway, { model: "echo", messages: MESSAGES }),
      ]);
      expect([bad.status, bad.calls, good.status]).toEqual([500, calls, 200]);
      await good.arrayBuffer();
      const { error } = JSON.parse(bad.text) as { error: object };
      expect(error).toEqual(
        deed === "forget next"
          ? { ...FAILED, message: "The pipeline ended without a reply." }
          : FAILED,
      );
      expect(bad.text).not.toContain("secret");
      expect(calls === 0 ? [] : await rowsOf(gateway, bad.id)).toHaveLength(calls);
    },
  );

  it("G1: that throws in a stream ends it with an error event and a row", async () => {
    const { status, text, id } = await ask("throw in the stream", true);
    expect(status).toBe(200);
    expect(text).toMatch(/data: \{"error":\{[^}]*"code":500[^}]*\}\}\n\n$/);
    expect(text).not.toMatch(/\[DONE\]|secret/);
    expect(await rowsOf(gateway, id)).toHaveLength(1);
  });

  it("G5: that writes after the end changes no reply", async () => {
    const plain = await ask(undefined);
    const late = await ask("write after the end");
    const bare = (text: string) => text.replace(/"id":"[^"]+"|"created":\d+/g, "");
    expect([late.status, late.late, bare(late.text)]).toEqual([200, null, bare(plain.text)]);
  });

  it("G9: whose promise is rejected and forgotten is logged, and everything goes on", async () => {
    expect((await ask("detached")).status).toBe(200);
    await eventually("the log to say so", () => gateway.stderr.includes("detached failure"));
    expect((await ask(undefined)).status).toBe(200);
  });

  it("G10: whose stream never ends, or falls silent, meets the deadline of the route", async () => {
    const both = await Promise.all([ask("endless stream", true), ask("silent stream", true)]);
    for (const { status, text, id } of both) {
      expect(status).toBe(200);
      expect(text).toMatch(/data: \{"error":\{[^}]*"code":504[^}]*\}\}\n\n$/);
      expect(await rowsOf(gateway, id)).toHaveLength(1);
    }
  });
});

describe("an edit with a plugin that fails", () => {
  it.each<[string, string, string, RegExp]>([
    [
      "G14",
      "throws when it is made",
      "- { use: broken }",
      /chat\.yaml:\d+:\d+  A plugin could not be made: no such colour/,
    ],
    [
      "G14",
      "throws when it starts",
      "- { use: failing }",
      /chat\.yaml:\d+:\d+  A plugin could not be made: no such host/,
    ],
    [
      "G15",
      "is used twice",
      "- { use: rascal, timeout: 1s }\n  - { use: rascal, timeout: 2s }",
      /Step rascal is used twice/,
    ],
    ["G15", "comes too early", "- limits", /Step limits/],
  ])(
    "%s: that %s is refused at its line, and what ran goes on",
    async (_fault, what, steps, finding) => {
      const { live } = await configStatus(gateway);
      const before = steps === "- limits" ? "  - auth" : "  - cost";
      writeFileSync(
        pipelineFile(),
        pipeline.replace(new RegExp(`^${before}$`, "m"), `  ${steps}\n${before}`),
      );
      const { outcome, findings } = await configPost(gateway, "reload");
      expect([outcome, findings.map(({ text }) => text).join("\n")]).toEqual([
        "refused",
        expect.stringMatching(finding),
      ]);
      writeFileSync(pipelineFile(), pipeline);
      expect((await configPost(gateway, "reload")).outcome).toBe("unchanged");
      expect((await configStatus(gateway)).live.generation).toBe(live.generation);
      expect((await ask(undefined)).status).toBe(200);
      // What was made before the failure is closed.
      expect(gateway.stderr.includes("closed what was made")).toBe(
        what !== "throws when it is made",
      );
    },
  );
});
