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
  let decided = 0;
  while (decided < text.length) {
    // oxlint-disable-next-line no-await-in-loop -- so much in a turn and no more.
    await nextTurn();
    signal.throwIfAborted();
    const start = Math.max(0, decided - reach);
    const end = Math.min(text.length, decided + size + reach);
    const isLast = end === text.length;
    const about = { ...context, offset: context.offset + start, isPartial: context.isPartial || !isLast };
    // oxlint-disable-next-line no-await-in-loop -- what is kept of a slice follows from those before it.
    const verdict = await judge(text.slice(start, end), Object.freeze(about));
    const limit = isLast ? end : end - reach;
    let until = limit;
    if (verdict.kind !== "allow") {
      for (const span of verdict.spans ?? NONE) {
        const from = start + span.start;
        const to = start + span.end;
        if (from >= limit || to <= decided) continue;
        spans.push({ ...span, start: Math.max(from, decided), end: to });
        until = Math.max(until, to);
      }
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

const NONE: readonly EditSpan[] = Object.freeze([]);
