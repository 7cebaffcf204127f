/**
 * Spend through the front door: who may read which rows, sums by day and tag, pages, calculations.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import {
  admin,
  chat,
  createKey,
  MESSAGES,
  openaiClient,
  rowsOf,
  type SpendRow,
} from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";

const DATES = "start_date=2020-01-01&end_date=2039-12-31";
const ROUTES = [
  ["GET", "/spend/logs", undefined],
  ["GET", `/spend/logs?${DATES}`, undefined],
  ["GET", "/spend/tags", undefined],
  ["POST", "/spend/calculate", JSON.stringify({ model: "gpt-4o-mini", messages: MESSAGES })],
] as const;

interface Day {
  readonly date: string;
  readonly startTime: string;
  readonly spend: number;
  readonly requests: number;
  readonly unpriced_requests: number;
  readonly total_tokens: number;
  readonly models: Readonly<Record<string, number>>;
  readonly users: Readonly<Record<string, number>>;
  readonly api_keys: Readonly<Record<string, number>>;
}
interface Tag {
  readonly individual_request_tag: string;
  readonly log_count: number;
  readonly total_spend: number;
  readonly total_tokens: number;
}

let upstream: Upstream;
let gateway: GatewayProcess;
/**
 * Keys of two tenants; `wide` reads its user's rows, `team` its team's, `mate` is of the same team.
 */
const keys: Record<"own" | "other" | "wide" | "team" | "mate", { key: string; token_id: string }> =
  {} as never;

beforeAll(async () => {
  upstream = await createUpstream();
  gateway = await startGateway({ baseUrl: upstream.baseUrl });
  keys.own = await createKey(gateway, {
    key_alias: "own",
    user_id: "alice",
    models: ["gpt-4o-mini", "openai/*"],
  });
  keys.other = await createKey(gateway, { key_alias: "other", user_id: "bob", models: ["echo"] });
  keys.wide = await createKey(gateway, {
    key_alias: "wide",
    user_id: "alice",
    spend_scope: "user",
  });
  for (const name of ["own", "other", "own"] as const)
    await say(name, name === "other" ? "echo" : "gpt-4o-mini", ["all", `by:${name}`]);
  await say("own", "openai/model-without-price", ["all"]);
  await say("wide", "gpt-4o-mini", []);
  const { team_id } = (await (
    await admin(gateway, "/team/new", { team_alias: "platform" })
  ).json()) as { team_id: string };
  keys.team = await createKey(gateway, { key_alias: "team", team_id, spend_scope: "team" });
  keys.mate = await createKey(gateway, { key_alias: "mate", team_id });
  await say("mate", "echo", []);
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

async function say(name: keyof typeof keys, model: string, tags: readonly string[]): Promise<void> {
  const headers = { authorization: `Bearer ${keys[name].key}` };
  const response = await chat(gateway, { model, messages: MESSAGES, tags }, { headers });
  if (response.status !== 200)
    throw new Error(`The chat answered ${response.status}: ${await response.text()}`);
  await response.text();
}

function call(path: string, key: string | undefined, init: RequestInit = {}): Promise<Response> {
  const headers = {
    "content-type": "application/json",
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
  };
  return fetch(`${gateway.publicUrl}${path}`, { headers, ...init });
}

async function read<T>(path: string, key = gateway.masterKey): Promise<T> {
  const response = await call(path, key);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`GET ${path} answered ${response.status}: ${text}`);
  return JSON.parse(text) as T;
}

const logs = (query: string, key?: string): Promise<SpendRow[]> =>
  read<SpendRow[]>(`/spend/logs?${query}`, key);
const keysOf = (rows: readonly SpendRow[]): string[] =>
  [...new Set(rows.map(({ api_key: key }) => key))].sort();
const calculate = (body: object, key = gateway.masterKey): Promise<Response> =>
  call("/spend/calculate", key, { method: "POST", body: JSON.stringify(body) });
const errorOf = async (
  response: Response,
): Promise<{ code: number; type: string; param: string | null; message: string }> =>
  (
    (await response.json()) as {
      error: { code: number; type: string; param: string | null; message: string };
    }
  ).error;

describe.each(ROUTES)("%s %s", (method, path, body) => {
  const init = { method, ...(body === undefined ? {} : { body }) };
  it("answers 401 without a key, and the same to one that is not known", async () => {
    const refusals = [await call(path, undefined, init), await call(path, "sk-unknown-key", init)];
    const bodies = await Promise.all(refusals.map((refusal) => refusal.text()));
    expect(refusals.map(({ status }) => status)).toEqual([401, 401]);
    expect(bodies[0]).toBe(bodies[1]);
  });

  it("answers 405 to another method, with what is allowed", async () => {
    const refusal = await call(path, gateway.masterKey, { method: "DELETE" });
    expect([refusal.status, refusal.headers.get("allow")]).toEqual([
      405,
      expect.stringContaining(method),
    ]);
  });

  it("answers a key and the master key", async () => {
    for (const key of [keys.own.key, gateway.masterKey])
      expect((await call(path, key, init)).status).toBe(200);
  });
});

describe("rows", () => {
  it("are a key's own, and of all keys for the master key", async () => {
    expect(keysOf(await logs("", keys.own.key))).toEqual([keys.own.token_id]);
    expect(keysOf(await logs("", keys.other.key))).toEqual([keys.other.token_id]);
    const allKeys = [keys.own, keys.other, keys.wide, keys.mate].map(({ token_id: id }) => id);
    expect(keysOf(await logs(""))).toEqual(allKeys.sort());
  });

  it("are a user's for a key whose record says so", async () => {
    expect(keysOf(await logs("", keys.wide.key))).toEqual(
      [keys.own.token_id, keys.wide.token_id].sort(),
    );
    expect(keysOf(await logs(`api_key=${keys.own.token_id}`, keys.wide.key))).toEqual([
      keys.own.token_id,
    ]);
    expect(await logs(`api_key=${keys.other.token_id}`, keys.wide.key)).toEqual([]);
    expect(await logs("user_id=bob", keys.wide.key)).toEqual([]);
  });

  it("are a team's for a key whose record says so", async () => {
    expect(keysOf(await logs("", keys.team.key))).toEqual([keys.mate.token_id]);
    expect(await logs("", keys.mate.key)).toEqual(await logs("", keys.team.key));
    expect(await logs(`api_key=${keys.own.token_id}`, keys.team.key)).toEqual([]);
    expect(await read<Day[]>(`/spend/logs?${DATES}`, keys.team.key)).toMatchObject([
      { requests: 1 },
    ]);
  });

  it("of a key are found by the key or its id", async () => {
    const byId = await logs(`api_key=${keys.own.token_id}`);
    expect(byId).toHaveLength(3);
    expect(await logs(`api_key=${keys.own.key}`)).toEqual(byId);
    expect(await logs(`api_key=${keys.own.key}`, keys.own.key)).toEqual(byId);
    expect(await logs("api_key=sk-unknown-key")).toEqual([]);
  });

  it("of another tenant are forbidden by key, and nowhere by request", async () => {
    const [theirs] = await logs("", keys.other.key);
    for (const named of [keys.other.token_id, keys.other.key, "sk-unknown-key"]) {
      const refusal = await call(`/spend/logs?api_key=${named}`, keys.own.key);
      expect([refusal.status, await errorOf(refusal)]).toEqual([
        403,
        {
          code: 403,
          type: "permission_error",
          param: "api_key",
          message: "A key may read its own spend rows only.",
        },
      ]);
    }
    expect(await logs(`request_id=${theirs?.request_id}`, keys.own.key)).toEqual([]);
    expect(await logs("user_id=bob", keys.own.key)).toEqual([]);
    expect(await logs(`request_id=${theirs?.request_id}&${DATES}`, keys.own.key)).toEqual([]);
  });

  it("come page by page, each once", async () => {
    const all = await logs("");
    const pages: SpendRow[] = [];
    let cursor: string | null = null;
    do {
      const response: Response = await call(
        `/spend/logs?limit=2${cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`}`,
        gateway.masterKey,
      );
      pages.push(...((await response.json()) as SpendRow[]));
      cursor = response.headers.get("x-sluice-next-cursor");
    } while (cursor !== null);
    expect(pages).toEqual(all);
  });

  it("are bounded by one date, and by two without a summary", async () => {
    const today = new Date().toISOString().slice(0, 10);
    const all = await logs("");
    expect(await logs(`start_date=${today.slice(0, 4)}-01-01`)).toEqual(all);
    expect(await logs("end_date=2020-01-01")).toEqual([]);
    expect(await logs("start_date=2039-01-01")).toEqual([]);
    expect(await logs(`${DATES}&summarize=false`)).toEqual(all);
  });

  it.each([
    "start_date=soon",
    "end_date=2026-02-30",
    "start_date=2026-01-02&end_date=2026-01-01",
    "summarize=perhaps",
    "limit=0",
    "cursor=x",
  ])("are refused for %s, naming the parameter", async (query) => {
    const refusal = await call(`/spend/logs?${query}`, gateway.masterKey);
    expect(refusal.status).toBe(400);
    expect(query).toContain((await errorOf(refusal)).param ?? "nothing");
  });

  it("never tell a key to the log", () => {
    for (const { key } of Object.values(keys))
      expect(gateway.stderr + gateway.stdout).not.toContain(key);
  });
});

describe("a summary", () => {
  it("has the sums of the rows of each day", async () => {
    for (const key of [gateway.masterKey, keys.own.key, keys.wide.key]) {
      const rows = await logs("", key);
      const days = await read<Day[]>(`/spend/logs?${DATES}`, key);
      expect(days.map(({ date }) => date)).toEqual(days.map(({ date }) => date).toSorted());
      const sum = (of: (row: SpendRow) => number | null): number =>
        rows.reduce((total, row) => total + (of(row) ?? 0), 0);
      const total = (of: (day: Day) => number): number =>
        days.reduce((all, day) => all + of(day), 0);
      expect(total(({ requests }) => requests)).toBe(rows.length);
      expect(total(({ total_tokens: tokens }) => tokens)).toBe(
        sum(({ total_tokens: tokens }) => tokens),
      );
      expect(total(({ spend }) => spend)).toBeCloseTo(
        sum(({ spend }) => spend),
        12,
      );
      expect(total(({ unpriced_requests: requests }) => requests)).toBe(
        rows.filter(({ spend }) => spend === null).length,
      );
      expect(
        [...new Set(days.flatMap(({ api_keys: named }) => Object.keys(named)))].sort(),
      ).toEqual(keysOf(rows));
    }
  });

  it("names a day by its date, and counts what has no price", async () => {
    const [day] = (await read<Day[]>(`/spend/logs?${DATES}&api_key=${keys.own.key}`)).toReversed();
    expect(day).toMatchObject({
      date: day?.startTime,
      unpriced_requests: 1,
      users: { alice: day?.spend },
    });
    expect(Object.keys(day?.models ?? {}).sort()).toEqual([
      "gpt-4o-mini",
      "openai/model-without-price",
    ]);
    expect(day?.models["gpt-4o-mini"]).toBeGreaterThan(0);
  });
});

describe("tags", () => {
  it("are summed up, highest spend first, a key's own", async () => {
    const own = await logs("", keys.own.key);
    const tags = await read<Tag[]>("/spend/tags", keys.own.key);
    expect(tags.map(({ individual_request_tag: tag, log_count: rows }) => [tag, rows])).toEqual([
      ["all", 3],
      ["by:own", 2],
    ]);
    expect(tags[0]?.total_tokens).toBe(own.reduce((sum, row) => sum + (row.total_tokens ?? 0), 0));
    expect(tags[0]?.total_spend).toBeCloseTo(
      own.reduce((sum, row) => sum + (row.spend ?? 0), 0),
      12,
    );
    const all = await read<Tag[]>("/spend/tags");
    expect(all.map(({ individual_request_tag: tag }) => tag)).toEqual([
      "all",
      "by:own",
      "by:other",
    ]);
    expect(await read<Tag[]>("/spend/tags?end_date=2020-01-01")).toEqual([]);
    expect(await read<Tag[]>(`/spend/tags?${DATES}`)).toEqual(all);
  });
});

describe("a calculation", () => {
  it("of a reply gives what its row says", async () => {
    const { data, response } = await openaiClient(gateway)
      .chat.completions.create({ model: "gpt-4o-mini", messages: MESSAGES })
      .withResponse();
    const [row] = await rowsOf(gateway, response.headers.get("x-request-id"));
    const answer = await calculate({ completion_response: data });
    expect(await answer.json()).toMatchObject({
      cost: row?.spend,
      model: "gpt-4o-mini",
      usage_source: "provider",
    });
  });

  it("of a dated name of the provider finds the model", async () => {
    const usage = { prompt_tokens: 1_000_000, completion_tokens: 0, total_tokens: 1_000_000 };
    const answer = await calculate({
      completion_response: { model: "gpt-4o-mini-2024-07-18", usage },
    });
    expect(await answer.json()).toMatchObject({ cost: 0.15, model: "gpt-4o-mini" });
  });

  it("of a prompt counts its tokens, and costs what it costs", async () => {
    const answer = (await (
      await calculate({
        model: "gpt-4o-mini",
        messages: [{ role: "user", content: "hello world" }],
      })
    ).json()) as {
      cost: number;
      prompt_tokens: number;
    };
    // Two words are two tokens; around them stand three for the message, one for its role, three
    // for the reply.
    expect(answer).toMatchObject({ prompt_tokens: 9, usage_source: "estimated" });
    expect(answer.cost).toBeCloseTo((9 * 0.15) / 1e6, 12);
  });

  it.each([
    ["neither form", {}, 400, "invalid_request_error"],
    [
      "both forms",
      { model: "gpt-4o-mini", messages: MESSAGES, completion_response: {} },
      400,
      "invalid_request_error",
    ],
    ["no messages", { model: "gpt-4o-mini" }, 400, "invalid_request_error"],
    ["an unknown model", { model: "unlisted", messages: MESSAGES }, 404, "not_found_error"],
    [
      "a model that the key may not use",
      { model: "gpt-4o", messages: MESSAGES },
      404,
      "not_found_error",
    ],
    [
      "an unknown price",
      { model: "openai/model-without-price", messages: MESSAGES },
      404,
      "not_found_error",
    ],
  ])("of %s is refused", async (_what, body, status, type) => {
    const refusal = await calculate(body, keys.own.key);
    expect(refusal.status).toBe(status);
    expect(await errorOf(refusal)).toMatchObject({ code: status, type });
  });

  it("of a body that is no JSON is refused, and leaves no row in any case", async () => {
    const before = (await logs("")).length;
    expect(
      (await call("/spend/calculate", gateway.masterKey, { method: "POST", body: "{" })).status,
    ).toBe(400);
    await calculate({ model: "gpt-4o-mini", messages: MESSAGES });
    expect(await logs("")).toHaveLength(before);
  });
});

describe("a row is readable within a second", () => {
  it("of the end of a stream", async () => {
    const response = await chat(gateway, {
      model: "gpt-4o-mini",
      messages: MESSAGES,
      stream: true,
    });
    await response.text();
    const rows = await rowsOf(gateway, response.headers.get("x-request-id"));
    expect(rows).toMatchObject([{ status: "success", usage_source: "provider" }]);
  });

  it("of an abort", async () => {
    upstream.script("leaver", { kind: "reply", text: "word ".repeat(200), eventDelayMs: 5 });
    const leaving = new AbortController();
    const response = await chat(
      gateway,
      { model: "gpt-4o-mini", messages: MESSAGES, stream: true, user: "leaver" },
      { signal: leaving.signal },
    );
    await response.body?.getReader().read();
    leaving.abort();
    const rows = await eventually("the row of the abort", async () => {
      const found = await logs(`request_id=${response.headers.get("x-request-id")}`);
      return found.length > 0 && found;
    });
    expect(rows).toMatchObject([{ status: "partial", error_code: "client_closed" }]);
  });
});
