/** The names in a stream: short texts that are checked immediately and never held. */

import type { Frame } from "@sluice/contract";
import { applySpans } from "@sluice/kit/internals";
import { isText, type StreamPiece } from "./dialect.ts";
import type { GuardedStreamOptions } from "./options.ts";

/** Checks names, each with the text of its channel before it. */
export class StreamNames {
  readonly #options: GuardedStreamOptions;
  readonly #before = new Map<string, string>();

  constructor(options: GuardedStreamOptions) {
    this.#options = options;
  }

  /** The frame, with the edits of the names among its pieces. Throws the error of a block. */
  async check(frame: Frame, pieces: readonly StreamPiece[]): Promise<Frame> {
    const names = pieces.filter((piece) => !isText(piece));
    const texts = await Promise.all(names.map((piece) => this.#checkName(piece)));
    const changed = names.filter((piece, index) => texts[index] !== piece.text);
    if (changed.length === 0) return frame;
    const edited = texts.filter((text, index) => text !== names[index]?.text);
    const { dialect, frameOf } = this.#options;
    return frameOf(dialect.write(frame.chunk(), changed, edited), frame);
  }

  async #checkName(piece: StreamPiece): Promise<string> {
    const { set, context } = this.#options;
    const { policy } = set;
    const { direction } = context;
    const before = piece.isWhole === true ? "" : (this.#before.get(piece.channel) ?? "");
    const text = before + piece.text;
    if (piece.isWhole !== true) this.#before.set(piece.channel, text);
    const about = {
      ...context,
      part: piece.part,
      place: piece.channel,
      isPartial: false,
      offset: 0,
    };
    const { spans, block } = await set.for(piece.part).check(text, about);
    if (block !== undefined) policy.refuse(block, direction);
    const [first] = spans;
    // The client already has the earlier text, so it can no longer be edited.
    const isEditable = before === "" && piece.isFixed !== true;
    if (first !== undefined && !isEditable)
      policy.refuse({ guardrail: first.guardrail, askAgain: false }, direction);
    for (const span of spans) policy.report(span.guardrail, direction, "edit");
    return applySpans(text, spans);
  }
}
