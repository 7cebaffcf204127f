import { mkdtempSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Log, SpendRow } from "@sluice/contract";
import { spendRow } from "@sluice/testing";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openEarlierStore } from "../../earlier-store.fixture.ts";
import { createSqliteStore } from "../../store.ts";
import { verifySums } from "./verify.ts";

const DAY_MS = 86_400_000;
const log: Log = { debug() {}, info() {}, warn() {}, error() {} };
const host = { log, clock: { now: () => 0, monotonic: () => 0 }, dataDirectory: "/nonexistent" };
const never = new AbortController().signal;

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-verify-"));
  path = join(folder, "sluice.db");
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A file with random rows, some of them twice. */
async function fileOf(rows: readonly SpendRow[]): Promise<void> {
  const store = createSqliteStore({ path }, host);
  await store.start(never);
  await store.ledger.insert(rows);
  await store.ledger.insert(rows);
  await store.stop();
}

function change(sql: string): number {
  const database = new DatabaseSync(path);
  const changes = Number(database.prepare(sql).run().changes);
  database.close();
  return changes;
}

const rows = (): SpendRow[] =>
  fc.sample(spendRow, 60).map((one, index) => ({ ...one, requestId: `r${index}` }));

test("sums that were written with their rows are exact", async () => {
  const made = rows();
  await fileOf(made);
  expect(await verifySums(path, {}, never)).toMatchObject({
    rows: made.length,
    differences: [],
    total: 0,
  });
});

test.each([
  ["a row that was deleted", "delete from ledger where request_id = 'known'", {}],
  [
    "a price that was changed",
    "update ledger set cost_nano_usd = 6 where request_id = 'known'",
    {},
  ],
  ["a sum of cells that was deleted", "delete from spend_hour", { sums: "spend_hour", stored: 0n }],
  [
    "a sum of a tag that was changed",
    "update spend_tag_hour set requests = requests + 1",
    {
      sums: "spend_tag_hour",
      amount: "requests",
      stored: 2n,
      ofRows: 1n,
    },
  ],
  [
    "a sum of a customer that was moved",
    "update spend_customer_day set customer = 'x'",
    {
      sums: "spend_customer_day",
    },
  ],
  [
    "a total that no row has",
    "insert into spend_total values ('team:t', 0, 1, 7)",
    {
      sums: "spend_total",
      amount: "nano_usd",
      stored: 7n,
      ofRows: 0n,
    },
  ],
])("%s is a difference", async (_what, sql, expected) => {
  const [any] = fc.sample(spendRow, 1);
  const known = {
    ...any!,
    requestId: "known",
    attempt: 1,
    costNanoUsd: 5,
    tags: ["x"],
    endUser: "c1",
    startedAtMs: 5,
    requests: undefined,
  };
  await fileOf([known]);
  expect(change(sql)).toBe(1);
  const check = await verifySums(path, {}, never);
  expect(check.total).toBeGreaterThan(0);
  expect(check.differences).toContainEqual(expect.objectContaining({ startMs: 0, ...expected }));
  // Other days are as they were.
  expect(await verifySums(path, { fromMs: DAY_MS }, never)).toMatchObject({ rows: 0, total: 0 });
  expect(await verifySums(path, { toMs: 0 }, never)).toMatchObject({ rows: 0, total: 0 });
});

test("a file without sums, and one that is missing, are refused by name", async () => {
  await expect(verifySums(path, {}, never)).rejects.toThrow(/there is no store file .*sluice\.db/);
  (await openEarlierStore(path, "0021_spend_sums")).close();
  await expect(verifySums(path, {}, never)).rejects.toThrow(/sluice\.db are not filled yet/);
});

/** A file whose weeks are added up before the last of its rows come. */
async function weeksOf(made: readonly SpendRow[]): Promise<void> {
  const clock = { now: () => 30 * DAY_MS, monotonic: () => 0 };
  const store = createSqliteStore({ path }, { ...host, clock });
  await store.start(never);
  await store.ledger.insert(made.slice(0, 40));
  const job = store.jobs?.find(({ name }) => name === "weeks");
  expect(await job?.run({ keepLedgerMs: undefined, signal: never })).toMatch(
    /^added up \d weeks of spend_week, \d weeks of spend_total_week$/,
  );
  expect(await job?.run({ keepLedgerMs: undefined, signal: never })).toBeUndefined();
  await store.ledger.insert(made);
  await store.stop();
}

test("sums by week are those of the rows, also of rows that came later", async () => {
  const made = rows();
  await weeksOf(made);
  for (const table of ["spend_week", "spend_total_week"])
    expect(change(`update ${table} set week = week`)).toBeGreaterThan(0);
  expect(await verifySums(path, {}, never)).toMatchObject({ rows: made.length, total: 0 });
});

test.each([
  ["spend_week", "changed", "update spend_week set row_count = row_count + 1 where", "week, cell"],
  ["spend_week", "deleted", "delete from spend_week where", "week, cell"],
  ["spend_week", "made", "update spend_week set cell = 999 where", "week, cell"],
  [
    "spend_total_week",
    "changed",
    "update spend_total_week set nano_usd = nano_usd + 1 where",
    "subject, week, model_id",
  ],
  ["spend_total_week", "deleted", "delete from spend_total_week where", "subject, week, model_id"],
  [
    "spend_total_week",
    "made",
    "update spend_total_week set subject = 'team:none' where",
    "subject, week, model_id",
  ],
])("a sum of %s that was %s is found", async (table, _, sql, key) => {
  await weeksOf(rows());
  expect(change(`${sql} (${key}) = (select ${key} from ${table} limit 1)`)).toBe(1);
  const { total, differences } = await verifySums(path, {}, never);
  expect(total).toBeGreaterThan(0);
  expect(new Set(differences.map(({ sums }) => sums))).toEqual(new Set([table]));
});
