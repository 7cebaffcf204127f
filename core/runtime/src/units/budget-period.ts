/**
 * The periods of budgets. They follow the calendar, so that all processes compute the same periods
 * independently.
 */

import type { ImportedSpend } from "@sluice/contract";
import { parseDuration } from "@sluice/kit";
import { fromLocal, offsetMs } from "./zone.ts";

/**
 * A span of time in milliseconds since 1970: start inclusive, end exclusive; a `null` end is
 * unbounded.
 */
export interface BudgetPeriod {
  readonly startMs: number;
  readonly endMs: number | null;
}

const DAY_MS = 86_400_000;
/** The first Monday after the epoch, which was a Thursday. */
const MONDAY_MS = 4 * DAY_MS;
const FOR_EVER: BudgetPeriod = { startMs: 0, endMs: null };

/**
 * The period of a duration that contains a time. `1d` begins at midnight, `7d` and `1w` on Monday,
 * `1mo` and `30d` on the 1st, as in LiteLLM. Several days, weeks or months begin at multiples since
 * 1970, hours and shorter durations at their multiples. Days are those of the zone, an IANA name.
 * Without a duration, or with an invalid one, the period is unbounded.
 */
export function budgetPeriod(
  duration: string | null | undefined,
  nowMs: number,
  timeZone: string,
): BudgetPeriod {
  if (duration === null || duration === undefined) return FOR_EVER;
  const [, digits, unit] = /^(\d{1,4})(d|w|mo)$/.exec(duration) ?? [];
  const count = Number(digits);
  if (unit === undefined || count === 0) return multiples(parseDuration(duration), nowMs, 0);
  if (unit === "mo" || (unit === "d" && count === 30))
    return months(unit === "mo" ? count : 1, nowMs, timeZone);
  const days = unit === "w" ? count * 7 : count;
  return blocks(days * DAY_MS, days % 7 === 0 ? MONDAY_MS : 0, nowMs, timeZone);
}

/**
 * The period of a duration that contains a time, where periods are counted from `originMs`. Days,
 * weeks and months keep the local time of day of the origin, months its day of the month or their
 * last day; `30d` are thirty days here. Without a duration, or with an invalid one, the period is
 * unbounded.
 */
export function anchoredPeriod(
  duration: string | null | undefined,
  nowMs: number,
  timeZone: string,
  originMs: number,
): BudgetPeriod {
  if (duration === null || duration === undefined) return FOR_EVER;
  const [, digits, unit] = /^(\d{1,4})(d|w|mo)$/.exec(duration) ?? [];
  const count = Number(digits);
  if (unit === undefined || count === 0) return multiples(parseDuration(duration), nowMs, originMs);
  const localMs = originMs + offsetMs(originMs, timeZone);
  if (unit === "mo") return monthsFrom(localMs, count, nowMs, timeZone);
  return blocks((unit === "w" ? count * 7 : count) * DAY_MS, localMs, nowMs, timeZone);
}

function monthsFrom(
  originMs: number,
  count: number,
  nowMs: number,
  timeZone: string,
): BudgetPeriod {
  const origin = new Date(originMs);
  const local = new Date(nowMs + offsetMs(nowMs, timeZone));
  const startOf = (index: number): number =>
    fromLocal(monthsAfter(origin, index * count), timeZone);
  const passed =
    (local.getUTCFullYear() - origin.getUTCFullYear()) * 12 +
    local.getUTCMonth() -
    origin.getUTCMonth();
  let index = Math.floor(passed / count);
  if (startOf(index) > nowMs) index -= 1;
  return { startMs: startOf(index), endMs: startOf(index + 1) };
}

/** The same day and time of day some months later, or the last day of that month. */
function monthsAfter(origin: Date, months: number): number {
  const [year, month] = [origin.getUTCFullYear(), origin.getUTCMonth() + months];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const timeOfDay = origin.getTime() - Math.floor(origin.getTime() / DAY_MS) * DAY_MS;
  return Date.UTC(year, month, Math.min(origin.getUTCDate(), lastDay)) + timeOfDay;
}

function multiples(lengthMs: number | undefined, nowMs: number, originMs: number): BudgetPeriod {
  if (lengthMs === undefined || lengthMs <= 0) return FOR_EVER;
  const startMs = Math.floor((nowMs - originMs) / lengthMs) * lengthMs + originMs;
  return { startMs, endMs: startMs + lengthMs };
}

function blocks(lengthMs: number, originMs: number, nowMs: number, timeZone: string): BudgetPeriod {
  const localMs = nowMs + offsetMs(nowMs, timeZone);
  const startMs = Math.floor((localMs - originMs) / lengthMs) * lengthMs + originMs;
  return { startMs: fromLocal(startMs, timeZone), endMs: fromLocal(startMs + lengthMs, timeZone) };
}

function months(count: number, nowMs: number, timeZone: string): BudgetPeriod {
  const local = new Date(nowMs + offsetMs(nowMs, timeZone));
  const month = (local.getUTCFullYear() - 1970) * 12 + local.getUTCMonth();
  const first = Math.floor(month / count) * count;
  return {
    startMs: fromLocal(Date.UTC(1970, first), timeZone),
    endMs: fromLocal(Date.UTC(1970, first + count), timeZone),
  };
}

/**
 * What an imported record had spent in the period that begins at `startMs`, in nano-dollars: all of
 * it, or nothing.
 */
export function importedSince(imported: ImportedSpend | undefined, startMs: number): number {
  return imported !== undefined && imported.atMs >= startMs ? imported.nanoUsd : 0;
}
