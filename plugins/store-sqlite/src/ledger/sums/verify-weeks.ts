/** Compares the sums by week with those by day, a week in each read transaction. */

import { WEEK_DAYS, WEEK_MS } from "@sluice/store-sql/weeks";
import type { DatabaseSync } from "node:sqlite";
import { setImmediate as yieldToLoop } from "node:timers/promises";
import { AMOUNT_COLUMNS } from "./amounts.ts";
import { CELL, type Keyed, type Table, type TableComparison } from "./compare-table.ts";
import { createNextWeek, weekOf } from "./weeks.ts";

const WEEKS = {
  name: "spend_week",
  key: ["week", "cell"],
  unit: "week",
  unitMs: WEEK_MS,
  amounts: AMOUNT_COLUMNS,
  ids: CELL,
} as const satisfies Table;

const DAYS_OF_WEEK = `select ${weekOf("day")}, cell, ${AMOUNT_COLUMNS.map((name) => `sum(${name})`).join(", ")} from spend_day
  where day >= ? * ${WEEK_DAYS} and day < (? + 1) * ${WEEK_DAYS} group by 1, 2`;

/** The next week that has sums of either table. */
const NEXT = `select min(week) as week from (select min(week) as week from spend_week where week >= ?
  union all select ${weekOf("min(day)")} from spend_day where day >= ? * ${WEEK_DAYS})`;

/** Compares the weeks of a span, also those whose rows are gone. */
export async function compareWeeks(
  database: DatabaseSync,
  tables: TableComparison,
  span: { readonly fromMs: number | undefined; readonly toMs: number | undefined },
  signal: AbortSignal,
): Promise<void> {
  const { fromMs = Number.MIN_SAFE_INTEGER, toMs = Number.MAX_SAFE_INTEGER } = span;
  const next = database.prepare(NEXT);
  const nextWeek = createNextWeek(database);
  const days = database.prepare(DAYS_OF_WEEK);
  days.setReturnArrays(true);
  days.setReadBigInts(true);
  for (let at = Math.floor(fromMs / WEEK_MS); ;) {
    signal.throwIfAborted();
    const week = next.get(at, at)?.["week"];
    if (typeof week !== "number" || week * WEEK_MS >= toMs) return;
    database.exec("begin");
    try {
      const made = week < nextWeek() ? days.all(week, week) : [];
      const expected = sumsOf(made as unknown as readonly (readonly bigint[])[]);
      tables.compare(WEEKS, expected, week * WEEK_MS, (week + 1) * WEEK_MS);
    } finally {
      database.exec("rollback");
    }
    at = week + 1;
    await yieldToLoop();
  }
}

function sumsOf(rows: readonly (readonly bigint[])[]): Keyed {
  const sums: Keyed = new Map();
  for (const [week, cell, ...amounts] of rows) {
    const key = [Number(week), Number(cell)];
    sums.set(key.join("\0"), { key, amounts });
  }
  return sums;
}
