/** Periods of a report, in days of UTC. */

const DAY_MS = 86_400_000;

/** The first and the last day, `2030-01-31`. */
export interface Period {
  readonly from: string;
  readonly to: string;
}

/** Periods by their names in the fragment. */
export const PERIODS = [
  ["today", "Today"],
  ["yesterday", "Yesterday"],
  ["7d", "Last 7 days"],
  ["30d", "Last 30 days"],
  ["month", "This month"],
  ["last-month", "Last month"],
  ["90d", "Last 90 days"],
] as const;

/** The days of a period. An unknown name is that of thirty days. */
export function periodOf(name: string, nowMs: number): Period {
  const today = startOfDay(nowMs);
  const date = new Date(today);
  const monthOf = (months: number): number =>
    Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, 1);
  switch (name) {
    case "today":
      return days(today, today);
    case "yesterday":
      return days(today - DAY_MS, today - DAY_MS);
    case "7d":
      return days(today - 6 * DAY_MS, today);
    case "month":
      return days(monthOf(0), today);
    case "last-month":
      return days(monthOf(-1), monthOf(0) - DAY_MS);
    case "90d":
      return days(today - 89 * DAY_MS, today);
    default:
      return days(today - 29 * DAY_MS, today);
  }
}

/** How many days a period has. */
export function lengthOf({ from, to }: Period): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1;
}

/**
 * What a calendar month will have cost at its end, if it goes on as it did. `undefined` for another
 * period, and for less than a day.
 */
export function forecast(name: string, spend: number, nowMs: number): number | undefined {
  if (name !== "month") return undefined;
  const now = new Date(nowMs);
  const begin = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1);
  const end = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
  if (nowMs - begin < DAY_MS) return undefined;
  return (spend / (nowMs - begin)) * (end - begin);
}

function startOfDay(ms: number): number {
  return Math.floor(ms / DAY_MS) * DAY_MS;
}

function days(fromMs: number, toMs: number): Period {
  const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  return { from: day(fromMs), to: day(toMs) };
}
