/** Query parameters that bound a time: `since` and `until`. */

import { invalid } from "./fields.ts";
import { endOfSpan, SPAN_FORMS } from "./span.ts";

/**
 * The parameter as milliseconds since 1970: a span back from now, or a time. `undefined` where it
 * is absent or empty. Throws `invalid_field` for another text.
 */
export function timeIn(query: URLSearchParams, name: "since" | "until"): number | undefined {
  const text = query.get(name) ?? "";
  if (text === "") return undefined;
  const nowMs = Date.now();
  const end = endOfSpan(text, nowMs);
  const atMs = end === undefined ? Date.parse(text) : 2 * nowMs - end;
  if (Number.isNaN(atMs))
    throw invalid(
      name,
      `The query parameter ${name} must be a span (${SPAN_FORMS}) or a time (2030-01-31T12:00:00Z).`,
    );
  return atMs;
}

/**
 * Whether something happened between `since`, inclusive, and `until`, exclusive. Throws
 * `invalid_field`.
 */
export function within(query: URLSearchParams): (one: { readonly atMs: number }) => boolean {
  const sinceMs = timeIn(query, "since") ?? -Infinity;
  const untilMs = timeIn(query, "until") ?? Infinity;
  return ({ atMs }) => atMs >= sinceMs && atMs < untilMs;
}
