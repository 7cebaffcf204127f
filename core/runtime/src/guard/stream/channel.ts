/**
 * A channel of a stream: one text in pieces, and the frames that wait until their piece is decided.
 */

import type { Frame } from "@sluice/contract";
import { EscapeReader, exactChunk } from "@sluice/kit/internals";
import type { SetSpan } from "../joint-verdict.ts";
import type { StreamPiece } from "./dialect.ts";
import type { GuardedStreamOptions } from "./options.ts";
import { TextWindow } from "./window.ts";

/** A piece of text, and the frame that is written when it is decided. */
interface Held {
  readonly frame: Frame;
  readonly piece: StreamPiece;
  /** Offsets in the channel's text. */
  readonly from: number;
  readonly to: number;
  /** The checked text. */
  readonly text: string;
}

/** Checks the text of one channel in a window of its own. */
export class Channel {
  readonly #options: GuardedStreamOptions;
  readonly #window: TextWindow;
  readonly #escapes: EscapeReader | undefined;
  #queue: Held[] = [];
  /** The edits of the decided text. Those before `#next` are written. */
  #spans: SetSpan[] = [];
  #next = 0;

  /** `piece`: the first one of the channel. */
  constructor({ part, channel, isJson }: StreamPiece, options: GuardedStreamOptions) {
    const { set, mode, maxHeld, context } = options;
    const own = set.for(part);
    this.#options = options;
    this.#window = new TextWindow({
      set: own,
      reach: mode === "hold" ? Infinity : own.reach,
      maxHeld,
      context: { ...context, part, place: channel, isPartial: true, offset: 0 },
    });
    this.#escapes = isJson === true ? new EscapeReader() : undefined;
  }

  /** Whether decidable text waits for `decide`. */
  get isWaiting(): boolean {
    return this.#window.isWaiting;
  }

  /**
   * Adds a piece. Decides the possible part, or leaves it to `decide`. Throws the error of a block.
   */
  push(frame: Frame, piece: StreamPiece): void | Promise<void> {
    const text = this.#escapes === undefined ? piece.text : this.#escapes.push(piece.text);
    const from = this.#window.length;
    this.#queue.push({ frame, piece, from, to: from + text.length, text });
    return this.#window.push(text);
  }

  /** Decides the waiting text. Throws the error of a block. */
  decide(): void | Promise<void> {
    return this.#window.decide();
  }

  /** Ends the text: everything is decided. Throws the error of a block. */
  end(): void | Promise<void> {
    return this.#window.end();
  }

  /** Adds the frames with decided texts to `ready`. Returns their number. */
  release(ready: Frame[]): number {
    const queue = this.#queue;
    this.#takeSpans();
    let count = 0;
    for (const held of queue) {
      if (held.to > this.#window.released) break;
      ready.push(this.#written(held));
      count++;
    }
    if (count === 0) return 0;
    // The first words are checked immediately; later ones may wait.
    this.#window.batch = this.#options.batch ?? 0;
    if (count === queue.length) this.#queue = [];
    else queue.splice(0, count);
    return count;
  }

  #takeSpans(): void {
    // Dropped where they are most of the list: a span is moved once for one that is dropped.
    if (this.#next > 0 && this.#next * 2 >= this.#spans.length) {
      this.#spans = this.#spans.slice(this.#next);
      this.#next = 0;
    }
    for (const span of this.#window.takeSpans()) this.#spans.push(span);
  }

  /** The frame, with the edits of its piece. */
  #written({ frame, piece, from, to, text }: Held): Frame {
    const spans = this.#spans;
    if (this.#next === spans.length && text === piece.text) return frame;
    let edited = "";
    let at = from;
    for (; this.#next < spans.length; this.#next++) {
      const span = spans[this.#next]!;
      if (span.start >= to) break;
      if (span.start >= from) edited += text.slice(at - from, span.start - from) + span.replacement;
      at = Math.min(span.end, to);
      if (span.end > to) break;
    }
    edited += text.slice(at - from);
    if (edited === piece.text) return frame;
    const { dialect, frameOf } = this.#options;
    return frameOf(dialect.write(exactChunk(frame), [piece], [edited]), frame);
  }
}
