import type { Log, SpendRow, Store } from "@sluice/contract";
import { amount } from "@sluice/testing";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createSqliteStore } from "../store.ts";

const log: Log = { debug() {}, info() {}, warn() {}, error() {} };
const host = { log, clock: { now: () => 0, monotonic: () => 0 }, dataDirectory: "/nonexistent" };

/** Every member has a value of its own, so that no two columns can be exchanged unnoticed. */
const full: SpendRow = {
  requestId: "0190-request",
  attempt: 1,
  callType: "acompletion",
  keyId: "k1",
  keyAlias: "alias",
  userId: "u1",
  teamId: "t1",
  organizationId: "o1",
  endUser: "end-user",
  model: "model",
  targetId: "provider/model",
  modelGroup: "group",
  provider: "provider",
  status: "partial",
  errorCode: "client_closed",
  promptTokens: 2,
  completionTokens: 3,
  totalTokens: 5,
  cachedTokens: 7,
  reasoningTokens: 11,
  usageSource: "estimated",
  costNanoUsd: 9_000_000_000_001,
  costStatus: "priced",
  cacheHit: true,
  startedAtMs: 1_700_000_000_013,
  firstContentAtMs: 1_700_000_000_017,
  endedAtMs: 1_700_000_000_019,
  generation: 23,
  tags: ["one", "two"],
  metadata: { nested: { list: [1] } },
  clientAddress: "::1",
  upstreamRequestId: "req_1",
  completionId: "chatcmpl-up",
};

const bare: SpendRow = {
  ...full,
  keyAlias: null,
  userId: null,
  teamId: null,
  organizationId: null,
  endUser: null,
  targetId: null,
  modelGroup: null,
  provider: null,
  errorCode: null,
  promptTokens: null,
  completionTokens: null,
  totalTokens: null,
  cachedTokens: null,
  reasoningTokens: null,
  usageSource: null,
  costNanoUsd: null,
  cacheHit: false,
  firstContentAtMs: null,
  tags: [],
  metadata: {},
  clientAddress: null,
  upstreamRequestId: null,
  completionId: null,
};

let store: Store;

beforeEach(async () => {
  store = createSqliteStore({ path: ":memory:" }, host);
  await store.start(new AbortController().signal);
});

afterEach(() => store.stop());

test("gives back every member of a row, and null where nothing is known", async () => {
  await store.ledger.insert([full, { ...bare, attempt: 0 }]);
  expect(await store.ledger.rows({ limit: 10 })).toEqual([full, { ...bare, attempt: 0 }]);
});

test("leaves a row that is there as it is", async () => {
  await store.ledger.insert([full]);
  await store.ledger.insert([
    { ...full, model: "other" },
    { ...full, attempt: 2 },
  ]);
  const rows = await store.ledger.rows({ limit: 10 });
  expect(rows.map(({ attempt, model }) => [attempt, model])).toEqual([
    [2, "model"],
    [1, "model"],
  ]);
});

test("inserts all rows or none", async () => {
  const impossible = { ...full, requestId: "impossible", attempt: {} as unknown as number };
  await expect(store.ledger.insert([full, impossible])).rejects.toThrow("cannot be bound");
  expect(await store.ledger.rows({ limit: 10 })).toEqual([]);
  await store.ledger.insert([full]);
  expect(await store.ledger.rows({ limit: 10 })).toHaveLength(1);
});

test("accepts a row of an older version that lacks members", async () => {
  const { requestId, attempt, startedAtMs } = full;
  await store.ledger.insert([{ requestId, attempt, startedAtMs } as SpendRow]);
  expect(await store.ledger.rows({ requestId, limit: 1 })).toMatchObject([
    { requestId, tags: [], metadata: {}, costNanoUsd: null },
  ]);
});

test("takes NUL characters out of what clients send", async () => {
  await store.ledger.insert([
    { ...full, endUser: "a\0b", model: "\0", tags: ["\0t"], metadata: { "k\0": "v\0" } },
  ]);
  expect(await store.ledger.rows({ limit: 1 })).toMatchObject([
    { endUser: "ab", model: "", tags: ["t"], metadata: { k: "v" } },
  ]);
});

test("reads page after page, newest first, whatever the filters: as a model of the same rows does", async () => {
  const oneOf = (...values: string[]) => fc.constantFrom(...values);
  const row = fc.record({
    requestId: oneOf("a", "b", "c:d", "e"),
    attempt: fc.integer({ min: 0, max: 3 }),
    keyId: oneOf("k1", "k2"),
    userId: fc.option(oneOf("u1", "u2")),
    teamId: fc.option(oneOf("t1")),
    organizationId: fc.option(oneOf("o1", "o2")),
    endUser: fc.option(oneOf("c1", "c2")),
    startedAtMs: fc.integer({ min: 0, max: 5 }),
  });
  const query = fc.record(
    {
      requestId: oneOf("a", "c:d"),
      keyId: oneOf("k1", "k3"),
      userId: oneOf("u1"),
      teamId: oneOf("t1"),
      organizationId: oneOf("o1"),
      endUser: oneOf("c1"),
      fromMs: fc.integer({ min: 0, max: 3 }),
      toMs: fc.integer({ min: 2, max: 6 }),
    },
    { requiredKeys: [] },
  );
  const property = fc.asyncProperty(
    fc.array(row),
    query,
    fc.integer({ min: 1, max: 3 }),
    async (parts, filters, limit) => {
      const own = createSqliteStore({ path: ":memory:" }, host);
      await own.start(new AbortController().signal);
      const rows = parts.map((part) => ({ ...bare, ...part }));
      await own.ledger.insert(rows);
      const pages: SpendRow[] = [];
      for (;;) {
        const last = pages.at(-1);
        const page = await own.ledger.rows({
          ...filters,
          limit,
          ...(last && { before: `${last.requestId}:${last.attempt}` }),
        });
        pages.push(...page);
        if (page.length < limit) break;
      }
      await own.stop();
      expect(pages).toEqual(model(rows, filters));
    },
  );
  await fc.assert(property, { numRuns: amount(25, 150) });
});

test("gives no rows for a cursor that is no row's", async () => {
  await store.ledger.insert([full]);
  expect(await store.ledger.rows({ limit: 5, before: "unknown:1" })).toEqual([]);
  expect(await store.ledger.rows({ limit: 5, before: "" })).toEqual([]);
});

function model(
  rows: readonly SpendRow[],
  filters: Partial<Record<string, string | number>>,
): SpendRow[] {
  const kept = new Map<string, SpendRow>();
  for (const row of rows) {
    const id = `${row.requestId}:${row.attempt}`;
    if (!kept.has(id)) kept.set(id, row);
  }
  const { fromMs = -Infinity, toMs = Infinity, ...equal } = filters;
  return [...kept.values()]
    .filter((row) => row.startedAtMs >= Number(fromMs) && row.startedAtMs < Number(toMs))
    .filter((row) =>
      Object.entries(equal).every(([name, value]) => row[name as keyof SpendRow] === value),
    )
    .sort(
      (a, b) =>
        b.startedAtMs - a.startedAtMs ||
        (a.requestId < b.requestId ? 1 : a.requestId > b.requestId ? -1 : b.attempt - a.attempt),
    );
}
