/**
 * Limits over time and of every subject through the real process: windows and periods that end,
 * whose budgets there are, and what hits cost.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { admin, chat, createKey, MESSAGES } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace } from "../support/workspace.ts";

const SPAN_MS = 2_000;
const MAX_PERIODS = 10;
/** Requests that the gateway's total budget covers. */
const OF_ALL = 60;
const LIMITS = `  - use: limits
    with:
      windows:
        - { per: key, requests: 2, window: 2s, only: [short] }
      budgets:
        - { per: key, max: 0.01, duration: 2s, only: [rolling] }
        - { per: user, max: 0.02, only: [spender] }
        - { per: tag, max: 0.02, only: [campaign] }
        - { per: provider, max: 0.02, only: [second] }
        - { per: global, max: ${OF_ALL / 100} }
`;
const CENT = "price: { input: 0, output: 0, request: 0.01 }";

let upstream: Upstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createUpstream();
  const workspace = createWorkspace({
    baseUrl: upstream.baseUrl,
    providers: [
      `second: { use: openai, api_key: "\${env:OPENAI_API_KEY}", base_url: ${upstream.baseUrl} }`,
    ],
    models: [
      `{ id: chat, targets: [{ provider: openai, model: chat, ${CENT} }] }`,
      `{ id: elsewhere, targets: [{ provider: second, model: elsewhere, ${CENT} }] }`,
      `{ id: either, balance: priority, targets: [{ provider: second, model: a, ${CENT} }, { provider: openai, model: b, priority: 1, ${CENT} }] }`,
    ],
  });
  const pipeline = join(workspace.pipelinesFolder, "chat.yaml");
  writeFileSync(pipeline, readFileSync(pipeline, "utf8").replace(/^ +- limits\b.*\n/m, LIMITS));
  gateway = await startGateway(workspace);
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

interface Answer {
  /** 200, or the type of the error. */
  readonly end: number | string;
  readonly headers: Headers;
}

async function send(key: string, more: object = {}): Promise<Answer> {
  const body = { model: "chat", messages: MESSAGES, max_tokens: 5, ...more };
  const response = await chat(gateway, body, { headers: { authorization: `Bearer ${key}` } });
  const text = await response.text();
  const end = response.ok ? 200 : (JSON.parse(text) as { error: { type: string } }).error.type;
  return { end, headers: response.headers };
}

/** What becomes of one request after the other. */
async function ends(
  ...requests: readonly (readonly [key: string, more?: object])[]
): Promise<(number | string)[]> {
  const seen: (number | string)[] = [];
  for (const [key, more] of requests) seen.push((await send(key, more)).end);
  return seen;
}

const keyWith = async (fields: object): Promise<string> => (await createKey(gateway, fields)).key;
/** A key with an alias that the limits name. An attempt before this one may have left it. */
async function keyAlone(alias: string): Promise<string> {
  await admin(gateway, "/key/delete", { key_aliases: [alias] });
  return keyWith({ key_alias: alias });
}
const until = (atMs: number): Promise<void> => pause(Math.max(0, atMs - Date.now()));
const waitOf = ({ headers }: Answer): number => Number(headers.get("retry-after")) * 1_000;

describe("time", () => {
  it.concurrent("a window admits after its retry-after, and not before it has slid", async () => {
    const key = await keyAlone("short");
    // A window in which an answer came after its end, on a busy machine, says nothing.
    for (let turn = 0; turn < MAX_PERIODS; turn += 1) {
      const startedMs = Date.now();
      const [one, two, refused] = [await send(key), await send(key), await send(key)];
      const refusedMs = Date.now();
      await until(startedMs + SPAN_MS - 200);
      const inside = await send(key);
      if (Date.now() >= startedMs + SPAN_MS) {
        await pause(SPAN_MS + 1_000);
        continue;
      }
      expect([one, two, refused, inside].map(({ end }) => end)).toEqual([
        200,
        200,
        "rate_limit_error",
        "rate_limit_error",
      ]);
      expect(waitOf(refused)).toBeGreaterThan(0);
      // Whole seconds and the sixtieth that the first request fell into.
      expect(waitOf(refused)).toBeLessThanOrEqual(SPAN_MS + 1_000);
      await until(refusedMs + waitOf(refused));
      expect((await send(key)).end).toBe(200);
      return;
    }
    expect.fail("no answer came within its window");
  }, 60_000);

  it.concurrent("a budget begins anew with its period, and not before", async () => {
    const key = await keyAlone("rolling");
    // A period in which an answer came after its end, on a busy machine, says nothing.
    for (let turn = 0; turn < MAX_PERIODS; turn += 1) {
      const startMs = Math.ceil(Date.now() / SPAN_MS) * SPAN_MS;
      const endMs = startMs + SPAN_MS;
      await until(startMs + 20);
      const [first, refused] = [await send(key), await send(key)];
      await until(endMs - 150);
      const last = await send(key);
      if (Date.now() >= endMs) continue;
      expect([first.end, refused.end, last.end]).toEqual([
        200,
        "budget_exceeded",
        "budget_exceeded",
      ]);
      expect(waitOf(refused)).toBeLessThanOrEqual(SPAN_MS);
      await until(endMs + 20);
      const next = await ends([key], [key]);
      if (Date.now() >= endMs + SPAN_MS) continue;
      expect(next).toEqual([200, "budget_exceeded"]);
      return;
    }
    expect.fail("no answer came within its period");
  }, 60_000);
});

describe("a budget", () => {
  it("of a user holds for all of the user's keys", async () => {
    const [one, two] = await Promise.all([
      keyWith({ user_id: "spender" }),
      keyWith({ user_id: "spender" }),
    ]);
    expect(await ends([one], [two], [one], [two])).toEqual([
      200,
      200,
      "budget_exceeded",
      "budget_exceeded",
    ]);
    expect(await ends([await keyWith({ user_id: "another user" })])).toEqual([200]);
  });

  it("of a tag holds for keys that have it and for requests of keys that may name it", async () => {
    const [tagged, plain] = await Promise.all([
      keyWith({ tags: ["campaign"] }),
      keyWith({ allowed_tags: ["campaign"] }),
    ]);
    const named = { metadata: { tags: ["campaign"] } };
    expect(await ends([tagged], [plain, named], [tagged], [plain, named])).toEqual([
      200,
      200,
      "budget_exceeded",
      "budget_exceeded",
    ]);
    expect(await ends([plain])).toEqual([200]);
  });

  it("of a provider sends requests to another one, and is refused where there is none", async () => {
    const key = await keyWith({});
    const [elsewhere, either] = [{ model: "elsewhere" }, { model: "either" }];
    const before = upstream.requests.length;
    const seen = await ends(
      [key, elsewhere],
      [key, either],
      [key, elsewhere],
      [key, either],
      [key, either],
    );
    expect(seen).toEqual([200, 200, "budget_exceeded", 200, 200]);
    expect(upstream.requests.slice(before).map(({ parsed }) => parsed?.["model"])).toEqual([
      "elsewhere",
      "a",
      "b",
      "b",
    ]);
  });

  it("that is soft is a field of keys and teams: it warns in a header and once in the log, and refuses nothing", async () => {
    const team = (await (await admin(gateway, "/team/new", { soft_budget: 0.02 })).json()) as {
      readonly team_id: string;
    };
    const { key, token_id } = await createKey(gateway, {
      soft_budget: 0.03,
      team_id: team.team_id,
    });
    const answers: Answer[] = [];
    for (let call = 0; call < 4; call += 1) answers.push(await send(key));
    expect(answers.map(({ end, headers }) => [end, headers.get("x-sluice-soft-budget")])).toEqual([
      [200, null],
      [200, "team"],
      [200, "key, team"],
      [200, "key, team"],
    ]);
    const warnings = gateway.stderr
      .split("\n")
      .filter((line) => line.includes("a soft budget is reached") && line.includes(token_id))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(warnings.map(({ budget, soft_usd }) => [budget, soft_usd])).toEqual([
      ["team", "0.02"],
      ["key", "0.03"],
    ]);
    await admin(gateway, "/key/update", { key: token_id, soft_budget: null });
    await admin(gateway, "/team/update", { team_id: team.team_id, soft_budget: 1 });
    expect((await send(key)).headers.get("x-sluice-soft-budget")).toBeNull();
  });

  it("that is raised admits within a second", async () => {
    const { key, token_id } = await createKey(gateway, { max_budget: 0.01 });
    expect(await ends([key], [key])).toEqual([200, "budget_exceeded"]);
    await admin(gateway, "/key/update", { key: token_id, max_budget: 0.02 });
    expect(await ends([key], [key])).toEqual([200, "budget_exceeded"]);
  });
});

describe("a hit of the cache", () => {
  it("counts as a request, and spends nothing", async () => {
    const { key, token_id } = await createKey(gateway, { rpm_limit: 4, max_budget: 0.02 });
    const before = upstream.requests.length;
    const answers: Answer[] = [];
    for (let call = 0; call < 5; call += 1) answers.push(await send(key, { caching: true }));
    expect(answers.map(({ end }) => end)).toEqual([200, 200, 200, 200, "rate_limit_error"]);
    expect(answers.slice(0, 4).map(({ headers }) => headers.get("x-sluice-cache"))).toEqual([
      "miss",
      "hit",
      "hit",
      "hit",
    ]);
    expect(answers.map(({ headers }) => headers.get("x-ratelimit-remaining-requests"))).toEqual([
      "3",
      "2",
      "1",
      "0",
      "0",
    ]);
    expect(upstream.requests.length - before).toBe(1);
    const { info } = (await (await admin(gateway, `/key/info?key=${token_id}`)).json()) as {
      readonly info: object;
    };
    expect(info).toMatchObject({ spend: 0.01, budget_remaining: 0.01 });
  });
});

/** The last: it spends what all the others have left. */
describe("the total budget", () => {
  it("covers all keys, users, models and providers; it counts the master key and never refuses it", async () => {
    const keys = await Promise.all([keyWith({}), keyWith({ user_id: "another" })]);
    const { masterKey } = gateway;
    expect(await ends([masterKey], [masterKey])).toEqual([200, 200]);
    const before = upstream.requests.length;
    const answers = await Promise.all(
      Array.from({ length: OF_ALL }, (_, call) => send(keys[call % 2] ?? "")),
    );
    const served = answers.filter(({ end }) => end === 200).length;
    console.info(
      `a budget of ${OF_ALL} calls for all keys: ${before} before, ${served} of ${OF_ALL} at once served`,
    );
    expect([served, upstream.requests.length]).toEqual([OF_ALL - before, OF_ALL]);
    expect(new Set(answers.map(({ end }) => end))).toEqual(new Set([200, "budget_exceeded"]));
    expect(await ends([keys[0] ?? ""], [masterKey])).toEqual(["budget_exceeded", 200]);
  });
});
