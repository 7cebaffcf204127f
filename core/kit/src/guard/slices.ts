/** Long texts, judged slice by slice, a turn of the event loop for each: nobody else waits for the whole of one. */

import type { EditSpan, TextContext, Verdict } from "@sluice/spec";
import { nextTurn } from "../transport/turns.ts";

/** Characters of a text that are judged at once. The slowest of our guardrails needs 12 ms for as many. */
export const SLICE = 16_384;

/** How a text is judged in slices. */
export interface SliceOptions {
  /** Of the whole text. */
  readonly context: TextContext;
  /** A number. */
  readonly reach: number;
  /** Judges a stretch of the text. */
  readonly judge: (slice: string, context: TextContext) => Verdict | Promise<Verdict>;
  readonly signal: AbortSignal;
  /** Characters of a slice. Default `SLICE`. */
  readonly size?: number;
}

/**
 * The verdict about a text as it would be at once. Each slice comes with `reach` characters on both sides, as the windows over a
 * stream do, and what cannot change any more is kept of its verdict. Rejects with the signal's reason, or with what `judge` throws.
 */
export async function judgeInSlices(
  text: string,
  { context, reach, judge, signal, size = SLICE }: SliceOptions,
): Promise<Verdict> {
  const spans: EditSpan[] = [];
  for (let decided = 0; decided < text.length;) {
    const end = Math.min(text.length, decided + size + reach);
    const isLast = end === text.length;
    const limit = isLast ? end : end - reach;
    let start = decided;
    let verdict: Verdict;
    let shown = reach;
    do {
      // oxlint-disable-next-line no-await-in-loop -- so much in a turn and no more.
      await nextTurn();
      signal.throwIfAborted();
      start = Math.max(0, decided - shown);
      const about = { ...context, offset: context.offset + start, isPartial: context.isPartial || !isLast };
      // oxlint-disable-next-line no-await-in-loop -- what is kept of a slice follows from those before it.
      verdict = await judge(text.slice(start, end), Object.freeze(about));
      shown *= 2;
      // What was decided is no offence: it looks like one without what stands before it, and another may be behind it.
    } while (
      verdict.kind === "block" &&
      start > 0 &&
      start + (verdict.end ?? Infinity) <= decided &&
      shown <= reach * MOST_SHOWN
    );
    let until = limit;
    for (const span of verdict.kind === "allow" ? NONE : (verdict.spans ?? NONE)) {
      const from = start + span.start;
      const to = start + span.end;
      if (from >= limit || to <= decided) continue;
      spans.push({ ...span, start: Math.max(from, decided), end: to });
      until = Math.max(until, to);
    }
    if (verdict.kind === "block") {
      if (verdict.start === undefined || verdict.end === undefined) return verdict;
      const from = start + verdict.start;
      if (isLast || from < limit) return { ...verdict, start: from, end: start + verdict.end, spans };
    }
    decided = until;
  }
  return spans.length === 0 ? { kind: "allow" } : { kind: "edit", spans };
}

/** Times its reach that a guardrail is shown of what was decided, before what it says about that counts. */
const MOST_SHOWN = 16;
const NONE: readonly EditSpan[] = Object.freeze([]);
