/**
 * What a plugin cannot reach although it tries: a budget it goes past, another's state, a life
 * longer than its generation's.
 */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { chat, configPost, configStatus, createKey, MESSAGES } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { amount } from "../support/proof.ts";
import { createWorkspace, NEVER_EJECTS, type Workspace } from "../support/workspace.ts";

const RELOADS = amount(30, 200);

/** Puts another model, another target or another body in the place of what was let in. */
const CHANGER = `
import { defineStep } from "@sluice/kit";

export default defineStep({
  name: "NAME",
  stability: "experimental",
  summary: "Changes what was let in.",
  config: { type: "object", properties: {} },
  create: (_config, host) => ({
    run({ exchange }, next) {
      const change = (name) => exchange.client.header("x-NAME-" + name);
      if (change("model")) exchange.model = host.models.find(change("model"));
      if (change("target")) exchange.target = host.models.find(change("target")).targets[0];
      if (change("price")) exchange.target = { ...exchange.model.targets[0], price: host.models.find(change("price")).targets[0].price };
      return next();
    },
  }),
});
`;

/** Keeps a value for the caller, as NAME; it has a timer, and listens to the process. */
const KEEPER = `
import { defineStep } from "@sluice/kit";
import { tenantState } from "@sluice/kit/state";

let alive = 0;
let hasFailed = false;
let beats = {};

export default defineStep({
  name: "NAME",
  stability: "experimental",
  summary: "Stores what a request asks for.",
  config: { type: "object", properties: { words: { type: "string", default: "", description: "Makes an edit." } } },
  create: (_config, host) => ({
    async start() {
      alive += 1;
      host.scope.every(20, () => {
        beats[host.generation] = (beats[host.generation] ?? 0) + 1;
        if (hasFailed) return;
        hasFailed = true;
        throw new Error("the first beat of NAME fails");
      });
      host.scope.signal.addEventListener("abort", () => { alive -= 1; });
      process.on("NAME", () => {});
      const listener = process.listeners("NAME").at(-1);
      host.scope.signal.addEventListener("abort", () => process.off("NAME", listener));
    },
    async run({ exchange }, next) {
      const header = (name) => exchange.client.header("x-NAME-" + name);
      const state = header("tenant") ? tenantState(host.state, exchange.identity) : host.state;
      if (header("keep")) await state.cache.set("note", Buffer.from(header("keep")), 60_000);
      if (header("budget")) {
        const claim = { kind: "budget", key: header("budget"), limitNanoUsd: 2e7, amountNanoUsd: 1e7, resetsAtMs: null };
        await state.seed(claim.key, 0);
        await state.take({ id: exchange.id + "-NAME", claims: [claim] }, 60_000);
      }
      if (header("purge") !== undefined) exchange.headers.set("x-purged", String(await state.cache.purge("")));
      const found = await state.cache.get("note");
      exchange.headers.set("x-NAME-found", found === undefined ? "nothing" : Buffer.from(found).toString());
      if (header("forget")) beats = {};
      exchange.headers.set("x-NAME-life", JSON.stringify({ alive, beats, listeners: process.listenerCount("NAME") }));
      await next();
    },
  }),
});
`;

const CENT = "price: { input: 0, output: 0, request: 0.01 }";
const TEN = "price: { input: 0, output: 0, request: 0.1 }";

let upstream: Upstream;
let workspace: Workspace;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createUpstream();
  workspace = createWorkspace({
    baseUrl: upstream.baseUrl,
    attempts: 1,
    balance: NEVER_EJECTS,
    models: [
      `{ id: cheap, targets: [{ provider: openai, model: cheap, ${CENT} }] }`,
      `{ id: dear, targets: [{ provider: openai, model: dear, ${TEN} }] }`,
      "{ id: unpriced, targets: [{ provider: openai, model: model-without-price }] }",
    ],
  });
  const folder = join(workspace.folder, "my-plugins");
  mkdirSync(folder);
  for (const name of ["early", "late"])
    writeFileSync(join(folder, `${name}.ts`), CHANGER.replaceAll("NAME", name));
  for (const name of ["keeper", "thief"])
    writeFileSync(join(folder, `${name}.ts`), KEEPER.replaceAll("NAME", name));
  const names = ["early", "late", "keeper", "thief"]
    .map((name) => `  - ../my-plugins/${name}.ts\n`)
    .join("");
  workspace.write(
    readFileSync(workspace.configPath, "utf8").replace("plugins:\n", `plugins:\n${names}`),
  );
  const pipeline = join(workspace.pipelinesFolder, "chat.yaml");
  const text = readFileSync(pipeline, "utf8").replace(/^tests:[\s\S]*?(?=^end_of_config)/m, "");
  const steps = "  - { use: keeper, with: { words: none } }\n  - thief\n  - late\n";
  const changed = text
    .replace(/^ {2}- fallback\b/m, "  - early\n  - fallback")
    .replace(/^ {2}- provider\b/m, `${steps}  - provider`);
  writeFileSync(pipeline, changed);
  gateway = await startGateway(workspace);
});
beforeEach(() => upstream.reset());
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

interface Answer {
  readonly status: number;
  readonly type: string | undefined;
  readonly headers: Headers;
}

async function ask(key: string, headers: Record<string, string> = {}): Promise<Answer> {
  const body = { model: "cheap", messages: MESSAGES };
  const response = await chat(gateway, body, {
    headers: { authorization: `Bearer ${key}`, ...headers },
  });
  const answer = (await response.json()) as { error?: { type: string } };
  return { status: response.status, type: answer.error?.type, headers: response.headers };
}

describe("G11: a step that changes what was let in", () => {
  it.each([
    ["the model, to a dearer one", { "x-early-model": "dear" }],
    ["the target, to that of a dearer model", { "x-late-target": "dear" }],
    ["the price of the target", { "x-late-price": "dear" }],
    ["the model, to one without a price", { "x-early-model": "unpriced" }],
    ["the target, to one without a price", { "x-late-target": "unpriced" }],
  ])("%s: nothing above the budget is dispatched", async (_what, headers) => {
    const { key } = await createKey(gateway, { max_budget: 0.05 });
    const changed = await ask(key, headers as unknown as Record<string, string>);
    expect([changed.status, changed.type, upstream.requests.length]).toEqual([
      429,
      "budget_exceeded",
      0,
    ]);
    expect([(await ask(key)).status, upstream.requests.length]).toEqual([200, 1]);
  });

  it("what was reserved for the first model is free again", async () => {
    const { key } = await createKey(gateway, { max_budget: 0.02 });
    for (let round = 0; round < 5; round++)
      expect((await ask(key, { "x-early-model": "dear" })).status).toBe(429);
    expect([(await ask(key)).status, (await ask(key)).status, (await ask(key)).status]).toEqual([
      200, 200, 429,
    ]);
  });

  it.each(["x-early-model", "x-late-model"])(
    "to a model that the key may not use, by %s: as if there were no such model",
    async (header) => {
      const { key } = await createKey(gateway, { models: ["cheap"] });
      const changed = await ask(key, { [header]: "dear" });
      expect([changed.status, changed.type, upstream.requests.length]).toEqual([
        404,
        "not_found_error",
        0,
      ]);
      expect((await ask(key)).status).toBe(200);
    },
  );
});

describe("G12: shared state", () => {
  it("is a plugin's own: another finds nothing under the same key, and purges nothing of it", async () => {
    const { key } = await createKey(gateway, {});
    expect((await ask(key, { "x-keeper-keep": "mine" })).headers.get("x-keeper-found")).toBe(
      "mine",
    );
    const { headers } = await ask(key, { "x-thief-purge": "all" });
    expect([headers.get("x-purged"), headers.get("x-thief-found")]).toEqual(["0", "nothing"]);
    expect((await ask(key)).headers.get("x-keeper-found")).toBe("mine");
  });

  it("is a tenant's own where the plugin asks for that", async () => {
    const [one, two] = [await createKey(gateway, {}), await createKey(gateway, {})];
    const own = { "x-keeper-tenant": "yes" };
    await ask(one.key, { ...own, "x-keeper-keep": "of the first" });
    expect((await ask(two.key, own)).headers.get("x-keeper-found")).toBe("nothing");
    expect((await ask(one.key, own)).headers.get("x-keeper-found")).toBe("of the first");
  });

  it("is not that of the gateway's own steps: a plugin cannot spend a key's budget, nor take its reservation", async () => {
    const { key, token_id: id } = await createKey(gateway, { max_budget: 0.02 });
    for (const budget of [`budget:key:${id}:ever:0`, `key:${id}`]) {
      expect((await ask(key, { "x-thief-budget": budget })).status).toBe(200);
    }
    expect((await ask(key)).status).toBe(429);
  });
});

interface Life {
  readonly alive: number;
  readonly listeners: number;
  /** Beats of the timer by the generation that made it. */
  readonly beats: Readonly<Record<number, number>>;
}

describe("G7: what a plugin made with its host", () => {
  it(`ends with the generation: ${RELOADS} reloads leave one timer and one listener; a timer that throws is logged`, async () => {
    const pipeline = join(workspace.pipelinesFolder, "chat.yaml");
    const text = readFileSync(pipeline, "utf8");
    const life = async (headers: Record<string, string> = {}) =>
      JSON.parse(
        (await ask(gateway.masterKey, headers)).headers.get("x-keeper-life") ?? "",
      ) as Life;
    for (let reload = 0; reload < RELOADS; reload++) {
      writeFileSync(pipeline, text.replace("words: none", `words: n${reload}`));
      expect((await configPost(gateway, "reload")).outcome).toMatch(/^(?:applied|unchanged)$/);
    }
    const { generation } = (await configStatus(gateway)).live;
    await life({ "x-keeper-forget": "the beats so far" });
    const after = await eventually("three more beats", async () => {
      const now = await life();
      return (now.beats[generation] ?? 0) >= 3 && now;
    });
    expect(after).toMatchObject({ alive: 1, listeners: 1 });
    expect(Object.keys(after.beats)).toEqual([String(generation)]);
    expect(gateway.stderr).toContain("the first beat of keeper fails");
  });
});
