/** Tags and spend reports of one key: the budgets and requests of other keys do not notice them. */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { admin, chat, MESSAGES } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace } from "../support/workspace.ts";

let upstream: Upstream;
let gateway: GatewayProcess;
let attacker: string;
let blue: string;

const as = (key: string, more: Readonly<Record<string, string>> = {}): RequestInit => ({
  headers: { authorization: `Bearer ${key}`, ...more },
});

async function newKey(body: object = {}): Promise<string> {
  const response = await admin(gateway, "/key/generate", body);
  expect(response.status).toBe(200);
  return ((await response.json()) as { key: string }).key;
}

async function ask(
  key: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; text: string }> {
  const response = await chat(
    gateway,
    { model: "dear", messages: MESSAGES, max_tokens: 50, ...body },
    as(key, headers),
  );
  return { status: response.status, text: await response.text() };
}

beforeAll(async () => {
  upstream = await createUpstream();
  const workspace = createWorkspace({
    attempts: 1,
    providers: [
      `up: { use: openai, api_key: "\${env:OPENAI_API_KEY}", base_url: ${upstream.baseUrl} }`,
    ],
    models: [
      "{ id: dear, targets: [{ provider: up, model: dear, price: { input: 1, output: 10 } }] }",
    ],
  });
  const budgets =
    "[{ per: tag, max: 0.0001, only: [small] }, { per: tag, max: 100, only: [green] }, { per: tag, max: 100, duration: 1d }]";
  for (const name of readdirSync(workspace.pipelinesFolder)) {
    const path = join(workspace.pipelinesFolder, name);
    const text = readFileSync(path, "utf8");
    writeFileSync(
      path,
      text.replace(/^( +- )limits\b.*$/m, `$1{ use: limits, with: { budgets: ${budgets} } }`),
    );
  }
  gateway = await startGateway(workspace);
  [attacker, blue] = await Promise.all([newKey(), newKey({ tags: ["team-blue"] })]);
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

describe("a tag of another key (I10)", () => {
  it.each([
    ["tags", { tags: ["team-blue"] }, {}],
    ["metadata.tags", { metadata: { tags: ["x", "team-blue"] } }, {}],
    ["litellm_metadata.tags", { litellm_metadata: { tags: ["team-blue"] } }, {}],
    ["litellm_metadata as text", { litellm_metadata: JSON.stringify({ tags: ["team-blue"] }) }, {}],
    ["the header", {}, { "x-sluice-tags": "x, team-blue" }],
  ])("is refused by name in %s", async (_place, body, headers) => {
    const refused = await ask(attacker, body, headers);
    expect(refused).toMatchObject({
      status: 403,
      text: expect.stringContaining('The tag \\"team-blue\\" belongs to') as string,
    });
    expect((await ask(blue, body, headers)).status).toBe(200);
  });

  it("is refused on native routes, where budgets of tags hold too (contract 1.5)", async () => {
    const ofNative = async (key: string, tags?: string) => {
      const response = await fetch(`${gateway.publicUrl}/up/v1/chat/completions`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${key}`,
          "content-type": "application/json",
          ...(tags !== undefined && { "x-sluice-tags": tags }),
        },
        body: JSON.stringify({ model: "dear", messages: MESSAGES, max_tokens: 50 }),
      });
      return { status: response.status, text: await response.text() };
    };
    expect(await ofNative(attacker, "team-blue")).toMatchObject({
      status: 403,
      text: expect.stringContaining('The tag \\"team-blue\\" belongs to') as string,
    });
    expect(await ofNative(blue, "team-blue")).toMatchObject({ status: 200 });
    const poor = await newKey({ allowed_tags: ["small"] });
    expect(await ofNative(poor)).toMatchObject({ status: 200 });
    expect(await ofNative(poor, "small")).toMatchObject({
      status: 429,
      text: expect.stringContaining("tag small's budget") as string,
    });
  });

  it("is refused where a budget names it and no record has it", async () => {
    expect(await ask(attacker, { tags: ["green"] })).toMatchObject({ status: 403 });
  });

  it("may be named by a key whose record, or whose team's, allows it, and by all once no record has it", async () => {
    const { team_id } = (await (
      await admin(gateway, "/team/new", { allowed_tags: ["green"] })
    ).json()) as { team_id: string };
    const allowed = await newKey({ allowed_tags: ["team-blue"], team_id });
    expect((await ask(allowed, { tags: ["team-blue", "green", "own"] })).status).toBe(200);
    const passing = await newKey({ tags: ["passing"] });
    expect((await ask(attacker, { tags: ["passing"] })).status).toBe(403);
    const removed = await admin(gateway, "/key/delete", { keys: [passing] });
    expect(removed.status).toBe(200);
    expect((await ask(attacker, { tags: ["passing"] })).status).toBe(200);
  });

  it("costs its owner nothing", async () => {
    const response = await fetch(`${gateway.publicUrl}/spend/logs?summarize=false`, as(attacker));
    const rows = (await response.json()) as { request_tags: string[] | null; spend: number }[];
    const named = rows.filter(({ request_tags: tags }) => tags?.includes("team-blue") === true);
    expect(named.reduce((sum, { spend }) => sum + spend, 0)).toBe(0);
  });
});

describe("new tags (I11)", () => {
  it("are so many a second for each key, and a tag that never spent costs no walk over the ledger", async () => {
    const many = (turn: number): object => ({
      tags: Array.from({ length: 64 }, (_, n) => `fresh-${turn}-${n}`),
    });
    const key = await newKey();
    const answers = [await ask(key, many(0)), await ask(key, many(1)), await ask(key, many(2))];
    expect([answers[0]?.status, answers[1]?.status]).toEqual([200, 200]);
    expect(answers[2]).toMatchObject({
      status: 429,
      text: expect.stringContaining("names new tags faster") as string,
    });
    expect((await ask(await newKey(), { tags: ["session-1"] })).status).toBe(200);
    // Known tags cost nothing.
    expect((await ask(key, many(0))).status).toBe(200);
  });
});

describe("spend reports (I6)", () => {
  it("wait in turn, one for each key, and never before a budget", async () => {
    // A report walks over these rows; its tags are known after the first.
    const tags = Array.from({ length: 64 }, (_, n) => `reported-${n}`);
    const writer = await newKey();
    for (let turn = 0; turn < 40; turn += 1) expect((await ask(writer, { tags })).status).toBe(200);
    const reports = Array.from({ length: 150 }, async () => {
      const response = await fetch(
        `${gateway.publicUrl}/spend/tags?start_date=2020-01-01`,
        as(attacker),
      );
      return { status: response.status, text: await response.text() };
    });
    const firsts = [];
    for (let n = 0; n < 4; n += 1)
      firsts.push((await ask(await newKey({ max_budget: 5 }), {})).status);
    expect(firsts).toEqual([200, 200, 200, 200]);
    const answers = await Promise.all(reports);
    const refused = answers.filter((answer) => answer.status !== 200);
    for (const { status, text } of refused) {
      expect([status, text]).toEqual([
        503,
        expect.stringContaining("The queue of spend reports has"),
      ]);
    }
    // More than one ran and fewer than all were let in.
    expect(answers.length - refused.length).toBeGreaterThan(1);
    expect(refused.length).toBeGreaterThan(0);
  });

  it("have a limit of tags", async () => {
    const response = await fetch(`${gateway.publicUrl}/spend/tags?limit=3`, as(gateway.masterKey));
    expect(await response.json()).toHaveLength(3);
    const wrong = await fetch(`${gateway.publicUrl}/spend/tags?limit=0`, as(attacker));
    expect([wrong.status, await wrong.text()]).toEqual([
      400,
      expect.stringContaining("limit must be"),
    ]);
  });
});
