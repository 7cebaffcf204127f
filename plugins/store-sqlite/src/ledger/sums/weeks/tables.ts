/** The tables of sums by week, and which weeks are added up. */

import { CELL_WEEKS, TOTAL_WEEKS, type WeekTable } from "@sluice/store-sql/weeks";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { AMOUNT_COLUMNS } from "../amounts.ts";

/** A table of sums by week, with its columns. */
export interface WeekSums extends WeekTable {
  /** The columns of the key in the order of the primary key, and their types. */
  readonly key: Readonly<Record<string, "integer" | "text">>;
  readonly amounts: readonly string[];
}

export const CELLS: WeekSums = {
  ...CELL_WEEKS,
  key: { week: "integer", cell: "integer" },
  amounts: AMOUNT_COLUMNS,
};

export const TOTALS: WeekSums = {
  ...TOTAL_WEEKS,
  // A budget reads the weeks of a subject.
  key: { subject: "text", week: "integer", model_id: "integer" },
  amounts: ["nano_usd"],
};

/** The week of a unit, also of one before 1970: SQLite's division goes towards zero. */
export const weekOf = ({ perWeek }: WeekTable, unit: string): string =>
  `(${unit} - (${unit} % ${perWeek} + ${perWeek}) % ${perWeek}) / ${perWeek}`;

/** Prepares the question which week is the first that is not added up; `-Infinity`: none are. */
export function createNextWeek(database: DatabaseSync, { marker }: WeekTable): () => number {
  let read: StatementSync | undefined;
  return () => {
    read ??= database.prepare(`select next_week from ${marker}`);
    return Number(read.get()?.["next_week"] ?? -Infinity);
  };
}
