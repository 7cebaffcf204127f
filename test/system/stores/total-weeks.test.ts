/**
 * The begin of a budget reads weeks of totals: it is the cost of the rows at any time, while weeks
 * are added up and rows come late, and after an upgrade.
 */

import type { LedgerSumFilter, SpendRow, Store } from "@sluice/contract";
import { TOTAL_MS } from "@sluice/store-sql/sums";
import { endOfRolledWeeks, WEEK_MS } from "@sluice/store-sql/weeks";
import { modelCost } from "@sluice/testing";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../../../plugins/store-postgres/src/connections.ts";
import { runMigrations } from "../../../plugins/store-postgres/src/schema/migrate.ts";
import { MIGRATIONS } from "../../../plugins/store-postgres/src/schema/migrations.ts";
import { createDatabase, isServerThere, type TestDatabase } from "../support/postgres.ts";
import { type Place, PLACES, rowAt } from "./places.fixture.ts";

const DAY_MS = 86_400_000;
const TODAY_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS;
/** The end of the last week that the job adds up. */
const ROLLED_MS = endOfRolledWeeks(Date.now()) * WEEK_MS;
const DAYS = 40;
const log = { debug() {}, info() {}, warn() {}, error() {} };

/** A row of each day, of two models, each with a cost that no others add up to. */
const ROWS = Array.from({ length: DAYS }, (_, day) =>
  rowAt(TODAY_MS - day * DAY_MS + ((day * 977) % 96) * TOTAL_MS + 1_234, {
    costNanoUsd: 2 ** day,
    organizationId: "o",
    model: day % 3 === 0 ? "m1" : "m2",
    modelGroup: day % 3 === 0 ? "m*" : null,
  }),
);
/** Begins and ends: borders of weeks, days and quarters of an hour, and what lies between. */
const TIMES = [
  TODAY_MS - 30 * DAY_MS,
  ROLLED_MS - 2 * WEEK_MS,
  ROLLED_MS - 2 * WEEK_MS + TOTAL_MS,
  ROLLED_MS - WEEK_MS - DAY_MS,
  ROLLED_MS - TOTAL_MS,
  ROLLED_MS,
  ROLLED_MS + TOTAL_MS,
];
const SPANS: readonly LedgerSumFilter[] = [
  {},
  ...TIMES.flatMap((fromMs) => [
    { fromMs },
    { toMs: fromMs },
    ...TIMES.filter((toMs) => toMs > fromMs).map((toMs) => ({ fromMs, toMs })),
  ]),
];
const OF_WHAT: readonly LedgerSumFilter[] = [
  {},
  { teamId: "t" },
  { teamId: "t", models: ["m1"] },
  { organizationId: "o", models: ["m*", "other"] },
  { tag: "x", models: [] },
  { provider: "p" },
];
const FILTERS = OF_WHAT.flatMap((what) => SPANS.map((span) => ({ ...what, ...span })));

async function expectCosts({ ledger }: Store, rows: readonly SpendRow[]): Promise<void> {
  const found: unknown[] = [];
  for (const filter of FILTERS) found.push({ ...filter, cost: await ledger.spent(filter) });
  expect(found).toEqual(
    FILTERS.map((filter) => ({ ...filter, cost: Number(modelCost(rows, filter)) })),
  );
}

const inTime = (): AbortSignal => AbortSignal.timeout(110_000);

async function run(store: Store, name: "weeks" | "retention", keepLedgerMs?: number) {
  const job = store.jobs?.find((one) => one.name === name);
  if (job === undefined) throw new Error(`the store has no job ${name}`);
  return job.run({ keepLedgerMs, signal: inTime() });
}

for (const { name, isThere, make } of PLACES)
  describe.skipIf(!isThere)(`weeks of totals in ${name}`, () => {
    let place: Place;
    const verify = async () => place.store.verifySums?.({}, inTime());
    /** Rows that come after the weeks of their times are added up. */
    const late = [
      // A new quarter of an hour, a known one, a new model, and a week before all others.
      rowAt(ROLLED_MS - 3 * DAY_MS + 5, { costNanoUsd: 2 ** 41 }),
      { ...ROWS[20]!, attempt: 2, costNanoUsd: 2 ** 42 },
      rowAt(ROLLED_MS - WEEK_MS, { costNanoUsd: 2 ** 43, model: "late" }),
      rowAt(ROLLED_MS - 9 * WEEK_MS, { costNanoUsd: 2 ** 44 }),
    ];

    beforeAll(async () => {
      place = await make();
      await place.store.ledger.insert(ROWS);
    });
    afterAll(() => place?.close());

    it("are the cost of the rows before and after they are added up", async () => {
      await expectCosts(place.store, ROWS);
      expect(await run(place.store, "weeks")).toMatch(/\d weeks of spend_total_week$/);
      expect(await run(place.store, "weeks")).toBeUndefined();
      await expectCosts(place.store, ROWS);
      expect(await verify()).toMatchObject({ total: 0 });
    });

    it("are what a begin reads, and quarters of an hour around them", async () => {
      const filter = { teamId: "t", fromMs: ROLLED_MS - WEEK_MS - TOTAL_MS };
      const before = await place.store.ledger.spent(filter);
      await place.query("update spend_total_week set nano_usd = nano_usd + 1");
      // A sum of each of two models.
      expect(await place.store.ledger.spent(filter)).toBe(before + 2);
      const check = await verify();
      expect(check?.total).toBeGreaterThan(0);
      expect(new Set(check?.differences.map(({ sums }) => sums))).toEqual(
        new Set(["spend_total_week"]),
      );
      await place.query("update spend_total_week set nano_usd = nano_usd - 1");
      expect(await verify()).toMatchObject({ total: 0 });
    });

    it("have rows that come late", async () => {
      await place.store.ledger.insert(late);
      await place.store.ledger.insert(late);
      await expectCosts(place.store, [...ROWS, ...late]);
      expect(await verify()).toMatchObject({ total: 0 });
    });

    it("stay when rows are deleted", async () => {
      expect(await run(place.store, "retention", 10 * DAY_MS)).toMatch(/spend rows/);
      await expectCosts(place.store, [...ROWS, ...late]);
      expect(await verify()).toMatchObject({ total: 0 });
    });
  });

for (const { name, isThere, make } of PLACES)
  describe.skipIf(!isThere)(`a begin in ${name}, while weeks are added up`, () => {
    let place: Place;
    beforeAll(async () => {
      place = await make();
    });
    afterAll(() => place?.close());

    it("has each row that was there, and none twice", async () => {
      const { ledger } = place.store;
      const weeks = 20;
      const base = Array.from({ length: weeks * 7 }, (_, day) =>
        rowAt(ROLLED_MS - (day + 1) * DAY_MS + 5),
      );
      await ledger.insert(base);
      const filter = { teamId: "t", fromMs: ROLLED_MS - weeks * WEEK_MS };
      const state = { begun: 0, done: 0, isOver: false, reads: 0 };
      const writer = async (): Promise<void> => {
        for (let at = 0; !state.isOver; at++) {
          // In each week in turn, in quarters of an hour that have rows and in others.
          const atMs = ROLLED_MS - (1 + (at % weeks)) * WEEK_MS + (at % 700) * TOTAL_MS;
          state.begun += 1;
          await ledger.insert([rowAt(atMs, { attempt: 2 + at, costNanoUsd: 1 })]);
          state.done += 1;
          // An insert into a file that is not locked gives no other task way.
          await pause(1);
        }
      };
      const reader = async (): Promise<void> => {
        while (!state.isOver) {
          const least = state.done;
          const cost = await ledger.spent(filter);
          expect(cost - base.length * 100).toBeGreaterThanOrEqual(least);
          expect(cost - base.length * 100).toBeLessThanOrEqual(state.begun);
          state.reads += 1;
        }
      };
      const others = [writer(), reader()];
      // Two leaders at once, as after a lease that ended.
      const ran = Promise.all([1, 2].map(async () => run(place.store, "weeks")));
      await ran.finally(() => (state.isOver = true));
      await Promise.all(others);
      expect(state.done).toBeGreaterThan(0);
      expect(state.reads).toBeGreaterThan(0);
      expect(await ledger.spent(filter)).toBe(base.length * 100 + state.done);
      expect(await place.store.verifySums?.({}, inTime())).toMatchObject({ total: 0 });
    });
  });

describe.skipIf(!isServerThere)("weeks of totals in PostgreSQL, statement by statement", () => {
  const databases: TestDatabase[] = [];
  const clients: Client[] = [];
  afterAll(async () => {
    for (const client of clients) await client.end();
    for (const database of databases) await database.drop();
  });

  async function newDatabase(): Promise<{ database: TestDatabase; client: Client }> {
    const database = await createDatabase();
    databases.push(database);
    const client = new Client({ connectionString: database.url });
    await client.connect();
    clients.push(client);
    return { database, client };
  }

  /** Adds to a total as the insert of any version does, in the first quarter of an hour of a day. */
  async function addTotal(client: Client, atMs: number, nanoUsd: number): Promise<void> {
    for (const subject of ["all", "team:t"])
      await client.query(
        `insert into spend_total (subject, span, model, model_group, writer, nano_usd) values ($1, $2, 'm', '', 1, $3)
         on conflict (subject, span, model, model_group, writer) do update set nano_usd = spend_total.nano_usd + excluded.nano_usd`,
        [subject, atMs / TOTAL_MS, nanoUsd],
      );
  }

  async function spentOf({ ledger }: Store): Promise<number> {
    return ledger.spent({ teamId: "t", fromMs: ROLLED_MS - 5 * WEEK_MS });
  }

  it("wait for a row that is not committed yet", async () => {
    const { database, client } = await newDatabase();
    const store = await database.store();
    await addTotal(client, ROLLED_MS - WEEK_MS, 1);
    await client.query("begin");
    await addTotal(client, ROLLED_MS - WEEK_MS, 10);
    let isDone = false;
    const rolling = run(store, "weeks").finally(() => (isDone = true));
    await pause(300);
    expect(isDone).toBe(false);
    await client.query("commit");
    expect(await rolling).toBe("added up 1 weeks of spend_total_week");
    expect(await spentOf(store)).toBe(11);
  });

  it("are added up from the begin after an upgrade, beside processes of the version before", async () => {
    const { database, client } = await newDatabase();
    const connections = connect({ url: database.url, pooler: "none", connections: 2, log });
    const migrations = MIGRATIONS.filter(({ version }) => version < 14);
    await runMigrations({ pool: connections.migrations, migrations, log, signal: inTime() });
    await connections.end();
    for (let week = 1; week <= 5; week++) await addTotal(client, ROLLED_MS - week * WEEK_MS, 1);
    // The leader of the version before added the sums of cells up.
    const rollCells = async (nextMs: number) =>
      client.query(
        `insert into spend_rolled (next_week) values ($1)
         on conflict (only_row) do update set next_week = excluded.next_week`,
        [nextMs / WEEK_MS],
      );
    await rollCells(ROLLED_MS - WEEK_MS);
    const store = await database.store();
    expect(await spentOf(store)).toBe(5);
    await addTotal(client, ROLLED_MS - 3 * WEEK_MS, 10);
    await rollCells(ROLLED_MS);
    expect(await spentOf(store)).toBe(15);
    expect(await run(store, "weeks")).toBe("added up 5 weeks of spend_total_week");
    expect(await spentOf(store)).toBe(15);
    await addTotal(client, ROLLED_MS - 3 * WEEK_MS, 100);
    await addTotal(client, ROLLED_MS - 2 * WEEK_MS + DAY_MS, 1_000);
    expect(await spentOf(store)).toBe(1_115);
    const { rows } = await client.query(
      "select nano_usd::text as cost from spend_total_week where subject = 'team:t' order by week",
    );
    expect(rows.map(({ cost }) => cost)).toEqual(["1", "1", "111", "1001", "1"]);
  });
});
