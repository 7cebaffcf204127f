/** The names in a stream: short texts that are checked immediately and never held. */

import { type Frame, GatewayError } from "@sluice/contract";
import { applySpans, exactChunk, nextTurn } from "@sluice/kit/internals";
import type { SetSpan, SetVerdict } from "../joint-verdict.ts";
import { isText, type StreamPiece } from "./dialect.ts";
import type { GuardedStreamOptions } from "./options.ts";

/** Names of one event that are checked in one turn. */
const AT_ONCE = 256;
/** Maximum characters of a name that comes in pieces. */
const MAX_PIECED_CHARACTERS = 1_024;

/** The text of a channel so far, as the upstream sent it, and the places of its edits. */
interface NameSoFar {
  text: string;
  readonly edited: Set<string>;
}

/** A piece of a name, and the verdict on the name up to its end. */
interface CheckedName {
  readonly piece: StreamPiece;
  readonly verdict: SetVerdict;
  /** The length of the name before the piece. */
  readonly from: number;
  readonly edited: Set<string>;
}

/** Checks names, each with the text of its channel before it. */
export class StreamNames {
  readonly #options: GuardedStreamOptions;
  readonly #names = new Map<string, NameSoFar>();

  constructor(options: GuardedStreamOptions) {
    this.#options = options;
  }

  /** The frame, with the edits of the names among its pieces. Throws the error of a block. */
  async check(frame: Frame, pieces: readonly StreamPiece[]): Promise<Frame> {
    const names = pieces.filter((piece) => !isText(piece));
    const checked: CheckedName[] = [];
    for (let from = 0; from < names.length; from += AT_ONCE) {
      // oxlint-disable-next-line no-await-in-loop -- a bounded amount of work for each turn.
      if (from > 0) await nextTurn();
      const some = names.slice(from, from + AT_ONCE).map((piece) => this.#checkName(piece));
      // oxlint-disable-next-line no-await-in-loop -- as above.
      checked.push(...(await Promise.all(some)));
    }
    // A later piece of a name depends on the edits of an earlier one.
    const texts = checked.map((name) => this.#edited(name));
    const changed = names.filter((piece, index) => texts[index] !== piece.text);
    if (changed.length === 0) return frame;
    const edited = texts.filter((text, index) => text !== names[index]?.text);
    const { dialect, frameOf } = this.#options;
    return frameOf(dialect.write(exactChunk(frame), changed, edited), frame);
  }

  async #checkName(piece: StreamPiece): Promise<CheckedName> {
    const { set, context } = this.#options;
    const name = this.#nameOf(piece);
    const from = name.text.length;
    name.text += piece.text;
    // Each piece is checked with all pieces before it.
    if (from > 0 && name.text.length > MAX_PIECED_CHARACTERS) throw tooLong();
    const about = {
      ...context,
      part: piece.part,
      place: piece.channel,
      isPartial: false,
      offset: 0,
    };
    const verdict = await set.for(piece.part).check(name.text, about);
    return { piece, verdict, from, edited: name.edited };
  }

  #nameOf({ isWhole, channel }: StreamPiece): NameSoFar {
    const known = isWhole === true ? undefined : this.#names.get(channel);
    if (known !== undefined) return known;
    const name: NameSoFar = { text: "", edited: new Set() };
    if (isWhole !== true) this.#names.set(channel, name);
    return name;
  }

  /** The piece with its edits. The client already has the pieces before it. */
  #edited({ piece, verdict: { spans, block }, from, edited }: CheckedName): string {
    const { set, context } = this.#options;
    const { policy } = set;
    const { direction } = context;
    if (block !== undefined) policy.refuse(block, direction);
    const added: SetSpan[] = [];
    for (const span of spans) {
      const place = `${span.start}-${span.end}`;
      // The name as the upstream sent it still holds what was edited in an earlier piece.
      if (edited.has(place)) continue;
      if (span.start < from || piece.isFixed === true)
        policy.refuse({ guardrail: span.guardrail, askAgain: false }, direction);
      policy.report(span.guardrail, direction, "edit");
      edited.add(place);
      added.push({ ...span, start: span.start - from, end: span.end - from });
    }
    return applySpans(piece.text, added);
  }
}

function tooLong(): GatewayError {
  return new GatewayError(
    "upstream_invalid_response",
    `The upstream's stream has a name of more than ${MAX_PIECED_CHARACTERS} characters in pieces.`,
  );
}
