/** Compares sums by week with those that they are made of, a week in each read transaction. */

import { WEEK_MS } from "@sluice/store-sql/weeks";
import type { DatabaseSync } from "node:sqlite";
import { setImmediate as yieldToLoop } from "node:timers/promises";
import { CELL, type Keyed, type Table, type TableComparison } from "../compare-table.ts";
import { CELLS, createNextWeek, TOTALS, weekOf, type WeekSums } from "./tables.ts";

const COMPARED = [
  { sums: CELLS, ids: CELL },
  {
    sums: TOTALS,
    ids: "subject || ' ' || (select model from spend_model m where m.id = model_id)",
  },
];

/** Compares the weeks of a span, also those whose rows are gone. */
export async function compareWeeks(
  database: DatabaseSync,
  tables: TableComparison,
  span: { readonly fromMs: number | undefined; readonly toMs: number | undefined },
  signal: AbortSignal,
): Promise<void> {
  const { fromMs = Number.MIN_SAFE_INTEGER, toMs = Number.MAX_SAFE_INTEGER } = span;
  for (const { sums, ids } of COMPARED) {
    const { next, made } = questionsOf(database, sums);
    const table: Table = {
      name: sums.table,
      key: Object.keys(sums.key),
      unit: "week",
      unitMs: WEEK_MS,
      amounts: sums.amounts,
      ids,
    };
    for (let at = Math.floor(fromMs / WEEK_MS); ;) {
      signal.throwIfAborted();
      const week = next(at);
      if (week === undefined || week * WEEK_MS >= toMs) break;
      database.exec("begin");
      try {
        tables.compare(table, made(week), week * WEEK_MS, (week + 1) * WEEK_MS);
      } finally {
        database.exec("rollback");
      }
      at = week + 1;
      await yieldToLoop();
    }
  }
}

/** What is asked of a table. */
interface Questions {
  /** The first week, not before another one, that has sums of the table or of its source. */
  next(fromWeek: number): number | undefined;
  /** The sums that a week should have. */
  made(week: number): Keyed;
}

function questionsOf(database: DatabaseSync, sums: WeekSums): Questions {
  const { table, source, unit, perWeek, key, amounts } = sums;
  const next = database.prepare(`select min(week) as week from (
    select min(week) as week from ${table} where week >= ?
    union all select ${weekOf(sums, `min(${unit})`)} from ${source} where ${unit} >= ? * ${perWeek})`);
  const columns = Object.keys(key).map((name) => (name === "week" ? weekOf(sums, unit) : name));
  const made = database.prepare(
    `select ${[...columns, ...amounts.map((name) => `sum(${name})`)].join(", ")} from ${source}
     where ${unit} >= ? * ${perWeek} and ${unit} < (? + 1) * ${perWeek} group by ${columns.map((_, index) => index + 1).join(", ")}`,
  );
  made.setReturnArrays(true);
  made.setReadBigInts(true);
  const nextWeek = createNextWeek(database, sums);
  return {
    next: (fromWeek) => (next.get(fromWeek, fromWeek)?.["week"] as number | null) ?? undefined,
    made(week) {
      const rows = week < nextWeek() ? made.all(week, week) : [];
      return keyed(rows as unknown as readonly (readonly (string | bigint)[])[], columns.length);
    },
  };
}

function keyed(rows: readonly (readonly (string | bigint)[])[], keyLength: number): Keyed {
  const found: Keyed = new Map();
  for (const row of rows) {
    const key = row
      .slice(0, keyLength)
      .map((value) => (typeof value === "string" ? value : Number(value)));
    found.set(key.join("\0"), { key, amounts: row.slice(keyLength) as bigint[] });
  }
  return found;
}
