/** Retention: old rows go, sums and budgets stay, and no row is counted twice. */

import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { type Place, PLACES, rowAt } from "./places.fixture.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const TODAY_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS;
const KEEP_MS = 10 * DAY_MS;
const BEFORE_MS = TODAY_MS - KEEP_MS;
const signal = AbortSignal.timeout(110_000);

const OLD = [20, 15, 12].map((days) => rowAt(TODAY_MS - days * DAY_MS + HOUR_MS + 1_234));
/** The first day that is kept, and its last moment. */
const KEPT = [rowAt(BEFORE_MS), rowAt(BEFORE_MS + DAY_MS - 1), rowAt(TODAY_MS - DAY_MS + 5)];

for (const { name, isThere, isDirect, make } of PLACES)
  describe.skipIf(!isThere)(`retention in ${name}`, () => {
    let place: Place;
    const ledger = () => place.store.ledger;
    const retain = async (keepLedgerMs: number | undefined, until = signal) => {
      const job = place.store.jobs?.find(({ name: job }) => job === "retention");
      if (job === undefined) throw new Error("the store has no retention");
      return job.run({ keepLedgerMs, signal: until });
    };
    const idsOf = async () =>
      (await ledger().rows({ limit: 100 })).map(({ requestId }) => requestId).toSorted();
    const verify = async () => place.store.verifySums?.({}, signal);
    const sums = async () => ledger().report({ by: ["key"], bucket: "day", filter: {}, limit: 99 });

    beforeAll(async () => {
      place = await make();
      await ledger().insert([...OLD, ...KEPT]);
    });
    afterAll(() => place?.close());

    it("deletes nothing where the operator names no time", async () => {
      expect(await retain(undefined)).toBeUndefined();
      expect(await idsOf()).toHaveLength(6);
      expect(await verify()).toMatchObject({ rows: 6, total: 0 });
    });

    it("deletes the rows before the first day that is kept, and keeps their sums", async () => {
      const before = await sums();
      expect(await retain(KEEP_MS)).toMatch(/spend rows/);
      expect(await retain(KEEP_MS)).toBeUndefined();
      expect(await idsOf()).toEqual(KEPT.map(({ requestId }) => requestId).toSorted());
      expect(await sums()).toEqual(before);
      expect(before).toHaveLength(5);
      expect(await verify()).toMatchObject({ rows: 3, total: 0, prunedBeforeMs: BEFORE_MS });
    });

    it("does not count a row that comes again after it was deleted", async () => {
      const before = await sums();
      await ledger().insert([...OLD, ...KEPT, rowAt(TODAY_MS + 1)]);
      await ledger().insert(OLD);
      expect(await idsOf()).toHaveLength(4);
      const after = await sums();
      expect(after.length).toBe(before.length + 1);
      expect(await ledger().spent({ keyId: "k" })).toBe(700);
      expect(await verify()).toMatchObject({ rows: 4, total: 0 });
    });

    it("begins budgets with no less than what was spent, without deleted rows", async () => {
      const atMs = OLD[0]?.startedAtMs ?? 0;
      for (const filter of [{ keyId: "k" }, { teamId: "t" }, { endUser: "c" }, {}])
        for (const fromMs of [atMs - 60_000, atMs])
          expect(await ledger().spent({ ...filter, fromMs })).toBe(700);
      expect(await ledger().spent({ keyId: "k", fromMs: atMs + HOUR_MS })).toBe(600);
      expect(await ledger().spent({ keyId: "k", fromMs: BEFORE_MS + 1 })).toBe(300);
    });

    it("finishes what a run that was cut has left", async () => {
      if (!isDirect) return;
      const [reader, observer] = [1, 2].map(() => new Client({ connectionString: place.url }));
      if (reader === undefined || observer === undefined) return;
      await Promise.all([reader.connect(), observer.connect()]);
      try {
        await reader.query("begin isolation level repeatable read; select count(*) from ledger");
        const cut = new AbortController();
        const run = retain(KEEP_MS - 2 * DAY_MS, cut.signal).catch((error: unknown) => error);
        // The detachment waits for the reader.
        await eventually("the pending detachment", async () => {
          const { rowCount } = await observer.query(
            "select 1 from pg_inherits where inhdetachpending",
          );
          return rowCount === 1;
        });
        cut.abort(new Error("the gateway stops"));
        expect(await run).toBeInstanceOf(Error);
      } finally {
        await Promise.all([reader.end(), observer.end()]);
      }
      expect(await retain(KEEP_MS - 2 * DAY_MS)).toMatch(/^dropped/);
      expect(await retain(KEEP_MS - 2 * DAY_MS)).toBeUndefined();
      expect(await idsOf()).toHaveLength(2);
      expect(await verify()).toMatchObject({ rows: 2, total: 0 });
    });

    it("finds sums that are wrong, and where", async () => {
      if (place.url === undefined) return;
      await place.query(
        "update spend_hour set nano_usd = nano_usd + 7 where hour = (select max(hour) from spend_hour)",
      );
      await place.query(
        "delete from spend_total where subject = 'team:t' and span = (select max(span) from spend_total)",
      );
      const check = await verify();
      expect(check?.total).toBe(2);
      expect(check?.differences).toMatchObject([
        { sums: "spend_hour", amount: "nano_usd", stored: 107n, ofRows: 100n, startMs: TODAY_MS },
        {
          sums: "spend_total",
          ids: ["team:t", "m", "m"],
          stored: 0n,
          ofRows: 100n,
          startMs: TODAY_MS,
        },
      ]);
    });
  });
