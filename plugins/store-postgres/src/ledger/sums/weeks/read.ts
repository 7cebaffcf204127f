/** Reads of whole weeks that are added up, and of the sums around them. */

import type { WeeksOfSpan, WeekTable } from "@sluice/store-sql/weeks";
import { nextWeek } from "./tables.ts";

/**
 * The sums of a span, to select from. It is a part of one statement, which is one snapshot: a week
 * that is added up meanwhile counts once.
 */
export function throughWeeks(
  weeks: WeekTable,
  columns: readonly string[],
  { first, firstWeek, endWeek, end }: WeeksOfSpan,
): string {
  const { table, source, unit, perWeek } = weeks;
  const rolled = `greatest(${firstWeek}, least(${endWeek}, coalesce(${nextWeek(weeks)}, ${firstWeek})))`;
  const select = `select ${columns.join(", ")} from`;
  return `(${select} ${table} where week >= ${firstWeek} and week < ${rolled}
    union all ${select} ${source} where ${unit} >= ${first} and ${unit} < ${Math.min(firstWeek * perWeek, end)}
    union all ${select} ${source} where ${unit} >= ${rolled} * ${perWeek} and ${unit} < ${end})`;
}
