/**
 * Reports of spend through the front door: they equal the rows of /spend/logs, on both listeners,
 * after a restart and after a kill.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { admin, chat, createKey, MESSAGES, type SpendRow } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, runCommand, startGateway } from "../support/gateway-process.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

interface Row extends SpendRow {
  readonly user: string | null;
  readonly team_id: string | null;
  readonly organization_id: string | null;
  readonly startTime: string;
  readonly cached_tokens: number | null;
}
type Group = Readonly<Record<string, string | number | null>>;
interface Report {
  readonly data: readonly Group[];
  readonly next_cursor: string | null;
}

const COLUMNS: Readonly<Record<string, (row: Row) => readonly (string | null)[]>> = {
  organization_id: (row) => [row.organization_id],
  team_id: (row) => [row.team_id],
  user_id: (row) => [row.user],
  api_key: (row) => [row.api_key],
  tag: (row) => row.request_tags,
  model: (row) => [row.model === "" ? null : row.model],
  provider: (row) => [row.model_id?.split("/")[0] ?? null],
  end_user: (row) => (row.end_user === null ? [] : [row.end_user]),
};
const DIMENSIONS: Readonly<Record<string, string>> = {
  organization: "organization_id",
  team: "team_id",
  user: "user_id",
  key: "api_key",
  tag: "tag",
  model: "model",
  provider: "provider",
  customer: "end_user",
};
const PAIRS = Object.keys(DIMENSIONS).flatMap((first) =>
  Object.keys(DIMENSIONS)
    .filter(
      (second) => second !== first && ![first, second].every((one) => /tag|customer/.test(one)),
    )
    .map((second) => [first, second]),
);

let upstream: Upstream;
let workspace: Workspace;
let gateway: GatewayProcess;
const keys: Record<"own" | "mate" | "wide" | "lone", { key: string; token_id: string }> =
  {} as never;
let teamId = "";

beforeAll(async () => {
  upstream = await createUpstream();
  workspace = createWorkspace({ baseUrl: upstream.baseUrl });
  gateway = await startGateway(workspace);
  const made = await admin(gateway, "/team/new", { team_alias: "platform" });
  ({ team_id: teamId } = (await made.json()) as { team_id: string });
  keys.own = await createKey(gateway, { key_alias: "own", user_id: "alice", team_id: teamId });
  keys.mate = await createKey(gateway, { key_alias: "mate", team_id: teamId, spend_scope: "team" });
  keys.wide = await createKey(gateway, {
    key_alias: "wide",
    user_id: "alice",
    spend_scope: "user",
  });
  keys.lone = await createKey(gateway, { key_alias: "=1+1", models: ["echo"] });
  await traffic();
});
afterAll(async () => {
  await gateway?.dispose();
  workspace?.remove();
  await upstream?.close();
});

async function say(
  name: keyof typeof keys,
  model: string,
  more: Readonly<Record<string, unknown>> = {},
): Promise<number> {
  const headers = { authorization: `Bearer ${keys[name].key}` };
  const response = await chat(gateway, { model, messages: MESSAGES, ...more }, { headers });
  await response.text();
  return response.status;
}

/** Requests that succeed, have no price, are refused, carry tags and name customers. */
async function traffic(): Promise<void> {
  expect(await say("own", "gpt-4o-mini", { tags: ["a", "b"], user: "customer-1" })).toBe(200);
  expect(await say("own", "openai/model-without-price", { tags: ["a"] })).toBe(200);
  expect(await say("mate", "echo", { user: "customer-1", stream: true })).toBe(200);
  expect(await say("wide", "gpt-4o-mini", { user: "customer 2", tags: ["=2+2"] })).toBe(200);
  expect(await say("lone", "gpt-4o-mini")).toBe(404);
  for (let index = 0; index < 70; index++) expect(await say("lone", `none-${index}`)).toBe(404);
}

async function read<T>(path: string, key = gateway.masterKey, url = gateway.publicUrl): Promise<T> {
  const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`GET ${path} answered ${response.status}: ${text}`);
  return JSON.parse(text) as T;
}
const rowsFor = (key?: string): Promise<Row[]> => read<Row[]>("/spend/logs", key);
const reportFor = async (query: string, key?: string, url?: string): Promise<readonly Group[]> =>
  (await read<Report>(`/spend/report?${query}`, key, url)).data;

/** The groups that the rows of /spend/logs have, by the amounts that they show. */
function groupsOf(rows: readonly Row[], by: readonly string[]): unknown[] {
  const groups = new Map<string, Record<string, string | number | null>>();
  for (const row of rows) {
    const [first = [null], second = [null]] = by.map((column) => COLUMNS[column]?.(row) ?? [null]);
    for (const one of first)
      for (const other of second) {
        const ids = [one, other].slice(0, by.length);
        const name = JSON.stringify(ids);
        const group = groups.get(name) ?? {
          ...Object.fromEntries(by.map((column, index) => [column, ids[index] ?? null])),
          nano: 0,
          requests: 0,
          rows: 0,
          failed_rows: 0,
          unpriced_rows: 0,
          total_tokens: 0,
        };
        const count = Number(row.metadata["refusals"] ?? 1);
        const add = (member: string, amount: number): void => {
          group[member] = Number(group[member]) + amount;
        };
        add("nano", Math.round((row.spend ?? 0) * 1e9));
        add("requests", row.attempt <= 1 ? count : 0);
        add("rows", count);
        add("failed_rows", row.status === "failure" ? count : 0);
        add("unpriced_rows", row.spend === null ? count : 0);
        add("total_tokens", row.total_tokens ?? 0);
        groups.set(name, group);
      }
  }
  return inOrder([...groups.values()]);
}

function shown(groups: readonly Group[], by: readonly string[]): unknown[] {
  return inOrder(
    groups.map((group) => ({
      ...Object.fromEntries(by.map((column) => [column, group[column] ?? null])),
      nano: Number(group["spend_nano_usd"]),
      requests: group["requests"],
      rows: group["rows"],
      failed_rows: group["failed_rows"],
      unpriced_rows: group["unpriced_rows"],
      total_tokens: group["total_tokens"],
    })),
  );
}

const inOrder = (groups: readonly object[]): object[] =>
  groups
    .map((group) => JSON.stringify(group))
    .sort()
    .map((text) => JSON.parse(text) as object);

/** Compares every report of one and of two dimensions with the rows, for one reader. */
async function differences(key?: string, url?: string): Promise<unknown[]> {
  const rows = await rowsFor(key);
  const found: unknown[] = [];
  for (const names of [[], ...Object.keys(DIMENSIONS).map((name) => [name]), ...PAIRS]) {
    const by = names.map((name) => DIMENSIONS[name] ?? "");
    const query = names.length === 0 ? "" : `group_by=${names.join(",")}`;
    const [expected, actual] = [groupsOf(rows, by), shown(await reportFor(query, key, url), by)];
    if (JSON.stringify(expected) !== JSON.stringify(actual))
      found.push({ names, expected, actual });
  }
  return found;
}

describe("a report of the master key", () => {
  it("equals the rows, by every dimension and every two, on both listeners", async () => {
    expect((await rowsFor()).length).toBeGreaterThan(60);
    // Refusals that are counted together have their row at the end of a minute, also while the
    // reports are read.
    let found: unknown[] = [];
    const areEqual = async (): Promise<boolean> => {
      found = [...(await differences()), ...(await differences(undefined, gateway.adminUrl))];
      return found.length === 0;
    };
    await eventually("reports that equal the rows", areEqual).catch(() => undefined);
    expect(found).toEqual([]);
  });

  it("has the hours and the days of its rows", async () => {
    const rows = await rowsFor();
    for (const [bucket, length] of [
      ["hour", 13],
      ["day", 10],
    ] as const) {
      const starts = (await reportFor(`bucket=${bucket}&group_by=key`)).map((group) =>
        String(group["start"]).slice(0, length),
      );
      const times = rows.map(({ startTime }) => startTime.slice(0, length));
      expect(new Set(starts)).toEqual(new Set(times));
    }
  });

  it("is filtered, bounded by days, sorted by spend, and has pages", async () => {
    const today = new Date().toISOString().slice(0, 10);
    const all = await reportFor("group_by=key");
    expect(await reportFor(`group_by=key&from=2020-01-01&to=${today}`)).toEqual(all);
    expect(await reportFor("group_by=key&to=2020-01-01")).toEqual([]);
    const rows = await rowsFor();
    const ofAlice = rows.filter(({ user }) => user === "alice");
    expect(shown(await reportFor("group_by=tag&user_id=alice"), ["tag"])).toEqual(
      groupsOf(ofAlice, ["tag"]),
    );
    expect(await reportFor(`group_by=key&api_key=${keys.own.key}`)).toMatchObject([
      { api_key: keys.own.token_id, key_alias: "own" },
    ]);
    const spends = (await reportFor("group_by=key&order=spend")).map((group) =>
      Number(group["spend"]),
    );
    expect(spends).toEqual(spends.toSorted((a, b) => b - a));
    const pages: Group[] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const page: Report = await read<Report>(
        `/spend/report?group_by=key,tag&bucket=day&limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`,
      );
      pages.push(...page.data);
      cursor = page.next_cursor;
    }
    expect(pages).toEqual(await reportFor("group_by=key,tag&bucket=day"));
  });

  it("is CSV whose formulas do not run", async () => {
    const response = await fetch(`${gateway.publicUrl}/spend/report?group_by=tag&format=csv`, {
      headers: { authorization: `Bearer ${gateway.masterKey}` },
    });
    expect(response.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    const [header, ...lines] = (await response.text()).trimEnd().split("\r\n");
    expect(header).toMatch(/^tag,spend,lost_spend,requests,rows,/);
    expect(lines.map((line) => line.split(",")[0])).toEqual(["'=2+2", "a", "b"]);
    const [first] = (await reportFor("group_by=tag")).map((group) => group["spend_nano_usd"]);
    expect(lines[0]?.split(",")[1]?.replace(/^0+\.?0*|\./g, "") || "0").toBe(first);
  });
});

describe("a report of a virtual key", () => {
  it.each(["own", "mate", "wide", "lone"] as const)("has its own scope: %s", async (name) => {
    expect(await differences(keys[name].key)).toEqual([]);
  });

  it("is narrowed by a filter, never widened", async () => {
    const status = async (query: string, key: string): Promise<number> =>
      (
        await fetch(`${gateway.publicUrl}/spend/report?${query}`, {
          headers: { authorization: `Bearer ${key}` },
        })
      ).status;
    expect(await status(`api_key=${keys.lone.token_id}`, keys.own.key)).toBe(403);
    expect(await reportFor("team_id=another", keys.mate.key)).toEqual([]);
    expect(await reportFor("user_id=bob", keys.wide.key)).toEqual([]);
    expect(await reportFor(`api_key=${keys.lone.token_id}`, keys.mate.key)).toEqual([]);
    expect(await reportFor("user_id=bob", keys.own.key)).toEqual([]);
    expect(await reportFor("organization_id=o", keys.own.key)).toEqual([]);
  });

  it("is refused on the admin listener: a key has no role", async () => {
    expect((await admin(gateway, "/spend/report", undefined, keys.own.key)).status).toBe(403);
  });
});

describe("the summary of the admin listener", () => {
  const day = (days: number): string =>
    new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  const period = `from=${day(-1)}&to=${day(1)}`;
  const span = `${period}&bucket=hour`;
  const summary = <T>(query: string): Promise<T> =>
    read<T>(`/spend/summary?${query}`, gateway.masterKey, gateway.adminUrl);
  interface Summary {
    readonly before_from: string;
    readonly total: Group;
    readonly times: readonly Group[];
    readonly groups: readonly Group[];
  }

  it("has the total, the times and the groups that the reports have", async () => {
    for (const by of ["key", "model", "tag"]) {
      const { total, times, groups, before_from } = await summary<Summary>(
        `${span}&group_by=${by}`,
      );
      expect([total]).toEqual(await reportFor(period));
      expect(times).toEqual(
        (await reportFor(span)).map(({ start, spend, lost_spend }) => ({
          start,
          spend,
          lost_spend,
        })),
      );
      const report = await reportFor(`${period}&group_by=${by}&order=spend&limit=50`);
      expect(groups).toEqual(report.map((group) => ({ ...group, spend_before: null })));
      expect(Date.parse(day(-1)) - Date.parse(before_from)).toBe(3 * 86_400_000);
    }
  });

  it.each([
    ["group_by=key,team", "group_by"],
    ["group_by=tag&end_user=x&bucket=day", "group_by"],
    ["group_by=key&from=2020-01-01", "to"],
  ])("%s is refused with the parameter's name", async (query, param) => {
    const parameters = new URLSearchParams(`${span}&${query}`);
    // The last value of each: no parameter is repeated.
    const answer = await admin(
      gateway,
      `/spend/summary?${new URLSearchParams(Object.fromEntries(parameters))}`,
    );
    expect(answer.status).toBe(400);
    expect(((await answer.json()) as { error: { param: string } }).error.param).toBe(param);
  });
});

it.each([
  ["group_by=keys", "group_by"],
  ["group_by=key,key", "group_by"],
  ["group_by=key,team,user", "group_by"],
  ["group_by=tag,customer", "group_by"],
  ["bucket=week", "bucket"],
  ["group_by=customer&bucket=hour", "bucket"],
  ["from=2030-01-31T08:30Z", "from"],
  ["end_user=x&to=2030-01-31T08:00Z", "to"],
  ["from=2030-01-31&to=2030-01-30", "to"],
  ["order=spend&bucket=day", "order"],
  ["order=spend&cursor=W10", "cursor"],
  ["cursor=W10", "cursor"],
  ["group_by=key&cursor=W251bGxd", "cursor"],
  ["limit=0", "limit"],
  ["format=xml", "format"],
  ["filter=x", "filter"],
])("%s is refused with the parameter's name, on both listeners", async (query, param) => {
  for (const url of [gateway.publicUrl, gateway.adminUrl]) {
    const refusal = await fetch(`${url}/spend/report?${query}`, {
      headers: { authorization: `Bearer ${gateway.masterKey}` },
    });
    expect(refusal.status).toBe(400);
    expect(((await refusal.json()) as { error: { param: string } }).error.param).toBe(param);
  }
});

async function run(...args: readonly string[]): Promise<{ code: number | null; stdout: string }> {
  const command = runCommand(args, workspace.folder, { SLUICE_MASTER_KEY: gateway.masterKey });
  const { code } = await command.ended;
  return { code, stdout: command.stdout };
}

describe("the commands", () => {
  it("print a table, JSON and CSV, and say that the sums are exact", async () => {
    const place = ["--config", workspace.configPath, "--admin-url", gateway.adminUrl];
    const table = await run("spend", "--by", "team", ...place);
    expect(table.stdout).toMatch(/^TEAM ID +SPEND +REQUESTS/);
    expect(table.stdout).toContain(teamId);
    const json = JSON.parse(
      (await run("spend", "--by", "key", "--json", ...place)).stdout,
    ) as Report;
    expect(json.data).toEqual(await reportFor("group_by=key"));
    const csv = await run("spend", "--by", "key", "--csv", ...place);
    expect(csv.stdout.split("\r\n")).toHaveLength(json.data.length + 2);
    const verified = await run("ledger", "verify", "--config", workspace.configPath);
    expect(verified).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/sums? of .* are exact/),
    });
  });
});

it("a key that was deleted keeps its id and its alias in reports", async () => {
  await admin(gateway, "/key/delete", { keys: [keys.lone.token_id] });
  expect(
    await reportFor(`group_by=key&api_key=${keys.lone.token_id}`, undefined, gateway.adminUrl),
  ).toMatchObject([{ api_key: keys.lone.token_id, key_alias: "=1+1" }]);
});

it("a restart and a kill in the middle of traffic change no sum", async () => {
  await gateway.stop();
  gateway = await startGateway(workspace);
  expect(await differences()).toEqual([]);
  const before = (await rowsFor()).length;
  const asked = Array.from({ length: 40 }, (_, index) =>
    say("own", "gpt-4o-mini", { tags: [`t${index % 3}`], user: `c${index % 5}` }).catch(() => 0),
  );
  await Promise.race(asked);
  await gateway.kill();
  await Promise.all(asked);
  gateway = await startGateway(workspace);
  await eventually("rows of the killed process", async () => (await rowsFor()).length > before);
  await eventually("equal sums", async () => (await differences()).length === 0);
  expect((await run("ledger", "verify", "--config", workspace.configPath)).code).toBe(0);
});
