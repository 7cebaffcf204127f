/**
 * Weeks of sums: seven UTC days each, counted from 1970-01-01. The leader adds the days of a week
 * up when the week is over for some days; days stay. A report reads whole weeks that are added up,
 * and days around them.
 */

import type { SpendReportQuery } from "@sluice/contract";
import { DAY_MS } from "./sums-of-filter.ts";

/** The days of a week. */
export const WEEK_DAYS = 7;
export const WEEK_MS = WEEK_DAYS * DAY_MS;
/**
 * Weeks end at least so many days before they are added up. Rows come late to few of the days
 * before.
 */
export const ROLL_AFTER_DAYS = 4;

/** The first week that is not added up at a time. */
export function endOfRolledWeeks(nowMs: number): number {
  const today = Math.floor(nowMs / DAY_MS);
  return Math.floor((today - ROLL_AFTER_DAYS + 1) / WEEK_DAYS);
}

/** A day that every table of sums can name, at both ends: 32 bits hold it. */
const MAX_DAY = 7 * 300_000_000;

/** The parts of a span of days that sums by week answer. */
export interface WeeksOfSpan {
  readonly fromDay: number;
  /** The first whole week. */
  readonly firstWeek: number;
  /** The week behind the last whole one; not below `firstWeek`. */
  readonly endWeek: number;
  /** Exclusive. */
  readonly toDay: number;
}

/** The weeks of a report whose span is whole days. */
export function weeksOf({ fromMs, toMs }: SpendReportQuery): WeeksOfSpan {
  const fromDay = bounded((fromMs ?? -Infinity) / DAY_MS);
  const toDay = bounded((toMs ?? Infinity) / DAY_MS);
  const firstWeek = Math.ceil(fromDay / WEEK_DAYS);
  return {
    fromDay,
    firstWeek,
    endWeek: Math.max(firstWeek, Math.floor(toDay / WEEK_DAYS)),
    toDay,
  };
}

function bounded(day: number): number {
  return Math.max(-MAX_DAY, Math.min(MAX_DAY, day));
}
