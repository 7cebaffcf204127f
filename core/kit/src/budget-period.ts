/** The periods of budgets: they begin where calendars do, so that every process knows them without asking another. */

import { parseDuration } from "./duration.ts";
import { fromLocal, offsetMs } from "./zone.ts";

/** A span of time, milliseconds since 1970: from the start on, up to the end; `null` for one without an end. */
export interface BudgetPeriod {
  readonly startMs: number;
  readonly endMs: number | null;
}

const DAY_MS = 86_400_000;
/** The first Monday after the epoch, which was a Thursday. */
const MONDAY_MS = 4 * DAY_MS;
const FOR_EVER: BudgetPeriod = { startMs: 0, endMs: null };

/**
 * The period of a duration that a time is in. `1d` begins at midnight, `7d` and `1w` on Monday, `1mo` and `30d` on the 1st, as LiteLLM's
 * do; several days, weeks or months at every so many of them since 1970; hours and less at their multiples. Days are those of
 * the zone, an IANA name. Without a duration, and for a text that is none, the period is for ever.
 */
export function budgetPeriod(duration: string | null | undefined, nowMs: number, timeZone: string): BudgetPeriod {
  if (duration === null || duration === undefined) return FOR_EVER;
  const [, digits, unit] = /^(\d{1,4})(d|w|mo)$/.exec(duration) ?? [];
  const count = Number(digits);
  if (unit === undefined || count === 0) return multiples(parseDuration(duration), nowMs);
  if (unit === "mo" || (unit === "d" && count === 30)) return months(unit === "mo" ? count : 1, nowMs, timeZone);
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
