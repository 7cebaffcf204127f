import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Log, type SpendReportQuery, type SpendRow, type Store } from "@sluice/contract";
import {
  amount,
  distinctRows,
  modelReport,
  spendContract,
  spendRow,
  withoutAlias,
} from "@sluice/testing";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSqliteStore } from "../../store.ts";

const HOUR_MS = 3_600_000;
const log: Log = { debug() {}, info() {}, warn() {}, error() {} };
/** A week and more behind the times of the rows. */
const NOW_MS = 30 * 24 * HOUR_MS;
const host = {
  log,
  clock: { now: () => NOW_MS, monotonic: () => 0 },
  dataDirectory: "/nonexistent",
};
const never = new AbortController().signal;

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

for (const place of ["memory", "file"] as const) {
  const numRuns = place === "memory" ? amount(10, 200) : amount(2, 15);
  const open = async () => {
    const store = await openStore(place);
    const weeks = store.jobs?.find(({ name }) => name === "weeks");
    if (weeks === undefined) throw new Error("the store adds no weeks up");
    return {
      ledger: store.ledger,
      roll: async () => void (await weeks.run({ keepLedgerMs: undefined, signal: never })),
      close: () => store.stop(),
    };
  };
  spendContract({ describe, it: test, expect }, `a ${place}`, open, numRuns);
}

test("an insert that fails changes no sum, and the next one is counted", async () => {
  const store = await openStore("memory");
  const [first] = fc.sample(spendRow, 1) as [SpendRow];
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
  const [first] = fc.sample(spendRow, 1) as [SpendRow];
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
