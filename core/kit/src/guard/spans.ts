/** Edit spans: checked, put in order, applied. */

import type { EditSpan } from "@sluice/spec";

/** Spans a verdict may have: more of them are no edit but rubbish. */
export const MAX_SPANS = 100_000;

/**
 * The spans in order and without overlaps: the one that begins first is kept, what another one shares with it is cut off its
 * start. That rule looks at neighbours only, so that a text in pieces is edited as the whole text is. Throws a TypeError on what
 * is no list of at most `most` spans within `length`.
 */
export function orderSpans<Span extends EditSpan>(spans: readonly Span[], length: number, most = MAX_SPANS): readonly Span[] {
  if (!Array.isArray(spans) || spans.length > most) throw new TypeError(`the spans are no list of at most ${most}`);
  for (const { start, end, replacement } of spans) {
    const isPlace = Number.isSafeInteger(start) && Number.isSafeInteger(end) && start >= 0 && end > start && end <= length;
    if (!isPlace || typeof replacement !== "string") throw new TypeError("a span lies outside the text or has no replacement");
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

/** A span for every match of a pattern with the flag `g`; empty matches are passed over. */
export function matchSpans(text: string, pattern: RegExp, replacement: string | ((match: string) => string)): EditSpan[] {
  const spans: EditSpan[] = [];
  for (const match of text.matchAll(pattern)) {
    const [found] = match;
    if (found === "") continue;
    const instead = typeof replacement === "string" ? replacement : replacement(found);
    spans.push({ start: match.index, end: match.index + found.length, replacement: instead });
  }
  return spans;
}
