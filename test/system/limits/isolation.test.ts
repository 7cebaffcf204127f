/**
 * One key takes all it can of what keys share; the requests of another key are served meanwhile.
 */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { admin, chat, MESSAGES } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace } from "../support/workspace.ts";

const MAX_IN_FLIGHT = 120;
const VICTIM_REQUESTS = 10;

let upstream: Upstream;
let gateway: GatewayProcess;
let attacker: string;
let second: string;
let victim: string;
let teamAttacker: string;
let teamVictim: string;

/** Makes a key without a model list. */
async function newKey(body: object = {}): Promise<string> {
  const response = await admin(gateway, "/key/generate", body);
  return ((await response.json()) as { key: string }).key;
}

const as = (key: string): RequestInit => ({ headers: { authorization: `Bearer ${key}` } });

interface Answer {
  readonly status: number;
  readonly text: string;
}

async function ask(key: string, body: object, signal?: AbortSignal): Promise<Answer> {
  const response = await chat(
    gateway,
    { messages: MESSAGES, ...body },
    { ...as(key), ...(signal === undefined ? {} : { signal }) },
  );
  return { status: response.status, text: await response.text() };
}

/**
 * Many requests at the same time, which end with `stop`. Their answers are those that came before.
 */
function flood(
  count: number,
  key: string,
  body: object,
): { readonly answers: Answer[]; stop(): Promise<void> } {
  const leaving = new AbortController();
  const answers: Answer[] = [];
  const all = Array.from({ length: count }, () =>
    ask(key, body, leaving.signal).then(
      (answer) => void answers.push(answer),
      () => undefined,
    ),
  );
  return {
    answers,
    async stop() {
      leaving.abort();
      await Promise.all(all);
    },
  };
}

/** The statuses of a victim's requests, one after the other. */
async function victimAsks(body: object, key = victim): Promise<number[]> {
  const statuses: number[] = [];
  for (let n = 0; n < VICTIM_REQUESTS; n += 1) statuses.push((await ask(key, body)).status);
  return statuses;
}
const ALL_WELL = Array.from({ length: VICTIM_REQUESTS }, () => 200);

const callsOf = (model: string): number =>
  upstream.requests.filter(({ parsed }) => parsed?.["model"] === model).length;

/** Waits until the upstream has seen so many calls of a model. */
const reached = (model: string, count: number): Promise<unknown> =>
  eventually(`${count} calls of ${model}`, () => callsOf(model) >= count);

beforeAll(async () => {
  upstream = await createUpstream();
  const at = (name: string, more: string): string =>
    `${name}: { use: openai, api_key: "\${env:OPENAI_API_KEY}", base_url: ${upstream.baseUrl}, ${more} }`;
  const workspace = createWorkspace({
    attempts: 1,
    providers: [
      at("narrow", "connections: 8, timeouts: { queue: 300ms }"),
      at("wide", "connections: 1000"),
    ],
    models: [
      "{ id: hangs, targets: [{ provider: narrow, model: hangs }] }",
      "{ id: good, targets: [{ provider: narrow, model: good }] }",
      "{ id: idle, targets: [{ provider: wide, model: idle }] }",
      "{ id: endless, targets: [{ provider: wide, model: endless }] }",
      "{ id: slots, targets: [{ provider: wide, model: slots, max_parallel: 8, queue: 8, queue_timeout: 2s }] }",
      "{ id: dear, targets: [{ provider: wide, model: dear, price: { input: 1, output: 10 } }] }",
      "{ id: minute, targets: [{ provider: wide, model: minute, tpm: 200000 }] }",
      "{ id: shown, targets: [{ provider: wide, model: shown, tpm: 300000 }] }",
      "{ id: named, only_named: true, targets: [{ provider: echo, model: echo }] }",
      "{ id: echo, targets: [{ provider: echo, model: echo }] }",
    ],
  });
  for (const name of readdirSync(workspace.pipelinesFolder)) {
    const path = join(workspace.pipelinesFolder, name);
    const text = readFileSync(path, "utf8");
    writeFileSync(
      path,
      text.replace(
        /^( +- )limits\b.*$/m,
        `$1{ use: limits, with: { max_in_flight: ${MAX_IN_FLIGHT} } }`,
      ),
    );
  }
  gateway = await startGateway(workspace);
  [attacker, second, victim] = await Promise.all([newKey(), newKey(), newKey()]);
  const { team_id } = (await (await admin(gateway, "/team/new", { max_budget: 10 })).json()) as {
    readonly team_id: string;
  };
  [teamAttacker, teamVictim] = await Promise.all([newKey({ team_id }), newKey({ team_id })]);
});
beforeEach(() => {
  upstream.reset();
  for (const name of ["hangs", "endless"]) upstream.script(name, { kind: "hang" });
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

describe("what keys share", () => {
  it("are connections of a provider: a key that holds its part leaves some to others (I1)", async () => {
    const attack = flood(30, attacker, { model: "hangs", stream: true });
    await reached("hangs", 4);
    expect(await victimAsks({ model: "good" })).toEqual(ALL_WELL);
    await eventually("the refusals", () => attack.answers.length === 26);
    expect(callsOf("hangs")).toBe(4);
    expect(new Set(attack.answers.map(({ status }) => status))).toEqual(new Set([503]));
    expect(attack.answers[0]?.text).toContain(
      "The provider narrow had no free place within 300 ms. This key has 4 of 8 places",
    );
    await attack.stop();
  });

  it("are connections: a wait for one is no failure of the deployment (I1)", async () => {
    const attack = flood(30, attacker, { model: "hangs" });
    await eventually("the refusals", () => attack.answers.length === 26);
    const { deployments } = (await (await admin(gateway, "/deployments")).json()) as {
      deployments: { deployment: string; health: string; attempts: { failure: number } }[];
    };
    expect(deployments.find(({ deployment }) => deployment === "narrow/hangs")).toMatchObject({
      health: "healthy",
      attempts: { failure: 0 },
    });
    await attack.stop();
  });

  it("are slots and queue of a deployment: keys wait in turn (I7)", async () => {
    upstream.script("slots", { kind: "reply" });
    expect(await victimAsks({ model: "slots" })).toEqual(ALL_WELL);
    upstream.script("slots", { kind: "reply", delayMs: 60_000 });
    const attack = flood(28, attacker, { model: "slots" });
    await reached("slots", VICTIM_REQUESTS + 4);
    upstream.script("slots", { kind: "reply" });
    expect(await victimAsks({ model: "slots" })).toEqual(ALL_WELL);
    await eventually("the refusals", () => attack.answers.length === 24);
    expect(attack.answers.some(({ text }) => /This key has/.test(text))).toBe(true);
    await attack.stop();
  });

  it("are budgets: what one key reserves is a share of the team's (I3)", async () => {
    upstream.script("dear", { kind: "reply" });
    expect(await victimAsks({ model: "dear", max_tokens: 100 }, teamVictim)).toEqual(ALL_WELL);
    const many = await ask(teamAttacker, { model: "dear", n: 128, max_tokens: 7_800 });
    expect(many).toMatchObject({
      status: 400,
      text: expect.stringContaining("max_n of the step limits") as string,
    });
    const large = await ask(teamAttacker, { model: "dear", n: 8, max_tokens: 120_000 });
    expect(large).toMatchObject({ status: 429 });
    expect(large.text).toContain(
      "may reserve 2.5 US dollars of the team's budget of 10 US dollars while other keys use it; 0 US",
    );
    upstream.script("dear", { kind: "hang" });
    const attack = flood(10, teamAttacker, {
      model: "dear",
      stream: true,
      n: 8,
      max_tokens: 10_000,
    });
    await eventually("the refusals", () => attack.answers.length === 7);
    expect(new Set(attack.answers.map(({ status }) => status))).toEqual(new Set([429]));
    upstream.script("dear", { kind: "reply" });
    expect(await victimAsks({ model: "dear", max_tokens: 100 }, teamVictim)).toEqual(ALL_WELL);
    await attack.stop();
  });

  it("are tokens of a deployment: a long reply of one key reserves a share of the window (I3)", async () => {
    expect(await victimAsks({ model: "minute", max_tokens: 100 })).toEqual(ALL_WELL);
    upstream.script("minute", { kind: "hang" });
    const attack = flood(5, attacker, { model: "minute", stream: true, max_tokens: 199_000 });
    await eventually("the refusals", () => attack.answers.length === 4);
    upstream.script("minute", { kind: "reply" });
    expect(await victimAsks({ model: "minute", max_tokens: 100 })).toEqual(ALL_WELL);
    expect(attack.answers[0]?.text).toContain(
      "of the deployment wide/minute's limit of 200000 tokens while other keys use it",
    );
    await attack.stop();
  });

  it("are tokens of a deployment, of which GET /deployments shows what is reserved and what is spent", async () => {
    interface Tokens {
      readonly limit: number;
      readonly reserved: number;
      readonly spent: number;
    }
    const tokensOf = async (name: string): Promise<Tokens | null | undefined> => {
      const { deployments } = (await (await admin(gateway, "/deployments")).json()) as {
        readonly deployments: readonly {
          readonly deployment: string;
          readonly tokens: Tokens | null;
        }[];
      };
      return deployments.find(({ deployment }) => deployment === name)?.tokens;
    };
    upstream.script("shown", { kind: "reply" });
    expect(await tokensOf("wide/idle")).toBeNull();
    expect(await tokensOf("wide/shown")).toEqual({ limit: 300_000, reserved: 0, spent: 0 });
    const { text } = await ask(victim, { model: "shown", max_tokens: 50 });
    const { total_tokens: used } = (
      JSON.parse(text) as { readonly usage: { readonly total_tokens: number } }
    ).usage;
    await eventually("the usage", async () => (await tokensOf("wide/shown"))?.spent === used);
    upstream.script("shown", { kind: "hang" });
    const attack = flood(1, attacker, { model: "shown", max_tokens: 40_000 });
    await reached("shown", 2);
    const held = await tokensOf("wide/shown");
    expect(held?.spent).toBe(used);
    expect(held?.reserved).toBeGreaterThanOrEqual(40_000);
    expect(held?.reserved).toBeLessThan(40_100);
    await attack.stop();
    await eventually(
      "the end of the reservation",
      async () => (await tokensOf("wide/shown"))?.reserved === 0,
    );
  });

  it("are the requests under way: two keys leave room for a third (I8)", async () => {
    const attacks = [
      flood(MAX_IN_FLIGHT, attacker, { model: "endless" }),
      flood(MAX_IN_FLIGHT, second, { model: "endless" }),
    ];
    await eventually("the refusals", () =>
      attacks.every(({ answers }) => answers.length >= MAX_IN_FLIGHT / 4),
    );
    expect(await victimAsks({ model: "idle" })).toEqual(ALL_WELL);
    expect(await victimAsks({ model: "echo" })).toEqual(ALL_WELL);
    for (const { answers, stop } of attacks) {
      expect(answers[0]).toMatchObject({
        status: 503,
        text: expect.stringContaining("in_flight_share") as string,
      });
      await stop();
    }
  });

  it("are replies in the cache: a key that stores more than its share loses its own (I13)", async () => {
    const cached = (n: number): object => ({
      model: "idle",
      caching: true,
      messages: [{ role: "user", content: `entry ${n}` }],
    });
    for (let n = 0; n < VICTIM_REQUESTS; n += 1) await ask(victim, cached(n));
    upstream.script("idle", { kind: "reply", text: "x".repeat(1_000_000) });
    for (let n = 0; n < 75; n += 1) await ask(attacker, cached(n));
    const before = callsOf("idle");
    for (let n = 0; n < VICTIM_REQUESTS; n += 1)
      expect((await ask(victim, cached(n))).status).toBe(200);
    expect(callsOf("idle")).toBe(before);
  });

  it("are explanations: refusals of one key erase no failure of another (I14)", async () => {
    upstream.script("idle", { kind: "error", status: 502 });
    const failed = await chat(gateway, { model: "idle", messages: MESSAGES }, as(victim));
    await failed.text();
    for (let turn = 0; turn < 11; turn += 1) {
      await Promise.all(
        Array.from({ length: 100 }, () => ask(attacker, { model: "no-such-model" })),
      );
    }
    const explained = (await (
      await admin(gateway, `/requests/${failed.headers.get("x-request-id")}`)
    ).json()) as object;
    expect(explained).toMatchObject({
      route: expect.any(String) as string,
      steps: expect.any(Array) as unknown[],
    });
  });
});

describe("the echo", () => {
  const embed = async (key: string, body: object): Promise<Answer> => {
    const init = {
      method: "POST",
      headers: { ...as(key).headers, "content-type": "application/json" },
      body: JSON.stringify(body),
    };
    const response = await fetch(`${gateway.publicUrl}/v1/embeddings`, init);
    return { status: response.status, text: await response.text() };
  };

  it.each([
    ["a body of 1 MB", { input: "a ".repeat(500_000), dimensions: 4_096 }, 413, "64 KiB"],
    [
      "more words times dimensions than it takes",
      { input: "a ".repeat(20_000), dimensions: 4_096 },
      400,
      "words times dimensions",
    ],
    [
      "more numbers than it makes",
      { input: Array.from({ length: 2_048 }, () => "a"), dimensions: 4_096 },
      400,
      "inputs times dimensions",
    ],
  ])("refuses %s before it works (I2)", async (_what, body, status, message) => {
    expect(await embed(attacker, { model: "echo", ...body })).toMatchObject({
      status,
      text: expect.stringContaining(message) as string,
    });
    expect((await embed(victim, { model: "echo", input: ["a b", "c"] })).status).toBe(200);
  });

  it("is reached by keys that name it, where the model is only for those (I2)", async () => {
    const naming = await newKey({ models: ["named"] });
    expect([
      (await ask(attacker, { model: "named" })).status,
      (await ask(naming, { model: "named" })).status,
    ]).toEqual([404, 200]);
    expect((await ask(gateway.masterKey, { model: "named" })).status).toBe(200);
  });
});
