/**
 * Spans of ids that are read one after the other, from the newest. A statement over hundreds of
 * partitions takes a tenth of a second to plan, and most answers are in the last days.
 */

import type { Conditions } from "./filter.ts";
import { DAY_MS, firstIdOf } from "./days-of-ids.ts";

/** A span of ids by their times. An end that is absent is open. */
export interface IdWindow {
  readonly fromMs?: number;
  readonly toMs?: number;
}

const LENGTHS = [2, 16, 128].map((days) => days * DAY_MS);

/** The windows before a time, the newest first. The last one that is needed has no begin. */
export function windowsBefore(newestMs: number, fromMs = -Infinity): readonly IdWindow[] {
  const begins = LENGTHS.map((ms) => newestMs - ms).filter((ms) => ms > fromMs);
  return [...begins, undefined].map((begin, index) => {
    const toMs = begins[index - 1];
    return { ...(begin !== undefined && { fromMs: begin }), ...(toMs !== undefined && { toMs }) };
  });
}

/** Adds the bounds of a window. */
export function addWindow(conditions: Conditions, { fromMs, toMs }: IdWindow): void {
  if (fromMs !== undefined) conditions.add("request_id >= ?::uuid", firstIdOf(fromMs));
  if (toMs !== undefined) conditions.add("request_id < ?::uuid", firstIdOf(toMs));
}
