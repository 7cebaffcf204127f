/** Reads of the ledger in PostgreSQL end with their signal and at their deadline. */

import { GatewayError, type Store } from "@sluice/contract";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { createDatabase, isServerThere, type TestDatabase } from "../support/postgres.ts";

let database: TestDatabase;
let store: Store;
/** Holds the lock. */
let other: Client;
/** Looks at the sessions: within a transaction these stay as they were at its first look. */
let observer: Client;

/** Statements of the store that run now. */
async function running(): Promise<number> {
  const { rows } = await observer.query<{ readonly count: number }>(
    `select count(*)::integer as count from pg_stat_activity
     where datname = current_database() and application_name = 'sluice' and state = 'active'`,
  );
  return rows[0]?.count ?? 0;
}

/** Runs `work` while every read of the ledger has to wait. */
async function whileLocked(work: () => Promise<void>): Promise<void> {
  await other.query("begin; lock table ledger in access exclusive mode");
  await work().finally(() => other.query("rollback"));
}

describe.skipIf(!isServerThere)("reads in PostgreSQL at 127.0.0.1:5432", () => {
  beforeAll(async () => {
    database = await createDatabase();
    store = await database.store();
    other = new Client({ connectionString: database.url });
    await other.connect();
    observer = new Client({ connectionString: database.url });
    await observer.connect();
  });
  afterAll(async () => {
    await other?.end();
    await observer?.end();
    await database?.drop();
  });

  it("end with their signal, cancel their statement and give their connection back", async () => {
    const { ledger } = store;
    await whileLocked(async () => {
      // More than there are connections: the last ones wait for one.
      for (let round = 0; round < 3; round++) {
        const ended = new AbortController();
        const reason = new Error(`the client left ${round}`);
        const reads = [
          ledger.rows({ limit: 1 }, ended.signal),
          ledger.days({}, ended.signal),
          ledger.tags({}, ended.signal),
          ledger.spent({ requestId: "r" }, ended.signal),
        ].map(async (read) => read.catch((error: unknown) => error));
        await eventually("the reads at the lock", async () => (await running()) >= 3);
        ended.abort(reason);
        expect(await Promise.all(reads)).toEqual([reason, reason, reason, reason]);
        await eventually("the end of the statements", async () => (await running()) === 0);
      }
      const left = AbortSignal.abort(new Error("before"));
      await expect(ledger.rows({ limit: 1 }, left)).rejects.toThrow("before");
    });
    expect(await ledger.rows({ limit: 1 })).toEqual([]);
    expect(await ledger.days({})).toEqual([]);
  });

  it("end at their deadline with the error of the contract", async () => {
    await whileLocked(async () => {
      const asked = store.ledger.spent({ requestId: "r" }).catch((error: unknown) => error);
      const error = await asked;
      expect(error).toBeInstanceOf(GatewayError);
      expect(error).toMatchObject({ code: "deadline_exceeded" });
    });
    expect(await store.ledger.spent({ requestId: "r" })).toBe(0);
  });
});
