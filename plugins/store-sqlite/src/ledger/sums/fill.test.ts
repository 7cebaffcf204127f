import { mkdtempSync, rmSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  SPEND_DIMENSIONS,
  type SpendGroup,
  type SpendReportQuery,
  type SpendRow,
} from "@sluice/contract";
import { amount, modelReport, spendRow } from "@sluice/testing";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createKysely } from "../../dialect.ts";
import { openEarlierStore } from "../../earlier-store.fixture.ts";
import { migrate } from "../../migrate.ts";
import { openDatabase } from "../../open-database.ts";
import { runHere } from "../../statements.ts";
import { LEDGER_COLUMNS } from "../columns.ts";
import { createLedgerInsert, ledgerValues } from "../insert.ts";
import { fillSums } from "./fill.ts";
import { createSpendReport } from "./report.ts";

const goOn = (): void => undefined;

let folder: string;
let files = 0;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-fill-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A file with rows of an earlier version. */
async function earlierFile(rows: readonly SpendRow[]): Promise<string> {
  const path = join(folder, `${files++}.db`);
  const database = await openEarlierStore(path, "0021_spend_sums");
  const insert = database.prepare(
    `insert or ignore into ledger (${LEDGER_COLUMNS.join(", ")}) values (${LEDGER_COLUMNS.map(() => "?").join(", ")})`,
  );
  for (const one of rows) insert.run(...ledgerValues(one));
  database.close();
  return path;
}

async function openMigrated(path: string): Promise<DatabaseSync> {
  const database = openDatabase(path, "normal");
  await migrate(database, createKysely(runHere(database)), path);
  return database;
}

/** Throws after so many steps: the process dies there. */
function deadAfter(steps: number): () => void {
  let done = 0;
  return () => {
    if (++done >= steps) throw new Error("killed");
  };
}

const QUERIES = SPEND_DIMENSIONS.map((dimension): SpendReportQuery => {
  const bucket = dimension === "customer" ? "day" : "hour";
  return { by: [dimension], bucket, filter: {}, limit: 1_000 };
});

/** A report of each dimension. */
function reportsOf(database: DatabaseSync): SpendGroup[][] {
  const report = createSpendReport(database);
  return QUERIES.map((query) =>
    [...report(query)].flat().map(({ startMs, ids, sums }) => ({ startMs, ids, sums })),
  );
}

function modelReports(rows: readonly SpendRow[]): SpendGroup[][] {
  return QUERIES.map((query) => modelReport(rows, query));
}

test("a fill that was killed goes on, and counts rows that came meanwhile once", async () => {
  const some = fc.array(spendRow, { maxLength: 12 });
  const property = fc.asyncProperty(
    some,
    fc.array(fc.tuple(fc.integer({ min: 1, max: 4 }), some), { maxLength: 3 }),
    async (before, kills) => {
      const path = await earlierFile(before);
      for (const [steps, meanwhile] of kills) {
        const database = await openMigrated(path);
        // Another process of this version has filled sums or not; its rows come all the same.
        createLedgerInsert(database)(meanwhile.map(ledgerValues));
        await fillSums(database, deadAfter(steps)).catch(() => undefined);
        database.close();
      }
      const database = await openMigrated(path);
      await fillSums(database, goOn);
      const rows = [...before, ...kills.flatMap(([, meanwhile]) => meanwhile)];
      expect(reportsOf(database)).toEqual(modelReports(rows));
      database.close();
    },
  );
  await fc.assert(property, { numRuns: amount(12, 200) });
});

test("two processes fill one file", async () => {
  const rows = fc.sample(spendRow, 60).map((one, index) => ({ ...one, requestId: `r${index}` }));
  const path = await earlierFile(rows);
  const both = [await openMigrated(path), await openMigrated(path)];
  await Promise.all(both.map((database) => fillSums(database, goOn)));
  for (const database of both) {
    expect(reportsOf(database)).toEqual(modelReports(rows));
    database.close();
  }
});

test("a process of an earlier version cannot write rows that the sums would lack", async () => {
  const path = await earlierFile([]);
  const earlier = openDatabase(path, "normal");
  (await openMigrated(path)).close();
  expect(() =>
    earlier.exec("insert into spent (subject, span, nano_usd) values ('all', 0, 1)"),
  ).toThrow("no such table: spent");
  earlier.close();
});
