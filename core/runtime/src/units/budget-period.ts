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
  if (unit === undefined || count === 0) return multiples(parseDuration(duration), nowMs);
  if (unit === "mo" || (unit === "d" && count === 30))
    return months(unit === "mo" ? count : 1, nowMs, timeZone);
  const days = unit === "w" ? count * 7 : count;
  return blocks(days * DAY_MS, days % 7 === 0 ? MONDAY_MS : 0, nowMs, timeZone);
}

function multiples(lengthMs: number | undefined, nowMs: number): BudgetPeriod {
  if (lengthMs === undefined || lengthMs <= 0) return FOR_EVER;
  const startMs = Math.floor(nowMs / lengthMs) * lengthMs;
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
