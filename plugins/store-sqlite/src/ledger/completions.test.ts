import type { Log, SpendRow, Store } from "@sluice/contract";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openEarlierStore } from "../earlier-store.fixture.ts";
import { createSqliteStore } from "../store.ts";

const DAY_MS = 86_400_000;
const NOW_MS = 100 * DAY_MS;

const log: Log = { debug() {}, info() {}, warn() {}, error() {} };
const host = {
  log,
  clock: { now: () => NOW_MS, monotonic: () => 0 },
  dataDirectory: "/nonexistent",
};
const signal = new AbortController().signal;

let directory: string;
let path: string;
const open: Store[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "sluice-completions-"));
  path = join(directory, "a.db");
});
afterEach(async () => {
  for (const store of open.splice(0)) await store.stop();
  rmSync(directory, { recursive: true });
});

async function startStore(): Promise<Store> {
  const store = createSqliteStore({ path }, host);
  open.push(store);
  await store.start(signal);
  return store;
}

function row(at: number, completionId: string | null, startedAtMs = NOW_MS + at): SpendRow {
  const requestId = `r-${String(at).padStart(6, "0")}`;
  return {
    requestId,
    attempt: 1,
    keyId: "k1",
    startedAtMs,
    endedAtMs: startedAtMs,
    completionId,
  } as unknown as SpendRow;
}

const idsOf = async (store: Store, query: object): Promise<readonly string[]> =>
  (await store.ledger.rows({ limit: 3, ...query })).map(({ requestId }) => requestId);

test("rows of several batches and two processes are found by their completion", async () => {
  const stores = [await startStore(), await startStore()];
  let next = 0;
  for (const size of [1, 400, 7, 330, 331, 1_200, 2]) {
    const rows = Array.from({ length: size }, () => row(next, `c-${next++}`));
    // oxlint-disable-next-line no-await-in-loop -- one behind the other.
    await stores[next % 2]?.ledger.insert(rows);
  }
  for (let at = 0; at < next; at += 97)
    // oxlint-disable-next-line no-await-in-loop -- some twenty.
    expect(await idsOf(stores[0]!, { completionId: `c-${at}` })).toEqual([row(at, null).requestId]);
  expect(await idsOf(stores[1]!, { completionId: "c-none" })).toEqual([]);
  expect(await idsOf(stores[1]!, { completionId: "c-3", fromMs: NOW_MS + 4 })).toEqual([]);
});

test("an id of many rows gives the newest, and one row for a row that came twice", async () => {
  const store = await startStore();
  const rows = Array.from({ length: 1_500 }, (_, at) => row(at, "same"));
  await store.ledger.insert(rows.slice(0, 3));
  await store.ledger.insert(rows);
  expect(await idsOf(store, { completionId: "same" })).toEqual([
    "r-001499",
    "r-001498",
    "r-001497",
  ]);
  expect(await idsOf(store, { completionId: "same", toMs: NOW_MS + 2 })).toEqual([
    "r-000001",
    "r-000000",
  ]);
  expect(await idsOf(store, { completionId: "same", keyId: "k2" })).toEqual([]);
});

test("rows of before the upgrade are found", async () => {
  const database = await openEarlierStore(path, "0160_spend_total_weeks");
  const insert = database.prepare(
    "insert into ledger (request_id, attempt, key_id, started_at_ms, completion_id) values (?, ?, 'k', ?, ?)",
  );
  database.exec("begin");
  for (let at = 0; at < 12_000; at++) insert.run(row(at, null).requestId, 1, at, `old-${at}`);
  insert.run("r-000000", 2, 5, "second");
  insert.run("untimed", 1, null, "untimed");
  database.exec("commit");
  database.close();
  const store = await startStore();
  expect(await idsOf(store, { completionId: "old-0" })).toEqual(["r-000000"]);
  expect(await idsOf(store, { completionId: "old-11999" })).toEqual(["r-011999"]);
  expect(await idsOf(store, { completionId: "second" })).toEqual(["r-000000"]);
});

test("blocks go with their rows", async () => {
  const store = await startStore();
  await store.ledger.insert(Array.from({ length: 400 }, (_, at) => row(at, `c-${at}`, at)));
  await store.ledger.insert(Array.from({ length: 400 }, (_, at) => row(500 + at, `d-${at}`)));
  const retention = store.jobs?.find(({ name }) => name === "retention");
  await retention?.run({ keepLedgerMs: DAY_MS, signal });
  const database = new DatabaseSync(path, { readOnly: true });
  const { blocks } =
    database.prepare("select count(*) as blocks from completion_block").get() ?? {};
  database.close();
  expect(blocks).toBe(2);
  expect(await idsOf(store, { completionId: "c-1" })).toEqual([]);
  expect(await idsOf(store, { completionId: "d-399" })).toEqual(["r-000899"]);
});
