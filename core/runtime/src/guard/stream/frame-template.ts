/**
 * The common form of a stream's frames: everything except a piece of text. A frame that begins and
 * ends like a parsed one, with an ordinary text between, has that text in the same place. It need
 * not be parsed.
 */

import type { JsonObject } from "@sluice/contract";
import { parseJson } from "@sluice/kit";
import type { StreamDialect, StreamPiece } from "./dialect.ts";

/** A replacement for the text, to verify its place. */
const PROBE = "?probe?";

/** The last form of a stream's frames that held one text and nothing else to check. */
export class FrameTemplate {
  readonly #dialect: StreamDialect;
  #prefix: string | undefined;
  #suffix = "";
  #piece: StreamPiece | undefined;
  /** The number of learnt forms: with too many different frames, the template is not used. */
  #learnt = 0;

  constructor(dialect: StreamDialect) {
    this.#dialect = dialect;
  }

  /** The piece of a frame's text; `undefined` when the frame must be parsed. */
  read(raw: string): StreamPiece | undefined {
    const prefix = this.#prefix;
    if (
      prefix === undefined ||
      this.#piece === undefined ||
      !raw.startsWith(prefix) ||
      !raw.endsWith(this.#suffix)
    )
      return undefined;
    const end = raw.length - this.#suffix.length;
    if (end <= prefix.length) return undefined;
    const text = raw.slice(prefix.length, end);
    // A quote would end the text, and an escape would change its meaning.
    if (text.includes('"') || text.includes("\\")) return undefined;
    return { ...this.#piece, text };
  }

  /** Learns from a parsed frame with this single piece. */
  learn(raw: string, piece: StreamPiece): void {
    if (this.#learnt >= MAX_LEARNT) return;
    this.#learnt++;
    const json = JSON.stringify(piece.text);
    const at = raw.lastIndexOf(json);
    if (at < 0) return;
    const prefix = raw.slice(0, at + 1);
    const suffix = raw.slice(at + json.length - 1);
    try {
      const { pieces, ends } = this.#dialect.read(parseJson(prefix + PROBE + suffix) as JsonObject);
      const [found] = pieces;
      if (
        pieces.length !== 1 ||
        ends !== undefined ||
        found?.text !== PROBE ||
        found.channel !== piece.channel
      )
        return;
    } catch {
      return;
    }
    this.#prefix = prefix;
    this.#suffix = suffix;
    this.#piece = piece;
  }
}

const MAX_LEARNT = 16;
