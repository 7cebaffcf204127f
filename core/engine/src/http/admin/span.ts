/** Spans of time in LiteLLM's form: those of the configuration, and weeks and calendar months. */

import { parseDuration } from "@sluice/kit";

const DAY_MS = 86_400_000;
const MAX_MS = 3_650 * DAY_MS;

/** The forms of a span, for messages. */
export const SPAN_FORMS = "30s, 10m, 1h, 7d, 2w or 1mo";

/**
 * The end of a span that begins at a time, both in milliseconds since 1970. A month ends on the
 * same day of the month, or on its last day. Returns `undefined` for a text that is no span, and
 * for one beyond ten years.
 */
export function endOfSpan(text: string, fromMs: number): number | undefined {
  const weeks = /^(\d{1,3})w$/.exec(text)?.[1];
  const months = /^(\d{1,3})mo$/.exec(text)?.[1];
  const lengthMs = weeks === undefined ? parseDuration(text) : Number(weeks) * 7 * DAY_MS;
  const endMs =
    months === undefined ? lengthMs && fromMs + lengthMs : addMonths(fromMs, Number(months));
  if (lengthMs === 0) return fromMs;
  return endMs === undefined || endMs - fromMs > MAX_MS ? undefined : endMs;
}

function addMonths(fromMs: number, months: number): number {
  const from = new Date(fromMs);
  const to = new Date(fromMs);
  to.setUTCMonth(from.getUTCMonth() + months);
  // In a month without a 31st the date overflows into the next month. It is set back to the last
  // day.
  if (to.getUTCDate() !== from.getUTCDate()) to.setUTCDate(0);
  return to.getTime();
}
