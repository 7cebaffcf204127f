/**
 * A window over a text that arrives in pieces: the part that can no longer change is released, with
 * its edits.
 */

import { GatewayError, type TextContext } from "@sluice/contract";
import type { GuardrailSet } from "../guardrail-set.ts";
import type { SetSpan, SetVerdict } from "../joint-verdict.ts";

/** Options of a window. */
export interface WindowOptions {
  readonly set: GuardrailSet;
  /**
   * Maximum characters of a match with its surroundings; `Infinity` holds everything to the end.
   */
  readonly reach: number;
  /** Maximum characters that may wait. */
  readonly maxHeld: number;
  /** The context of the texts; the window sets `isPartial` and `offset`. */
  readonly context: TextContext;
}

/**
 * One text in pieces. Offsets count characters of the whole text. `released` is the end of the
 * decided part; `spans` are the edits in it.
 */
export class TextWindow {
  readonly #options: WindowOptions;
  /** The text from `#start`: the context that may still be needed, and the unreleased part. */
  #text = "";
  #start = 0;
  #released = 0;
  #spans: SetSpan[] = [];
  #taken = 0;
  #judgedTo = 0;
  /** The last context that the guardrails got. */
  #about: TextContext | undefined;

  constructor(options: WindowOptions) {
    this.#options = options;
  }

  /** The end of the decided part. */
  get released(): number {
    return this.#released;
  }

  /** The length of the text so far. */
  get length(): number {
    return this.#start + this.#text.length;
  }

  /** The edits since the last call, in order. */
  takeSpans(): readonly SetSpan[] {
    if (this.#taken === this.#spans.length) return NO_SPANS;
    const spans = this.#spans.slice(this.#taken);
    this.#taken = this.#spans.length;
    return spans;
  }

  /** Whether decidable text waits for `decide`. */
  isWaiting = false;
  /**
   * Characters that may arrive after a check before the next one: until then the text waits for
   * `decide`. The places of the checks never change the result. 0: every piece is checked.
   */
  batch = 0;

  /**
   * Adds text and decides the possible part, or leaves it to `decide`. Throws `guardrail_violation`
   * as soon as a block is certain; the text before it is then decided.
   */
  push(text: string): void | Promise<void> {
    this.#text += text;
    const { reach, maxHeld } = this.#options;
    if (this.length - this.#released > maxHeld + (Number.isFinite(reach) ? reach : 0))
      throw tooLong(maxHeld);
    if (this.length - reach <= this.#released) return undefined;
    this.isWaiting = this.length - this.#judgedTo < this.batch;
    return this.isWaiting ? undefined : this.#decideAll(false);
  }

  /** Decides the waiting text. */
  decide(): void | Promise<void> {
    return this.isWaiting ? this.#decideAll(false) : undefined;
  }

  /** Ends the input: everything is decided. */
  end(): void | Promise<void> {
    return this.length > this.#released ? this.#decideAll(true) : undefined;
  }

  #decideAll(isLast: boolean): void | Promise<void> {
    const { set, context } = this.#options;
    const text = this.#text;
    this.isWaiting = false;
    this.#judgedTo = this.length;
    let about = this.#about;
    if (about === undefined || isLast || about.offset !== this.#start) {
      about = Object.freeze({ ...context, isPartial: !isLast, offset: this.#start });
      this.#about = about;
    }
    const verdict = set.check(text, about);
    if (verdict instanceof Promise) return verdict.then((settled) => this.#decide(settled, isLast));
    return this.#decide(verdict, isLast);
  }

  #decide({ spans, block }: SetVerdict, isLast: boolean): void {
    const { set, reach, context } = this.#options;
    const end = this.length;
    const limit = isLast ? end : end - reach;
    const at = block?.start === undefined ? undefined : this.#start + block.start;
    // Without a place, and with all its surroundings, a block does not depend on later text.
    const isCertain = block !== undefined && (at === undefined || isLast || at < limit);
    // The text before a certain block is decided too, whatever its length.
    const until = isCertain ? Math.min(limit, Number.isFinite(reach) ? (at ?? 0) : 0) : limit;
    let released = Math.max(this.#released, until);
    for (const span of spans) {
      const start = this.#start + span.start;
      const spanEnd = this.#start + span.end;
      if (start >= until || spanEnd <= this.#released || (isCertain && spanEnd > until)) continue;
      // The released part stays; the rest of such a span is edited.
      this.#spans.push({ ...span, start: Math.max(start, this.#released), end: spanEnd });
      set.policy.report(span.guardrail, context.direction, "edit");
      released = Math.max(released, spanEnd);
    }
    if (isCertain) {
      this.#released = released;
      // A released part was allowed with all of its surroundings, so a block there is impossible.
      set.policy.refuse(block, context.direction);
    }
    if (
      !isLast &&
      released === limit &&
      isHighSurrogate(this.#text.charCodeAt(released - this.#start - 1))
    ) {
      released = Math.max(this.#released, released - 1);
    }
    this.#released = released;
    this.#trim();
  }

  /** Drops text that no later check needs: further back than the reach, but never inside a span. */
  #trim(): void {
    const { reach } = this.#options;
    let from = this.#released - reach;
    if (!(from > this.#start)) return;
    for (let index = this.#spans.length - 1; index >= 0; index--) {
      const span = this.#spans[index]!;
      if (span.end <= from) break;
      if (span.start < from) from = span.start;
    }
    // Not after each word: a cut copies the text.
    if (from - this.#start < Math.max(64, reach / 2)) return;
    this.#text = this.#text.slice(from - this.#start);
    this.#start = from;
    if (this.#taken > 1_000) {
      this.#spans = this.#spans.slice(this.#taken);
      this.#taken = 0;
    }
  }
}

const NO_SPANS: readonly SetSpan[] = Object.freeze([]);

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function tooLong(maxHeld: number): GatewayError {
  return new GatewayError(
    "upstream_invalid_response",
    `The reply is longer than the ${maxHeld} characters that guardrails can hold.`,
  );
}
