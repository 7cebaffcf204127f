/**
 * Weeks of sums: seven UTC days each, counted from 1970-01-01. The leader adds the sums of a week
 * up when the week is over for some days; these sums stay. A read takes whole weeks that are added
 * up, and the sums around them.
 */

import { DAY_MS, TOTAL_MS } from "./sums-of-filter.ts";

/** The days of a week. */
export const WEEK_DAYS = 7;
export const WEEK_MS = WEEK_DAYS * DAY_MS;
/**
 * Weeks end at least so many days before they are added up. Rows come late to few of the days
 * before.
 */
export const ROLL_AFTER_DAYS = 4;

/** A table of sums by week, and the sums that are added up to it. */
export interface WeekTable {
  readonly table: string;
  /** The table with the first week that is not added up, in one row; without a row, none are. */
  readonly marker: string;
  readonly source: string;
  /** The source's column of time, and how many of its units a week has. */
  readonly unit: "day" | "span";
  readonly perWeek: number;
  /** A condition that holds for a sum of each unit that has any, and that an index answers. */
  readonly ofEachUnit: string;
}

/** All amounts by cell. */
export const CELL_WEEKS = {
  table: "spend_week",
  marker: "spend_rolled",
  source: "spend_day",
  unit: "day",
  perWeek: WEEK_DAYS,
  ofEachUnit: "true",
} as const satisfies WeekTable;

/**
 * The cost by subject. Its marker is its own: a leader of an earlier version moves the marker of
 * the cells, and adds no totals up.
 */
export const TOTAL_WEEKS = {
  table: "spend_total_week",
  marker: "spend_total_rolled",
  source: "spend_total",
  unit: "span",
  perWeek: WEEK_MS / TOTAL_MS,
  ofEachUnit: "subject = 'all'",
} as const satisfies WeekTable;

/** The part of a `with recursive` that finds each subject by one look-up; the last name is null. */
export const SUBJECTS = `subjects (name) as (select min(subject) from spend_total
  union all select (select min(subject) from spend_total where subject > name) from subjects where name is not null)`;

/** The first week that is not added up at a time. */
export function endOfRolledWeeks(nowMs: number): number {
  const today = Math.floor(nowMs / DAY_MS);
  return Math.floor((today - ROLL_AFTER_DAYS + 1) / WEEK_DAYS);
}

const MAX_UNIT = 2_147_483_647;

/** The parts of a span that sums by week answer, in units of the sums that they are made of. */
export interface WeeksOfSpan {
  readonly first: number;
  /** The first whole week. */
  readonly firstWeek: number;
  /** The week behind the last whole one; not below `firstWeek`. */
  readonly endWeek: number;
  /** Exclusive. */
  readonly end: number;
}

/** The weeks of a span of units. Units and weeks are bounded to what 32 bits hold. */
export function weeksOf({ perWeek }: WeekTable, fromUnit: number, toUnit: number): WeeksOfSpan {
  const limit = Math.floor(MAX_UNIT / perWeek) * perWeek;
  const bounded = (unit: number): number => Math.max(-limit, Math.min(limit, unit));
  const [first, end] = [bounded(fromUnit), bounded(toUnit)];
  const firstWeek = Math.ceil(first / perWeek);
  const endWeek = Math.max(firstWeek, Math.floor(end / perWeek));
  return { first, firstWeek, endWeek, end };
}
