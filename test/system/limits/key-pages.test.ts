/** Long lists of keys with the use of each, and changes of many keys at once. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AdminAnswer } from "@sluice/admin-api";
import { admin, chat, createKey, MESSAGES } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace } from "../support/workspace.ts";

type Page = Extract<AdminAnswer<"GET /key/list">, { next_cursor: unknown }>;

const DECLARED = 'keys:\n  - { alias: desk, key: "${env:DESK_KEY}", models: [echo] }';

let gateway: GatewayProcess;
beforeAll(async () => {
  const workspace = createWorkspace({ sections: [DECLARED] });
  const prices = join(workspace.folder, "config/prices.yaml");
  const priced = "echo/*: { input: 2, output: 4 }";
  writeFileSync(prices, readFileSync(prices, "utf8").replace("echo/*: { free: true }", priced));
  gateway = await startGateway(workspace, { DESK_KEY: "sk-declared-in-the-file-0123456789abc" });
});
afterAll(() => gateway?.dispose());

async function list(query: Readonly<Record<string, string>>, key?: string): Promise<Page> {
  const response = await admin(gateway, `/key/list?${new URLSearchParams(query)}`, undefined, key);
  const text = await response.text();
  expect(text.length).toBeLessThanOrEqual(64 * 1_024);
  expect([response.status, text]).toEqual([200, expect.stringContaining("next_cursor")]);
  return JSON.parse(text) as Page;
}

async function everyAlias(query: Readonly<Record<string, string>>): Promise<(string | null)[]> {
  const aliases: (string | null)[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const page: Page = await list({ ...query, ...(cursor !== "" && { cursor }) });
    aliases.push(...page.keys.map(({ key_alias: alias }) => alias));
    cursor = page.next_cursor;
  }
  return aliases;
}

async function refusalOf(query: Readonly<Record<string, string>>): Promise<unknown> {
  const response = await admin(gateway, `/key/list?${new URLSearchParams(query)}`);
  const { error } = (await response.json()) as { error?: { param: unknown; message: string } };
  return [response.status, error?.param];
}

describe("the list of keys", () => {
  it("finds the beginnings of aliases, ids and users, as they are written", async () => {
    for (const alias of ["find%", "find_me", "findxme", "Find"])
      await createKey(gateway, { key_alias: alias, user_id: `of-${alias}` });
    expect(await everyAlias({ search: "find" })).toEqual(["find%", "find_me", "findxme"]);
    expect(await everyAlias({ search: "find_" })).toEqual(["find_me"]);
    expect(await everyAlias({ search: "find%", limit: "1" })).toEqual(["find%"]);
    expect(await everyAlias({ search: "of-F" })).toEqual(["Find"]);
    const { token_id: id } = await createKey(gateway, {});
    expect((await list({ search: id.slice(0, 12) })).keys.map((key) => key.token_id)).toEqual([id]);
    expect(await everyAlias({ search: "yaml:d" })).toEqual(["desk"]);
  });

  it("has declared keys first, with their line, and goes on page by page", async () => {
    for (const alias of ["p3", "p1", "p2"])
      await createKey(gateway, { key_alias: alias, user_id: "pager" });
    const { keys } = await list({ sort: "alias", limit: "1" });
    expect(keys).toMatchObject([
      {
        key_alias: "desk",
        managed_by: "file",
        declared_in: expect.stringMatching(/gateway\.yaml:\d+$/),
      },
    ]);
    expect(await everyAlias({ sort: "alias", user_id: "pager", limit: "2" })).toEqual([
      "p1",
      "p2",
      "p3",
    ]);
    expect(await everyAlias({ sort: "newest", user_id: "pager", limit: "1" })).toEqual([
      "p2",
      "p1",
      "p3",
    ]);
    const all = await everyAlias({ limit: "2" });
    expect(all[0]).toBe("desk");
    expect(new Set(await everyAlias({ limit: "100" }))).toEqual(new Set(all));
  });

  it("shows what each key has spent and when it was used, as the page of the key does", async () => {
    const { key, token_id: id } = await createKey(gateway, {
      key_alias: "spender",
      max_budget: 5,
      budget_duration: "1d",
    });
    const before = Date.now();
    const answer = await chat(
      gateway,
      { model: "echo", messages: MESSAGES },
      { headers: { authorization: `Bearer ${key}` } },
    );
    expect(answer.status).toBe(200);
    await answer.text();
    const [row] = (await list({ search: "spender" })).keys;
    const response = await admin(gateway, `/key/info?key=${id}`);
    const { info } = (await response.json()) as AdminAnswer<"GET /key/info">;
    expect(row?.spend).toBeGreaterThan(0);
    expect([row?.spend, row?.budget_reset_at]).toEqual([info.spend, info.budget_reset_at]);
    expect(Date.parse(row?.last_used_at ?? "")).toBeGreaterThanOrEqual(before);
    const [unused] = (await list({ search: "p1" })).keys;
    expect([unused?.spend, unused?.last_used_at]).toEqual([0, null]);
  });

  it("filters by what a key is now", async () => {
    await createKey(gateway, { key_alias: "s-blocked", user_id: "states", blocked: true });
    await createKey(gateway, { key_alias: "s-lives", user_id: "states", duration: "1d" });
    const of = async (status: string) => everyAlias({ user_id: "states", status });
    expect([await of("blocked"), await of("active"), await of("expired")]).toEqual([
      ["s-blocked"],
      ["s-lives"],
      [],
    ]);
  });

  it("stays below 64 KB however long the rows are", async () => {
    const models = Array.from({ length: 5 }, (_, index) => `${"m".repeat(250)}${index}`);
    for (let index = 0; index < 50; index++)
      await createKey(gateway, {
        user_id: "long",
        key_alias: `${"a".repeat(240)}${index}`,
        models,
      });
    const page = await list({ user_id: "long", limit: "100" });
    expect(page.keys.length).toBeLessThan(50);
    expect(new Set(await everyAlias({ user_id: "long", limit: "100" })).size).toBe(50);
  });

  it("refuses what it does not have", async () => {
    expect(await refusalOf({ sort: "spend" })).toEqual([400, "sort"]);
    expect(await refusalOf({ limit: "101" })).toEqual([400, "limit"]);
    expect(await refusalOf({ limit: "5", page: "2" })).toEqual([400, "page"]);
    expect(await refusalOf({ cursor: "nonsense" })).toEqual([400, "cursor"]);
    expect(await refusalOf({ serach: "x" })).toEqual([400, "serach"]);
  });
});

describe("a change of many keys", () => {
  it("changes each by itself, and says what became of it", async () => {
    const [one, two] = [await createKey(gateway, {}), await createKey(gateway, {})];
    const keys = [one.token_id, "key_unknown", "yaml:desk", two.token_id];
    const bulk = async (body: object): Promise<AdminAnswer<"POST /key/bulk">> =>
      (await (await admin(gateway, "/key/bulk", body)).json()) as AdminAnswer<"POST /key/bulk">;
    const { results } = await bulk({ keys, action: "block" });
    expect(results.map(({ key, outcome }) => [key, outcome])).toEqual([
      [one.token_id, "done"],
      ["key_unknown", "missing"],
      ["yaml:desk", "refused"],
      [two.token_id, "done"],
    ]);
    expect(results[2]?.reason).toMatch(/declared in the configuration \(.*gateway\.yaml:\d+\)/);
    const blocked = await admin(gateway, `/key/info?key=${two.token_id}`);
    expect(((await blocked.json()) as AdminAnswer<"GET /key/info">).info.blocked).toBe(true);
    await bulk({ keys: [one.token_id], action: "update", fields: { rpm: 7 } });
    const changed = await admin(gateway, `/key/info?key=${one.token_id}`);
    expect(((await changed.json()) as AdminAnswer<"GET /key/info">).info.rpm_limit).toBe(7);
    await bulk({ keys: [one.token_id, two.token_id], action: "delete" });
    expect((await admin(gateway, `/key/info?key=${one.token_id}`)).status).toBe(404);
    // What the body does not name stays.
    expect(await everyAlias({ user_id: "pager", sort: "alias" })).toEqual(["p1", "p2", "p3"]);
    const audit = (await (await admin(gateway, `/audit?object=key:${one.token_id}`)).json()) as {
      lines: readonly { action: string }[];
    };
    expect(audit.lines.map(({ action }) => action)).toEqual([
      "key.delete",
      "key.update",
      "key.block",
      "key.create",
    ]);
  });

  it("refuses a wrong action, fields of another action, and more than a hundred keys", async () => {
    const { token_id: id } = await createKey(gateway, {});
    const refused = async (body: object): Promise<unknown> => {
      const response = await admin(gateway, "/key/bulk", body);
      return [
        response.status,
        ((await response.json()) as { error: { param: string } }).error.param,
      ];
    };
    expect(await refused({ keys: [id], action: "rotate" })).toEqual([400, "action"]);
    expect(await refused({ keys: [id], action: "block", fields: {} })).toEqual([400, "fields"]);
    expect(await refused({ keys: [id], action: "update", fields: { rmp: 1 } })).toEqual([
      400,
      "rmp",
    ]);
    const many = Array.from({ length: 101 }, (_, index) => `key_${index}`);
    expect(await refused({ keys: many, action: "block" })).toEqual([400, "keys"]);
    expect(await refused({ keys: ["key_unknown"], action: "block" })).toEqual([404, "keys"]);
  });
});
