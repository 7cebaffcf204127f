/** The joint verdict of several guardrails on one text. */

import type { EditSpan, Verdict } from "@sluice/contract";
import { orderSpans } from "@sluice/kit/internals";

/** The joint verdict on one text: the edits, and the block. */
export interface SetVerdict {
  readonly spans: readonly SetSpan[];
  /** The effective block: one without a place, else the first. */
  readonly block: SetBlock | undefined;
}

/** A span, and its guardrail. */
export interface SetSpan extends EditSpan {
  readonly guardrail: string;
}

/** A block, and its guardrail. */
export interface SetBlock {
  readonly guardrail: string;
  readonly reason: string;
  readonly start: number | undefined;
  readonly end: number | undefined;
  /** Another reply may pass. */
  readonly askAgain: boolean;
}

/** Collects the verdicts of guardrails on one text. */
export class JointVerdict {
  readonly #spans: SetSpan[] = [];
  #block: SetBlock | undefined;

  add(guardrail: string, verdict: Exclude<Verdict, { readonly kind: "allow" }>): void {
    for (const span of verdict.spans ?? []) this.#spans.push({ ...span, guardrail });
    if (verdict.kind === "edit") return;
    const { reason, start, end, askAgain = false } = verdict;
    const block = { guardrail, reason, start, end, askAgain };
    if (this.#block === undefined || comesFirst(block, this.#block)) this.#block = block;
  }

  /** The verdict on the text, with its spans in order. `length`: the characters of the text. */
  end(length: number): SetVerdict {
    return { spans: orderSpans(this.#spans, length, Infinity), block: this.#block };
  }
}

/**
 * Of two blocks, the one that another reply cannot cure comes first; then the one without a place,
 * then the earlier one.
 */
function comesFirst(block: SetBlock, other: SetBlock): boolean {
  if (block.askAgain !== other.askAgain) return !block.askAgain;
  return (block.start ?? -1) < (other.start ?? -1);
}
