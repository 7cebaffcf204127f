/** The dates of a spend report: whole days in UTC, or moments. Both ends are part of the range. */

import { GatewayError } from "@sluice/contract";

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/**
 * `2026-01-31`, optionally with a time of day and a zone. An unescaped plus of a query arrives as a
 * space.
 */
const DATE =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(Z| ?[+ -]\d\d(?::?\d\d)?)?)?$/i;

/** A range in milliseconds since 1970. */
export interface DateRange {
  /** Inclusive. */
  readonly fromMs?: number;
  /** Exclusive. */
  readonly toMs?: number;
}

/**
 * The range from the values of `start_date` and `end_date`. A time without a zone is UTC. Throws
 * `invalid_field` with the parameter's name for an invalid date, and with `end_date` when it is
 * before the start.
 */
export function dateRange(start: string | undefined, end: string | undefined): DateRange {
  const from = start === undefined ? undefined : readDate(start, "start_date");
  const to = end === undefined ? undefined : readDate(end, "end_date");
  if (from !== undefined && to !== undefined && to.endMs <= from.startMs) {
    throw new GatewayError("invalid_field", "The query parameter end_date is before start_date.", {
      param: "end_date",
    });
  }
  return {
    ...(from === undefined ? {} : { fromMs: from.startMs }),
    ...(to === undefined ? {} : { toMs: to.endMs }),
  };
}

/** A day of the calendar, or a time of a day, in milliseconds since 1970. */
export interface ReadDate {
  /** The first millisecond. */
  readonly startMs: number;
  /** The first one after it. */
  readonly endMs: number;
  readonly isDay: boolean;
}

/**
 * A date of a query. Throws `invalid_field` with the parameter's name. */
export function readDate(text: string, param: string): ReadDate {
  const [, year, month, day, hour, minute = "0", second = "0", fraction = "", zone = ""] =
    DATE.exec(text.trim()) ?? [];
  const midnightMs = midnight(Number(year), Number(month), Number(day));
  const minutes = zoneMinutes(zone);
  const isTime = Number(hour ?? 0) < 24 && Number(minute) < 60 && Number(second) < 60;
  if (midnightMs === undefined || minutes === undefined || !isTime) throw noDate(param);
  if (hour === undefined) return { startMs: midnightMs, endMs: midnightMs + DAY_MS, isDay: true };
  const milliseconds = Number(fraction.slice(0, 3).padEnd(3, "0"));
  const timeMs =
    (Number(hour) * 60 + Number(minute) - minutes) * MINUTE_MS +
    Number(second) * 1_000 +
    milliseconds;
  // A time of day is a range of one millisecond.
  return { startMs: midnightMs + timeMs, endMs: midnightMs + timeMs + 1, isDay: false };
}

/** Midnight of a day of the calendar, `undefined` when it has no such day. */
function midnight(year: number, month: number, day: number): number | undefined {
  const date = new Date(Date.UTC(year, month - 1, day));
  const isReal =
    date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return isReal ? date.getTime() : undefined;
}

/** Minutes east of Greenwich; `undefined` outside the range of real zones. */
function zoneMinutes(zone: string): number | undefined {
  if (zone === "" || zone.toUpperCase() === "Z") return 0;
  const digits = zone.replace(/\D/g, "").padEnd(4, "0");
  const hours = Number(digits.slice(0, 2));
  const minutes = Number(digits.slice(2));
  if (hours > 14 || minutes > 59) return undefined;
  return (zone.includes("-") ? -1 : 1) * (hours * 60 + minutes);
}

function noDate(param: string): GatewayError {
  return new GatewayError(
    "invalid_field",
    `The query parameter ${param} must be a day such as 2026-01-31, or a time such as 2026-01-31T08:30:00Z.`,
    { param },
  );
}
