/** A window over a text that comes in pieces: what can no longer change is released, edited where it must be. */

import { GatewayError, type TextContext } from "@sluice/spec";
import { type Panel, type PanelSpan, type PanelVerdict } from "./panel.ts";

/** What a window needs. */
export interface WindowOptions {
  readonly panel: Panel;
  /** Characters that a match may cover with what it depends on; `Infinity` holds everything to the end. */
  readonly reach: number;
  /** Characters that may wait at most. */
  readonly maxHeld: number;
  /** Of the texts; `isPartial` and `offset` are the window's to say. */
  readonly context: TextContext;
}

/**
 * One text as it comes. Places are counted in characters of the whole text. `released` is how far it is decided; `spans` are the
 * edits up to there.
 */
export class TextWindow {
  readonly #options: WindowOptions;
  /** The text from `#start` on: what may still be needed as context, and what is not released. */
  #text = "";
  #start = 0;
  #released = 0;
  #spans: PanelSpan[] = [];
  #taken = 0;
  #judgedTo = 0;
  /** What the guardrails were last told of the text. */
  #about: TextContext | undefined;

  constructor(options: WindowOptions) {
    this.#options = options;
  }

  /** How far the text is decided. */
  get released(): number {
    return this.#released;
  }

  /** How much of it has come. */
  get length(): number {
    return this.#start + this.#text.length;
  }

  /** The edits that have been decided since they were last taken, in order. */
  takeSpans(): readonly PanelSpan[] {
    if (this.#taken === this.#spans.length) return NO_SPANS;
    const spans = this.#spans.slice(this.#taken);
    this.#taken = this.#spans.length;
    return spans;
  }

  /** Whether text has come that could be decided and was left to `judge`. */
  isWaiting = false;
  /**
   * Characters that may come after a judgement before the next one: until then the text waits for `judge`. Where the text is
   * judged never changes what is found. 0: every piece is judged.
   */
  batch = 0;

  /**
   * Takes more of the text and decides what it can, or leaves it to `judge`. Throws `guardrail_violation` as soon as an offence is
   * certain; what stands before it is decided by then.
   */
  push(text: string): void | Promise<void> {
    this.#text += text;
    const { reach, maxHeld } = this.#options;
    if (this.length - this.#released > maxHeld + (Number.isFinite(reach) ? reach : 0)) throw tooLong(maxHeld);
    if (this.length - reach <= this.#released) return undefined;
    this.isWaiting = this.length - this.#judgedTo < this.batch;
    return this.isWaiting ? undefined : this.#judge(false);
  }

  /** Decides what waits. */
  judge(): void | Promise<void> {
    return this.isWaiting ? this.#judge(false) : undefined;
  }

  /** Nothing more comes: everything is decided. */
  end(): void | Promise<void> {
    return this.length > this.#released ? this.#judge(true) : undefined;
  }

  #judge(isLast: boolean): void | Promise<void> {
    const { panel, context } = this.#options;
    const text = this.#text;
    this.isWaiting = false;
    this.#judgedTo = this.length;
    let about = this.#about;
    if (about === undefined || isLast || about.offset !== this.#start) {
      about = Object.freeze({ ...context, isPartial: !isLast, offset: this.#start });
      this.#about = about;
    }
    const verdict = panel.check(text, about);
    if (verdict instanceof Promise) return verdict.then((settled) => this.#decide(settled, isLast));
    return this.#decide(verdict, isLast);
  }

  #decide({ spans, block }: PanelVerdict, isLast: boolean): void {
    const { panel, reach, context } = this.#options;
    const end = this.length;
    const limit = isLast ? end : end - reach;
    const at = block?.start === undefined ? undefined : this.#start + block.start;
    // Without a place, and once the offence has all its surroundings, more text changes nothing.
    const isCertain = block !== undefined && (at === undefined || isLast || at < limit);
    // What stands before a certain offence is decided too, however much came at once.
    const until = isCertain ? Math.min(limit, Number.isFinite(reach) ? (at ?? 0) : 0) : limit;
    let released = Math.max(this.#released, until);
    for (const span of spans) {
      const start = this.#start + span.start;
      const spanEnd = this.#start + span.end;
      if (start >= until || spanEnd <= this.#released || (isCertain && spanEnd > until)) continue;
      // What is released already stays; the rest of such a span is edited.
      this.#spans.push({ ...span, start: Math.max(start, this.#released), end: spanEnd });
      panel.report(span.guardrail, context.direction, "edit");
      released = Math.max(released, spanEnd);
    }
    if (isCertain) {
      this.#released = released;
      // A stretch that is released was allowed with all that it depends on; an offence there cannot be.
      panel.refuse(block, context.direction);
    }
    if (!isLast && released === limit && isHighSurrogate(this.#text.charCodeAt(released - this.#start - 1))) {
      released = Math.max(this.#released, released - 1);
    }
    this.#released = released;
    this.#trim();
  }

  /** Lets go of what no later judgement needs: everything further back than the reach, but never the inside of a span. */
  #trim(): void {
    const { reach } = this.#options;
    let from = this.#released - reach;
    if (!(from > this.#start)) return;
    for (let index = this.#spans.length - 1; index >= 0; index--) {
      const span = this.#spans[index]!;
      if (span.end <= from) break;
      if (span.start < from) from = span.start;
    }
    // Rarely, so that the text is not cut at every word.
    if (from - this.#start < Math.max(64, reach / 2)) return;
    this.#text = this.#text.slice(from - this.#start);
    this.#start = from;
    if (this.#taken > 1_000) {
      this.#spans = this.#spans.slice(this.#taken);
      this.#taken = 0;
    }
  }
}

const NO_SPANS: readonly PanelSpan[] = Object.freeze([]);

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function tooLong(maxHeld: number): GatewayError {
  return new GatewayError(
    "upstream_invalid_response",
    `The reply is longer than the ${maxHeld} characters that the guardrails may hold back.`,
  );
}
