/**
 * Checks long texts in slices, one in each turn of the event loop, so that other requests do not
 * wait for the whole text.
 */

import type { EditSpan, TextContext, Verdict } from "@sluice/contract";
import { type Holder, nextTurn } from "@sluice/kit/internals";

/** Characters of one slice. The slowest built-in guardrail needs 12 ms for them. */
export const SLICE = 16_384;

/** Options for a check in slices. */
export interface SliceOptions {
  /** The context of the whole text. */
  readonly context: TextContext;
  /** A finite number. */
  readonly reach: number;
  /** Checks a slice of the text. */
  readonly check: (slice: string, context: TextContext) => Verdict | Promise<Verdict>;
  readonly signal: AbortSignal;
  /** Whose text it is. */
  readonly holder: Holder;
  /** Characters of a slice. Default `SLICE`. */
  readonly size?: number;
}

/**
 * The verdict on a text, equal to that of one check. Each slice has `reach` characters on both
 * sides, as the windows over a stream have, and the final part of its verdict is kept. Rejects with
 * the signal's reason, or with the error of `check`.
 */
export async function checkInSlices(
  text: string,
  { context, reach, check, signal, holder, size = SLICE }: SliceOptions,
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
      // oxlint-disable-next-line no-await-in-loop -- a bounded amount of work for each turn.
      await nextTurn(undefined, holder);
      signal.throwIfAborted();
      start = Math.max(0, decided - shown);
      const about = {
        ...context,
        offset: context.offset + start,
        isPartial: context.isPartial || !isLast,
      };
      // oxlint-disable-next-line no-await-in-loop -- the result for a slice depends on the previous
      // ones.
      verdict = await check(text.slice(start, end), Object.freeze(about));
      shown *= 2;
      // A block in the decided part is false: it lacks the text before it. A valid one may follow
      // it.
    } while (
      verdict.kind === "block" &&
      start > 0 &&
      start + (verdict.end ?? Infinity) <= decided &&
      shown <= reach * MAX_SHOWN
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
      if (isLast || from < limit)
        return { ...verdict, start: from, end: start + verdict.end, spans };
    }
    decided = until;
  }
  return spans.length === 0 ? { kind: "allow" } : { kind: "edit", spans };
}

/**
 * The maximum of decided text that a guardrail is shown again, in multiples of its reach, before
 * its verdict on that text counts.
 */
const MAX_SHOWN = 16;
const NONE: readonly EditSpan[] = Object.freeze([]);
