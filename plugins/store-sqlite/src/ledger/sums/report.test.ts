import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Log,
  SPEND_DIMENSIONS,
  type SpendGroup,
  type SpendReportQuery,
  type SpendRow,
  type Store,
} from "@sluice/contract";
import { amount } from "@sluice/testing";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSqliteStore } from "../../store.ts";
import { distinctRows, modelReport } from "./model.fixture.ts";
import { row } from "./rows.fixture.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const log: Log = { debug() {}, info() {}, warn() {}, error() {} };
const host = { log, clock: { now: () => 0, monotonic: () => 0 }, dataDirectory: "/nonexistent" };
const never = new AbortController().signal;

const oneOf = <T>(...values: T[]) => fc.constantFrom(...values);
const ids = {
  organization: oneOf("o1", "o2", ""),
  team: oneOf("t1", "T1", ""),
  user: oneOf("u1", "u3"),
  key: oneOf("k1", "__proto__"),
};
const question = fc
  .record({
    by: fc.uniqueArray(oneOf(...SPEND_DIMENSIONS), { maxLength: 2 }),
    bucket: oneOf<SpendReportQuery["bucket"]>("hour", "day", "none"),
    filter: fc.record(
      {
        ...ids,
        model: oneOf("m1"),
        provider: oneOf("p1", ""),
        tag: oneOf("x"),
        customer: oneOf("c1"),
      },
      { requiredKeys: [] },
    ),
    within: fc.option(fc.array(fc.record(ids, { requiredKeys: [] }), { maxLength: 2 }), {
      nil: undefined,
    }),
    from: fc.option(fc.integer({ min: -2, max: 2 })),
    to: fc.option(fc.integer({ min: -1, max: 4 })),
    limit: fc.integer({ min: 1, max: 4 }),
  })
  .map(({ by, bucket, filter, within, from, to, limit }): SpendReportQuery => {
    const query = { by, filter, bucket, limit };
    const isOfCustomers = by.includes("customer") || filter.customer !== undefined;
    const unitMs = isOfCustomers ? DAY_MS : 23 * HOUR_MS;
    return {
      ...query,
      ...(isOfCustomers && bucket === "hour" && { bucket: "day" }),
      ...(within !== undefined && { within }),
      ...(from !== null && { fromMs: from * unitMs }),
      ...(to !== null && { toMs: to * unitMs }),
    };
  })
  .filter(({ by, filter }) => {
    const names = [...by, ...Object.keys(filter)];
    return !(names.includes("tag") && names.includes("customer"));
  });

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-sums-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
async function openStore(place: "memory" | "file"): Promise<Store> {
  const path = place === "memory" ? ":memory:" : join(folder, `${files++}.db`);
  const store = createSqliteStore({ path }, host);
  await store.start(never);
  return store;
}

/** All pages of a report. */
async function pagesOf(store: Store, query: SpendReportQuery): Promise<SpendGroup[]> {
  const groups: SpendGroup[] = [];
  for (;;) {
    const last = groups.at(-1);
    const page = await store.ledger.report({ ...query, ...(last && { after: last }) });
    groups.push(...page);
    if (page.length < query.limit) return groups;
  }
}

const withoutAlias = ({ startMs, ids: found, sums }: SpendGroup): SpendGroup => ({
  startMs,
  ids: found,
  sums,
});

test.each([
  ["memory", amount(150, 1_000)],
  ["file", amount(8, 30)],
] as const)(
  "any report equals the sums of its rows, page after page, in a %s",
  { timeout: 60_000 },
  async (place, numRuns) => {
    const property = fc.asyncProperty(
      fc.array(fc.array(row, { maxLength: 8 }), { maxLength: 5 }),
      fc.array(question, { minLength: 1, maxLength: 4 }),
      async (batches, questions) => {
        const store = await openStore(place);
        // Each batch comes twice, as after a crash between the insert and its acknowledgement.
        for (const batch of batches) {
          await store.ledger.insert(batch);
          await store.ledger.insert(batch.slice(1));
        }
        for (const query of questions) {
          const expected = modelReport(batches.flat(), query);
          expect((await pagesOf(store, query)).map(withoutAlias)).toEqual(expected);
          if (query.bucket !== "none") continue;
          const highest = await store.ledger.report({ ...query, order: "spend" });
          const costs = expected.map(({ sums }) => sums.costNanoUsd).sort((a, b) => Number(b - a));
          expect(highest.map(({ sums }) => sums.costNanoUsd)).toEqual(costs.slice(0, query.limit));
        }
        await store.stop();
      },
    );
    await fc.assert(property, { numRuns });
  },
);

test("an insert that fails changes no sum, and the next one is counted", async () => {
  const store = await openStore("memory");
  const [first] = fc.sample(row, 1) as [SpendRow];
  const good = { ...first, requestId: "good", attempt: 1, keyId: "new", tags: ["new"] };
  // SQLite cannot bind an object.
  const bad = { ...good, requestId: "bad", attempt: {} as number };
  await expect(store.ledger.insert([good, bad])).rejects.toThrow("cannot be bound");
  expect(await store.ledger.report(byKeyAndTag)).toEqual([]);
  const other = { ...good, requestId: "other", keyId: "other", tags: ["other"] };
  await store.ledger.insert([other]);
  await store.ledger.insert([good]);
  const groups = await store.ledger.report(byKeyAndTag);
  expect(groups.map(withoutAlias)).toEqual(modelReport(distinctRows([good, other]), byKeyAndTag));
  await store.stop();
});

const byKeyAndTag: SpendReportQuery = {
  by: ["key", "tag"],
  bucket: "none",
  filter: {},
  limit: 10,
};

test("a group by key has the alias of the key's newest row", async () => {
  const store = await openStore("memory");
  const [first] = fc.sample(row, 1) as [SpendRow];
  const of = (requestId: string, startedAtMs: number, keyAlias: string | null) => ({
    ...first,
    requestId,
    keyId: "k",
    startedAtMs,
    keyAlias,
  });
  await store.ledger.insert([of("2", 2, "renamed"), of("1", 1, "before")]);
  const query: SpendReportQuery = { by: ["model", "key"], bucket: "none", filter: {}, limit: 10 };
  expect(await store.ledger.report(query)).toMatchObject([{ keyAlias: "renamed" }]);
  await store.ledger.insert([of("3", 3, null)]);
  expect((await store.ledger.report(query))[0]).not.toHaveProperty("keyAlias");
  await store.stop();
});

test.each<Partial<SpendReportQuery>>([
  { by: ["key", "model", "team"] },
  { by: ["key", "key"] },
  { by: ["tag", "customer"] },
  { by: ["tag"], filter: { customer: "c" } },
  { by: ["customer"], bucket: "hour" },
  { by: ["customer"], fromMs: HOUR_MS },
  { by: ["key"], toMs: HOUR_MS + 1 },
  { filter: { tag: "" } },
  { filter: { customer: "" } },
  { order: "spend", bucket: "day" },
  { order: "spend", after: { startMs: null, ids: ["k"] } },
])("the query %j is refused", async (parts) => {
  const store = await openStore("memory");
  const query: SpendReportQuery = { by: ["key"], bucket: "none", filter: {}, limit: 1, ...parts };
  await expect(store.ledger.report(query)).rejects.toMatchObject({ code: "invalid_field" });
  await store.stop();
});
