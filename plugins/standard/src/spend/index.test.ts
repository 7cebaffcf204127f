import { describe, expect, it } from "vitest";
import {
  type Identity,
  isGatewayError,
  type LedgerDay,
  type LedgerFilter,
  type LedgerQuery,
  type LedgerTag,
  type SpendRow,
} from "@sluice/contract";
import { fakeClient, fakeExchange, fakeHost, fakeIdentity } from "@sluice/testing";
import { publicRow } from "./row.ts";
import { spend } from "./index.ts";

const row: SpendRow = {
  requestId: "r",
  attempt: 1,
  callType: "chat",
  keyId: "key-1",
  keyAlias: "ci",
  userId: "u",
  teamId: "t",
  organizationId: null,
  endUser: null,
  model: "m",
  targetId: "openai/m",
  modelGroup: "m",
  provider: "openai",
  status: "success",
  errorCode: null,
  promptTokens: 1,
  completionTokens: 2,
  totalTokens: 3,
  cachedTokens: null,
  reasoningTokens: null,
  usageSource: "provider",
  costNanoUsd: 1_234_567,
  costStatus: "priced",
  cacheHit: false,
  startedAtMs: Date.UTC(2026, 0, 1),
  firstContentAtMs: null,
  endedAtMs: Date.UTC(2026, 0, 1, 0, 0, 1),
  generation: 1,
  tags: ["a"],
  metadata: { x: 1 },
  clientAddress: "127.0.0.1",
  upstreamRequestId: "req_1",
  completionId: "chatcmpl-up",
};

const day: LedgerDay = {
  date: "2026-01-01",
  costNanoUsd: 9_007_199_254_740_993_000n,
  requests: 2,
  unpricedRequests: 1,
  promptTokens: 10,
  completionTokens: 20,
  totalTokens: 30,
  models: new Map([
    ["m", 500_000_000n],
    ["__proto__", 1n],
  ]),
  users: new Map([["u", 500_000_000n]]),
  keys: new Map([["key-1", 500_000_000n]]),
};

const tag: LedgerTag = {
  tag: "project:a",
  rows: 2,
  unpricedRows: 1,
  costNanoUsd: 1_500_000_000n,
  totalTokens: 7,
};

/** Key ids by key. */
const KEYS: Readonly<Record<string, string>> = { "sk-own": "key-1", "sk-other": "key-2" };

interface Answer {
  readonly rows: LedgerQuery[];
  readonly days: LedgerFilter[];
  readonly tags: LedgerFilter[];
  readonly body: unknown;
  readonly headers: ReadonlyMap<string, string>;
}

/** Asks, and returns the questions that reached the ledger with what came back. */
async function ask(
  path: string,
  identity: Identity | undefined = fakeIdentity(),
  found: readonly SpendRow[] = [row],
): Promise<Answer> {
  const questions = {
    rows: [] as LedgerQuery[],
    days: [] as LedgerFilter[],
    tags: [] as LedgerFilter[],
  };
  const host = fakeHost({
    ledger: {
      rows: async (query) => (questions.rows.push(query), found),
      days: async (filter) => (questions.days.push(filter), [day]),
      tags: async (filter) => (questions.tags.push(filter), [tag]),
      report: async () => [],
      spent: async () => 0,
    },
    authority: {
      identify: () => undefined,
      keyIdOf: async (presented) => KEYS[presented],
      foreignTag: () => undefined,
      teamModels: async () => undefined,
      mayUse: () => true,
      headerNames: [],
      customerHeaders: [],
      customerOf: () => undefined,
    },
  });
  const [name = "", query = ""] = path.split("?");
  const exchange = fakeExchange({
    operation: "spend",
    client: fakeClient({}, { path: `/spend/${name}`, query }),
    identity,
  });
  await spend.create({}, host).run({ exchange }, async () => undefined);
  const { reply } = exchange;
  const body =
    reply?.kind === "whole" ? (JSON.parse(String(reply.document.bytes)) as unknown) : undefined;
  return { ...questions, body, headers: exchange.headers };
}

const master = fakeIdentity({ kind: "master", keyId: "master" });
const rowsAsked = async (path: string, identity?: Identity) => (await ask(path, identity)).rows[0];

describe("spend rows", () => {
  it("are a key's own", async () => {
    expect(await rowsAsked("logs")).toEqual({ keyId: "key-1", limit: 1_001 });
    expect(await rowsAsked("logs?api_key=key-1")).toEqual({ keyId: "key-1", limit: 1_001 });
    expect(await rowsAsked("logs?api_key=sk-own")).toEqual({ keyId: "key-1", limit: 1_001 });
  });

  it.each(["key-2", "sk-other", "sk-unknown", "master"])(
    "of another key are forbidden: %s",
    async (other) => {
      const refused = await ask(`logs?api_key=${encodeURIComponent(other)}`).catch(
        (error: unknown) => error,
      );
      expect(refused).toMatchObject({ code: "permission_denied", status: 403, param: "api_key" });
      expect(isGatewayError(refused) && refused.message).toBe(
        "A key may read its own spend rows only.",
      );
    },
  );

  it("are narrowed by a filter, never widened", async () => {
    const question = await rowsAsked("logs?user_id=other&request_id=r1&limit=5&cursor=r0%3A1");
    expect(question).toEqual({
      keyId: "key-1",
      userId: "other",
      requestId: "r1",
      completionId: "r1",
      limit: 6,
      before: "r0:1",
    });
  });

  it("are a user's where the key's record says so, and no other user's", async () => {
    const identity = fakeIdentity({ spendScope: "user", userId: "u" });
    expect(await rowsAsked("logs", identity)).toEqual({ userId: "u", limit: 1_001 });
    expect(await rowsAsked("logs?api_key=sk-other", identity)).toEqual({
      userId: "u",
      keyId: "key-2",
      limit: 1_001,
    });
    const other = await ask("logs?user_id=other", identity);
    expect([other.rows, other.body]).toEqual([[], []]);
  });

  it("are a team's where the key's record says so", async () => {
    const identity = fakeIdentity({ spendScope: "team", teamId: "t", userId: "u" });
    expect(await rowsAsked("logs", identity)).toEqual({ teamId: "t", limit: 1_001 });
    expect(await rowsAsked("logs?user_id=v", identity)).toEqual({
      teamId: "t",
      userId: "v",
      limit: 1_001,
    });
  });

  it("are all of them for the master key, or those of the key it names", async () => {
    expect(await rowsAsked("logs", master)).toEqual({ limit: 1_001 });
    expect(await rowsAsked("logs?api_key=key-2", master)).toEqual({ limit: 1_001, keyId: "key-2" });
    expect(await rowsAsked("logs?api_key=sk-other", master)).toEqual({
      limit: 1_001,
      keyId: "key-2",
    });
  });

  it("are listed from one date on, up to the other, and between both without a summary", async () => {
    const [fromMs, toMs] = [Date.UTC(2026, 0, 31), Date.UTC(2026, 1, 2)];
    expect(await rowsAsked("logs?start_date=2026-01-31", master)).toEqual({ limit: 1_001, fromMs });
    expect(await rowsAsked("logs?end_date=2026-02-01&summarize=true", master)).toEqual({
      limit: 1_001,
      toMs,
    });
    const both = await rowsAsked(
      "logs?start_date=2026-01-31&end_date=2026-02-01&summarize=False",
      master,
    );
    expect(both).toEqual({ limit: 1_001, fromMs, toMs });
  });

  it("say where the next page begins, and that there is none", async () => {
    const found = [row, { ...row, requestId: "q", attempt: 2 }, { ...row, requestId: "p" }];
    const page = await ask("logs?limit=2", master, found);
    expect(page.body).toMatchObject([{ request_id: "r" }, { request_id: "q" }]);
    expect(page.headers.get("x-sluice-next-cursor")).toBe("q:2");
    const last = await ask("logs?limit=3", master, found);
    expect(last.body).toHaveLength(3);
    expect(last.headers.has("x-sluice-next-cursor")).toBe(false);
  });

  it("are refused without an identity", async () => {
    const exchange = fakeExchange({ client: fakeClient({}, { path: "/spend/logs" }) });
    const step = spend.create({}, fakeHost());
    await expect(step.run({ exchange }, async () => undefined)).rejects.toMatchObject({
      code: "permission_denied",
    });
  });
});

describe("a spend query", () => {
  const dates = "start_date=2026-01-01&end_date=2026-01-02";
  it.each([
    ["logs?limit=0", "limit"],
    ["logs?limit=-1", "limit"],
    ["logs?limit=1.5", "limit"],
    ["logs?limit=1001", "limit"],
    ["logs?limit=1e2", "limit"],
    ["logs?limit=", "limit"],
    ["logs?cursor=nonsense", "cursor"],
    ["logs?api_key=", "api_key"],
    ["logs?user_id=a&user_id=b", "user_id"],
    ["logs?summarize=maybe", "summarize"],
    ["logs?summarize=toString", "summarize"],
    [`logs?${dates}&limit=5`, "limit"],
    [`logs?${dates}&cursor=r:1`, "cursor"],
    ["logs?start_date=yesterday", "start_date"],
    ["logs?start_date=2026-02-29", "start_date"],
    ["logs?end_date=2026-13-01", "end_date"],
    ["logs?end_date=2026-01-01T24:00:00Z", "end_date"],
    ["logs?end_date=2026-01-01T10:00:00%2B19:00", "end_date"],
    ["logs?start_date=2026-01-02&end_date=2026-01-01", "end_date"],
    ["logs?start_date=2026-01-02&end_date=2026-01-01&summarize=false", "end_date"],
    ["logs?api-key=key-2", "api-key"],
    ["tags?start_date=nonsense", "start_date"],
    ["tags?summarize=true", "summarize"],
    ["tags?start_date=2026-01-02&end_date=2026-01-01", "end_date"],
  ])("%s is refused with the parameter's name", async (path, param) => {
    await expect(ask(path, master)).rejects.toMatchObject({
      code: "invalid_field",
      status: 400,
      param,
    });
  });

  it.each([
    ["2026-01-31", Date.UTC(2026, 0, 31), Date.UTC(2026, 1, 1)],
    ["2024-02-29", Date.UTC(2024, 1, 29), Date.UTC(2024, 2, 1)],
    [
      "2026-01-31T10:20:30Z",
      Date.UTC(2026, 0, 31, 10, 20, 30),
      Date.UTC(2026, 0, 31, 10, 20, 30, 1),
    ],
    [
      "2026-01-31 10:20:30",
      Date.UTC(2026, 0, 31, 10, 20, 30),
      Date.UTC(2026, 0, 31, 10, 20, 30, 1),
    ],
    ["2026-01-31T10:20", Date.UTC(2026, 0, 31, 10, 20), Date.UTC(2026, 0, 31, 10, 20, 0, 1)],
    [
      "2026-01-31T10:20:30.1239Z",
      Date.UTC(2026, 0, 31, 10, 20, 30, 123),
      Date.UTC(2026, 0, 31, 10, 20, 30, 124),
    ],
    [
      "2026-01-31T01:20:30+02:00",
      Date.UTC(2026, 0, 30, 23, 20, 30),
      Date.UTC(2026, 0, 30, 23, 20, 30, 1),
    ],
    [
      "2026-01-31T01:20:30 02:00",
      Date.UTC(2026, 0, 30, 23, 20, 30),
      Date.UTC(2026, 0, 30, 23, 20, 30, 1),
    ],
    [
      "2026-01-31T22:20:30-0330",
      Date.UTC(2026, 1, 1, 1, 50, 30),
      Date.UTC(2026, 1, 1, 1, 50, 30, 1),
    ],
  ])("%s is inclusive as a start and as an end", async (text, fromMs, toMs) => {
    const query = new URLSearchParams({ start_date: text, end_date: text, summarize: "0" });
    expect(await rowsAsked(`logs?${String(query)}`, master)).toEqual({
      limit: 1_001,
      fromMs,
      toMs,
    });
  });
});

describe("a summary", () => {
  it("is given where both dates are, under the same filters as rows", async () => {
    const asked = await ask(
      "logs?start_date=2026-01-01&end_date=2026-01-01&request_id=r&user_id=u",
    );
    const fromMs = Date.UTC(2026, 0, 1);
    expect(asked.rows).toEqual([]);
    expect(asked.days).toEqual([
      {
        keyId: "key-1",
        userId: "u",
        requestId: "r",
        completionId: "r",
        fromMs,
        toMs: fromMs + 86_400_000,
      },
    ]);
  });

  it("has a day's sums in dollars, and by model, user and key", async () => {
    const { body } = await ask("logs?start_date=2026-01-01&end_date=2026-01-01", master);
    expect(body).toEqual([
      {
        date: "2026-01-01",
        startTime: "2026-01-01",
        spend: 9_007_199_254.740993,
        requests: 2,
        unpriced_requests: 1,
        prompt_tokens: 10,
        completion_tokens: 20,
        total_tokens: 30,
        models: JSON.parse('{ "m": 0.5, "__proto__": 1e-9 }') as unknown,
        users: { u: 0.5 },
        api_keys: { "key-1": 0.5 },
      },
    ]);
  });
});

describe("tags", () => {
  it("are summed up over the dates, a key's own", async () => {
    const { tags, body } = await ask("tags?start_date=2026-01-31&end_date=2026-01-31");
    expect(tags).toEqual([
      { keyId: "key-1", fromMs: Date.UTC(2026, 0, 31), toMs: Date.UTC(2026, 1, 1), limit: 1000 },
    ]);
    expect(body).toEqual([
      {
        individual_request_tag: "project:a",
        log_count: 2,
        unpriced_log_count: 1,
        total_spend: 1.5,
        total_tokens: 7,
      },
    ]);
  });

  it("are of all time without dates, and of all keys for the master key", async () => {
    expect((await ask("tags?limit=5", master)).tags).toEqual([{ limit: 5 }]);
  });
});

it("a report of another name does not exist", async () => {
  await expect(ask("toString", master)).rejects.toMatchObject({ code: "route_not_found" });
});

describe("the public row", () => {
  it("speaks the words of the interface", async () => {
    expect((await ask("logs")).body).toMatchObject([
      {
        request_id: "r",
        api_key: "key-1",
        spend: 0.001234567,
        startTime: "2026-01-01T00:00:00.000Z",
        endTime: "2026-01-01T00:00:01.000Z",
        completionStartTime: null,
        model: "m",
        model_id: "openai/m",
        custom_llm_provider: "openai",
        user: "u",
        team_id: "t",
        request_tags: ["a"],
        status: "success",
        usage_source: "provider",
        cost_status: "priced",
      },
    ]);
  });

  it("has no spend, rather than none, when the price is unknown", () => {
    expect(publicRow({ ...row, costNanoUsd: null, costStatus: "unpriced" })).toMatchObject({
      spend: null,
      cost_status: "unpriced",
    });
  });
});
