import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LedgerDay, LedgerFilter, LedgerTag, Log, SpendRow, Store } from "@sluice/contract";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { amount } from "@sluice/testing";
import { openDatabase } from "../open-database.ts";
import { LedgerThread } from "./thread.ts";
import { createSqliteStore } from "../store.ts";

const DAY_MS = 86_400_000;
const log: Log = { debug() {}, info() {}, warn() {}, error() {} };
const host = { log, clock: { now: () => 0, monotonic: () => 0 }, dataDirectory: "/nonexistent" };
const never = new AbortController().signal;

const bare: SpendRow = {
  requestId: "r",
  attempt: 1,
  callType: "chat",
  keyId: "k",
  keyAlias: null,
  userId: null,
  teamId: null,
  organizationId: null,
  endUser: null,
  model: "m",
  targetId: null,
  modelGroup: null,
  provider: null,
  status: "success",
  errorCode: null,
  promptTokens: null,
  completionTokens: null,
  totalTokens: null,
  cachedTokens: null,
  reasoningTokens: null,
  usageSource: null,
  costNanoUsd: null,
  costStatus: "unpriced",
  cacheHit: false,
  startedAtMs: 0,
  firstContentAtMs: null,
  endedAtMs: 0,
  generation: 1,
  tags: [],
  metadata: {},
  clientAddress: null,
  upstreamRequestId: null,
  completionId: null,
};

const oneOf = (...values: string[]) => fc.constantFrom(...values);
/** Sums of a few of these leave what a double holds exactly. */
const count = fc.option(
  fc.oneof(fc.integer({ min: 0, max: 9 }), fc.constant(Number.MAX_SAFE_INTEGER)),
);
const rowParts = fc.record({
  requestId: oneOf("a", "b", "c", "d"),
  attempt: fc.integer({ min: 0, max: 3 }),
  keyId: oneOf("k1", "k2", "__proto__"),
  userId: fc.option(oneOf("u1", "u2")),
  teamId: fc.option(oneOf("t1")),
  model: oneOf("m1", "m2", ""),
  promptTokens: fc.option(fc.integer({ min: 0, max: 1_000 })),
  completionTokens: fc.option(fc.integer({ min: 0, max: 1_000 })),
  totalTokens: fc.option(fc.integer({ min: 0, max: 1_000 })),
  costNanoUsd: count,
  // Around midnights before and after 1970.
  startedAtMs: fc
    .tuple(fc.integer({ min: -2, max: 3 }), fc.integer({ min: -2, max: 2 }))
    .map(([day, ms]) => day * DAY_MS + ms),
  tags: fc.uniqueArray(oneOf("x", "y:1", "ü", "'"), { maxLength: 3 }),
});
const filters = fc.record(
  {
    requestId: oneOf("a", "b"),
    keyId: oneOf("k1", "k3"),
    userId: oneOf("u1"),
    teamId: oneOf("t1"),
    fromMs: fc.integer({ min: -2, max: 2 }).map((day) => day * DAY_MS + 1),
    toMs: fc.integer({ min: 0, max: 3 }).map((day) => day * DAY_MS + 1),
  },
  { requiredKeys: [] },
);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-reports-"));
});
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.useRealTimers());

let files = 0;
async function openStore(place: "memory" | "file"): Promise<Store> {
  const path = place === "memory" ? ":memory:" : join(folder, `${files++}.db`);
  const store = createSqliteStore({ path }, host);
  await store.start(never);
  return store;
}

test.each([
  ["memory", amount(15, 200)],
  ["file", amount(2, 15)],
] as const)(
  "sums up days and tags as a model of the same rows does, in a %s",
  { timeout: 60_000 },
  async (place, numRuns) => {
    const property = fc.asyncProperty(
      fc.array(rowParts, { maxLength: 30 }),
      filters,
      async (parts, filter) => {
        const store = await openStore(place);
        const rows = parts.map((part): SpendRow => ({ ...bare, ...part }));
        await store.ledger.insert(rows);
        const [days, tags] = await Promise.all([
          store.ledger.days(filter),
          store.ledger.tags(filter),
        ]);
        await store.stop();
        const kept = keptRows(rows, filter);
        expect(days.map(sorted)).toEqual(modelDays(kept).map(sorted));
        expect(tags).toEqual(modelTags(kept));
      },
    );
    await fc.assert(property, { numRuns });
  },
);

test("reads in the thread what was inserted a moment ago, page after page", async () => {
  const store = await openStore("file");
  const rows = Array.from({ length: 700 }, (_, index) => ({
    ...bare,
    requestId: `r${String(index).padStart(4, "0")}`,
    startedAtMs: index,
  }));
  for (let start = 0; start < rows.length; start += 100) {
    await store.ledger.insert(rows.slice(start, start + 100));
    expect(await store.ledger.rows({ limit: 1_000 })).toEqual(
      rows.slice(0, start + 100).toReversed(),
    );
  }
  expect(await store.ledger.rows({ limit: 5, before: "r0010:1" })).toEqual(
    rows.slice(5, 10).toReversed(),
  );
  await store.stop();
});

test("stops when the caller has left, and answers the next question", async () => {
  const store = await openStore("file");
  await store.ledger.insert([bare]);
  const leaving = new AbortController();
  const asked = store.ledger.days({}, leaving.signal);
  leaving.abort(new Error("gone"));
  await expect(asked).rejects.toThrow("gone");
  await expect(store.ledger.days({}, leaving.signal)).rejects.toThrow("gone");
  expect(await store.ledger.days({})).toHaveLength(1);
  await store.stop();
});

test("says after fifteen seconds that the first answer takes too long", async () => {
  const store = await openStore("file");
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const asked = store.ledger.days({}).catch((error: unknown) => error);
  vi.advanceTimersByTime(15_000);
  expect(await asked).toMatchObject({ code: "deadline_exceeded", status: 504 });
  vi.useRealTimers();
  await store.stop();
});

test("takes 64 questions at once and refuses more", async () => {
  const store = await openStore("file");
  const asked = Array.from({ length: 65 }, () =>
    store.ledger.tags({}).catch((error: unknown) => error),
  );
  const answers = await Promise.all(asked);
  expect(answers.filter((answer) => Array.isArray(answer))).toHaveLength(64);
  expect(answers.at(-1)).toMatchObject({ code: "overloaded", retryAfterMs: 1_000 });
  await store.stop();
});

test.each(["memory", "file"] as const)(
  "refuses a report that is too large, in a %s",
  async (place) => {
    const store = await openStore(place);
    // Every row a day of its own, and each day counts for ten names and its own three.
    const rows = Array.from({ length: 80_000 }, (_, day) => ({
      ...bare,
      requestId: `r${day}`,
      userId: "u",
      startedAtMs: day * DAY_MS,
    }));
    await store.ledger.insert(rows);
    await expect(store.ledger.days({})).rejects.toMatchObject({
      code: "invalid_field",
      status: 400,
    });
    expect(await store.ledger.days({ toMs: 50 * DAY_MS })).toHaveLength(50);
    await store.stop();
  },
);

test("ends the questions under way when the store stops", async () => {
  const store = await openStore("file");
  const asked = store.ledger.days({}).catch((error: unknown) => String(error));
  await store.stop();
  expect(await asked).toContain("the store is closed");
  await expect(store.ledger.days({})).rejects.toThrow("not open");
});

test("starts another thread when one died", async () => {
  const path = join(folder, "late.db");
  const errors: string[] = [];
  const thread = new LedgerThread(path, { ...log, error: (message) => void errors.push(message) });
  await expect(thread.ask({ about: "days", filter: {} })).rejects.toThrow(
    "the thread that reads the ledger ended",
  );
  expect(errors).toHaveLength(1);
  openDatabase(path, "normal").close();
  await expect(thread.ask({ about: "days", filter: {} })).rejects.toThrow("no such table: ledger");
  await thread.stop();
  await thread.stop();
});

/** The rows of a filter; of two with one key, the first. */
function keptRows(
  rows: readonly SpendRow[],
  { fromMs = -Infinity, toMs = Infinity, ...equal }: LedgerFilter,
): SpendRow[] {
  const kept = new Map<string, SpendRow>();
  for (const row of rows.toReversed()) kept.set(`${row.requestId}:${row.attempt}`, row);
  return [...kept.values()]
    .filter(({ startedAtMs }) => startedAtMs >= fromMs && startedAtMs < toMs)
    .filter((row) =>
      Object.entries(equal).every(([name, value]) => row[name as keyof SpendRow] === value),
    );
}

function modelDays(rows: readonly SpendRow[]): LedgerDay[] {
  const byDate = Map.groupBy(rows, ({ startedAtMs }) =>
    new Date(startedAtMs).toISOString().slice(0, 10),
  );
  return [...byDate.keys()].sort(compareDates).map((date) => {
    const own = byDate.get(date) ?? [];
    // A request counts once for each of its owners: in life it has one.
    const groups = [
      ...Map.groupBy(own, ({ model, userId, keyId }) =>
        JSON.stringify([model, userId, keyId]),
      ).values(),
    ];
    const unpriced = groups.map(
      (group) => new Set(group.filter(isUnpriced).map(({ requestId }) => requestId)).size,
    );
    return {
      date,
      costNanoUsd: cost(own),
      requests: own.filter(({ attempt }) => attempt <= 1).length,
      unpricedRequests: unpriced.reduce((sum, size) => sum + size, 0),
      promptTokens: own.reduce((sum, { promptTokens }) => sum + (promptTokens ?? 0), 0),
      completionTokens: own.reduce((sum, { completionTokens }) => sum + (completionTokens ?? 0), 0),
      totalTokens: own.reduce((sum, { totalTokens }) => sum + (totalTokens ?? 0), 0),
      models: costBy(own, ({ model }) => model),
      users: costBy(own, ({ userId }) => userId ?? ""),
      keys: costBy(own, ({ keyId }) => keyId),
    };
  });
}

function modelTags(rows: readonly SpendRow[]): LedgerTag[] {
  const names = [...new Set(rows.flatMap(({ tags }) => tags))];
  const tags = names.map((tag) => {
    const own = rows.filter((row) => row.tags.includes(tag));
    const totalTokens = own.reduce((sum, row) => sum + (row.totalTokens ?? 0), 0);
    return {
      tag,
      rows: own.length,
      unpricedRows: own.filter(isUnpriced).length,
      costNanoUsd: cost(own),
      totalTokens,
    };
  });
  return tags.sort(
    (a, b) => Number(b.costNanoUsd - a.costNanoUsd) || b.rows - a.rows || (a.tag < b.tag ? -1 : 1),
  );
}

function isUnpriced({ costNanoUsd }: SpendRow): boolean {
  return costNanoUsd === null;
}

function cost(rows: readonly SpendRow[]): bigint {
  return rows.reduce((sum, { costNanoUsd }) => sum + BigInt(costNanoUsd ?? 0), 0n);
}

function costBy(rows: readonly SpendRow[], nameOf: (row: SpendRow) => string): Map<string, bigint> {
  const groups = [...Map.groupBy(rows, nameOf)].filter(([name]) => name !== "");
  return new Map(groups.map(([name, own]) => [name, cost(own)]));
}

function compareDates(a: string, b: string): number {
  return Date.parse(a) - Date.parse(b);
}

/** Maps compare by their order; the order of a day's names means nothing. */
function sorted(day: LedgerDay): object {
  const entries = (map: ReadonlyMap<string, bigint>) =>
    [...map].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    ...day,
    models: entries(day.models),
    users: entries(day.users),
    keys: entries(day.keys),
  };
}
