/** Leases: at most one holder at a time of the store's clock, in every store. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LeaseStore, Store } from "@sluice/contract";
import sqlite from "@sluice/store-sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { createDatabaseOn, type TestDatabase, WAYS } from "../support/postgres.ts";

const log = { debug() {}, info() {}, warn() {}, error() {} };
const clock = { now: () => Date.now(), monotonic: () => performance.now() };

/** A place of stores, and two stores on it. */
interface Place {
  open(): Promise<Store>;
  close(): Promise<void>;
}

async function fileOf(): Promise<Place> {
  const dataDirectory = mkdtempSync(join(tmpdir(), "sluice-leases-"));
  const opened: Store[] = [];
  return {
    async open() {
      const store = sqlite.create({}, { log, clock, dataDirectory });
      await store.start(AbortSignal.timeout(20_000));
      opened.push(store);
      return store;
    },
    async close() {
      for (const store of opened) await store.stop();
      rmSync(dataDirectory, { recursive: true });
    },
  };
}

async function databaseOf(pooled: boolean): Promise<Place> {
  const database: TestDatabase = await createDatabaseOn({ pooled });
  return { open: () => database.store(), close: () => database.drop() };
}

const PLACES = [
  { name: "a file of SQLite", isThere: true, make: fileOf },
  ...WAYS.map(({ way, isThere, pooled }) => ({
    name: `PostgreSQL ${way}`,
    isThere,
    make: () => databaseOf(pooled),
  })),
];

for (const { name, isThere, make } of PLACES)
  describe.skipIf(!isThere)(`leases in ${name}`, () => {
    let place: Place;
    const stores: LeaseStore[] = [];

    beforeAll(async () => {
      place = await make();
      for (let index = 0; index < 2; index++) {
        const { leases } = await place.open();
        if (leases !== undefined) stores.push(leases);
      }
    });
    afterAll(() => place?.close());

    const take = async (
      store: number,
      lease: string,
      holder: string,
      ms = 60_000,
      notes?: string,
    ) => (stores[store] as LeaseStore).take(lease, holder, ms, notes);

    it("have one of many holders that ask at once", async () => {
      const asked = Array.from({ length: 20 }, (_, index) => take(index % 2, "many", `p${index}`));
      const holders = new Set((await Promise.all(asked)).map(({ holder }) => holder));
      expect(holders.size).toBe(1);
    });

    it("are renewed with their notes, and by their holder alone before they end", async () => {
      const first = await take(0, "renewed", "a", 60_000, "one");
      expect(first).toMatchObject({ holder: "a", notes: "one" });
      expect(await take(1, "renewed", "b", 60_000, "other")).toMatchObject(first);
      const again = await take(0, "renewed", "a", 90_000);
      expect(again).toMatchObject({ holder: "a", notes: "one", sinceMs: first.sinceMs });
      expect(again.untilMs).toBeGreaterThan(first.untilMs);
    });

    it("go to another process when they end, and when they are released", async () => {
      const held = await take(0, "ended", "a", 50, "notes of a");
      const other = await eventually("the end of the lease", async () => {
        const lease = await take(1, "ended", "b");
        return lease.holder === "b" ? lease : undefined;
      });
      expect(other.sinceMs).toBeGreaterThanOrEqual(held.untilMs);
      expect(other.notes).toBe("notes of a");
      await (stores[0] as LeaseStore).release("ended", "a");
      expect(await take(0, "ended", "a")).toMatchObject({ holder: "b" });
      await (stores[1] as LeaseStore).release("ended", "b");
      expect(await take(0, "ended", "a")).toMatchObject({ holder: "a" });
    });
  });
