/** Edit spans: checked, sorted, applied. */

import type { EditSpan } from "@sluice/contract";

/** Maximum spans of a verdict: a verdict with more is invalid. */
export const MAX_SPANS = 100_000;

/**
 * Sorts spans and removes overlaps: the span that begins first is kept, and the shared part is cut
 * off the start of the next one. The rule depends on neighbours only, so that a text in pieces is
 * edited like the whole text. Throws a TypeError for a value that is not a list of at most `most`
 * spans within `length`.
 */
export function orderSpans<Span extends EditSpan>(
  spans: readonly Span[],
  length: number,
  most = MAX_SPANS,
): readonly Span[] {
  if (!Array.isArray(spans) || spans.length > most)
    throw new TypeError(`the spans are not a list of at most ${most}`);
  for (const { start, end, replacement } of spans) {
    const isPlace =
      Number.isSafeInteger(start) &&
      Number.isSafeInteger(end) &&
      start >= 0 &&
      end > start &&
      end <= length;
    if (!isPlace || typeof replacement !== "string")
      throw new TypeError("a span lies outside the text or has no replacement");
  }
  if (spans.length < 2) return spans;
  const ordered: Span[] = [];
  let taken = 0;
  for (const span of spans.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    if (span.end <= taken) continue;
    ordered.push(span.start >= taken ? span : { ...span, start: taken });
    taken = span.end;
  }
  return ordered;
}

/** The text with ordered spans replaced. */
export function applySpans(text: string, spans: readonly EditSpan[]): string {
  if (spans.length === 0) return text;
  let result = "";
  let from = 0;
  for (const { start, end, replacement } of spans) {
    result += text.slice(from, start) + replacement;
    from = end;
  }
  return result + text.slice(from);
}

/** A span for every match of a pattern with the flag `g`; empty matches are skipped. */
export function matchSpans(
  text: string,
  pattern: RegExp,
  replacement: string | ((match: string) => string),
): EditSpan[] {
  const spans: EditSpan[] = [];
  for (const match of text.matchAll(pattern)) {
    const [found] = match;
    if (found === "") continue;
    const instead = typeof replacement === "string" ? replacement : replacement(found);
    spans.push({ start: match.index, end: match.index + found.length, replacement: instead });
  }
  return spans;
}
