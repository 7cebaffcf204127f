/**
 * Rows that come late, beside the job that adds weeks of sums up: two processes on one store write
 * and add up at once, and a report has each row once. Suites without their server are skipped by
 * name.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Log, SpendRow, Store } from "@sluice/contract";
import sqlite from "@sluice/store-sqlite";
import { amount } from "@sluice/testing";
import { Client } from "pg";
import { eventually } from "../support/eventually.ts";
import { createDatabase, isServerThere, type TestDatabase } from "../support/postgres.ts";
import { rowAt } from "./places.fixture.ts";

const DAY_MS = 86_400_000;
const TODAY_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS;
/** Days of six weeks that are over. */
const DAYS = Array.from({ length: 42 }, (_, index) => TODAY_MS - (index + 20) * DAY_MS);

let made = 0;

/** Rows of a cell of their own, one for each day. */
function lateRows(keyId: string, days: readonly number[]): readonly SpendRow[] {
  return days.map((startedAtMs) => {
    made += 1;
    const row = rowAt(startedAtMs, {
      keyId,
      teamId: null,
      endUser: null,
      modelGroup: null,
      costNanoUsd: 1,
      tags: [],
    });
    return { ...row, requestId: row.requestId.slice(0, -12) + String(made).padStart(12, "0") };
  });
}

async function rollWeeks({ jobs = [] }: Store): Promise<void> {
  const job = jobs.find(({ name }) => name === "weeks");
  if (job === undefined) throw new Error("the store adds no weeks up");
  await job.run({ keepLedgerMs: undefined, signal: AbortSignal.timeout(20_000) });
}

/** What a report of all weeks says: rows and nano-dollars. */
async function reported({ ledger }: Store): Promise<readonly [number, number]> {
  const [group] = await ledger.report({ by: [], bucket: "none", filter: {}, limit: 1 });
  return [Number(group?.sums.rows ?? 0), Number(group?.sums.costNanoUsd ?? 0)];
}

async function differences({ verifySums }: Store): Promise<unknown> {
  return (await verifySums?.({}, AbortSignal.timeout(60_000)))?.differences;
}

/** Two processes write late rows of all weeks, while both add weeks up again and again. */
async function race(stores: readonly Store[]): Promise<number> {
  const before = made;
  const written = new AbortController();
  const write = async (store: Store, index: number): Promise<void> => {
    for (let count = 0; count < amount(12, 200); count += 1) {
      const days = DAYS.filter((_, day) => (day + count) % 3 === index);
      await store.ledger.insert(lateRows(`k${index}`, days));
    }
  };
  const roll = async (store: Store): Promise<void> => {
    while (!written.signal.aborted) {
      await rollWeeks(store);
      await new Promise(setImmediate);
    }
  };
  const rolling = stores.map(roll);
  await Promise.all(stores.map(write)).finally(() => written.abort());
  await Promise.all(rolling);
  return made - before;
}

describe("late rows in SQLite, of two connections of one file", () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-late-"));
  const log: Log = { debug() {}, info() {}, warn() {}, error() {} };
  const clock = { now: () => Date.now(), monotonic: () => performance.now() };
  const stores: Store[] = [];
  beforeAll(async () => {
    for (let count = 0; count < 2; count += 1) {
      const host = { log, clock, dataDirectory: folder };
      const store = sqlite.create({ path: join(folder, "store.sqlite") }, host);
      await store.start(AbortSignal.timeout(10_000));
      stores.push(store);
    }
  });
  afterAll(async () => {
    for (const store of stores) await store.stop();
    rmSync(folder, { recursive: true });
  });

  it("are in their weeks once", async () => {
    const rows = await race(stores);
    expect(await reported(stores[0]!)).toEqual([rows, rows]);
    expect(await differences(stores[0]!)).toEqual([]);
  });
});

for (const isolation of ["read committed", "repeatable read", "serializable"])
  describe.skipIf(!isServerThere)(`late rows in PostgreSQL, whose default is ${isolation}`, () => {
    let database: TestDatabase;
    let holder: Client;
    let stores: readonly Store[];
    beforeAll(async () => {
      database = await createDatabase();
      const name = new URL(database.url).pathname.slice(1);
      await database.query(
        `alter database ${name} set default_transaction_isolation = '${isolation}'`,
      );
      stores = [await database.store(), await database.store()];
      holder = new Client({ connectionString: database.url });
      await holder.connect();
    });
    afterAll(async () => {
      await holder?.end();
      await database?.drop();
    });

    /** Resolves when so many statements wait for a lock. */
    const waiting = (count: number): Promise<boolean> =>
      eventually(`${count} statements that wait`, async () => {
        const { rowCount } = await holder.query(
          "select 1 from pg_locks where not granted and database = (select oid from pg_database where datname = current_database())",
        );
        return rowCount === count;
      });

    it.each(["the rows", "the job"])("are in their week where %s come first", async (first) => {
      const [store, other] = stores as [Store, Store];
      await database.query("delete from spend_week; delete from spend_rolled");
      await store.ledger.insert(lateRows("k1", DAYS));
      const [rows] = await reported(store);
      const works = [() => other.ledger.insert(lateRows("k1", DAYS)), () => rollWeeks(store)];
      // Both wait for what the first one of them holds, and that one for this transaction.
      await holder.query("begin; lock table spend_rolled in access exclusive mode");
      const running: Promise<unknown>[] = [];
      for (const work of first === "the rows" ? works : works.toReversed()) {
        running.push(work());
        await waiting(running.length);
      }
      await holder.query("commit");
      await Promise.all(running);
      const all = rows + DAYS.length;
      expect(await reported(store)).toEqual([all, all]);
      expect(await differences(store)).toEqual([]);
    });

    it("are in their weeks once, of two processes", async () => {
      const [rows] = await reported(stores[0]!);
      const all = rows + (await race(stores));
      expect(await reported(stores[0]!)).toEqual([all, all]);
      expect(await differences(stores[0]!)).toEqual([]);
    });
  });
