/**
 * Counts tokens of `o200k_base`, with gpt-tokenizer's tables and pattern and a merge that is not
 * quadratic.
 */

import { O200K_TOKEN_SPLIT_REGEX } from "#o200k-pattern";
import { createPieceCounter, MAX_PIECE_BYTES } from "./byte-pairs.ts";
import type { Vocabulary } from "./vocabulary.ts";
import { windowEnd } from "./windows.ts";

/**
 * The tokens of a text. Special tokens are text like any other; a lone surrogate counts as U+FFFD.
 */
export type TextCounter = (text: string) => number;

/** A counter over a vocabulary. */
export function createTextCounter(vocabulary: Vocabulary): TextCounter {
  const { ranks } = vocabulary;
  const countPiece = createPieceCounter(vocabulary);
  const scratch = Buffer.allocUnsafe(MAX_PIECE_BYTES * 4);

  /** The bytes of a piece as Latin-1 text. */
  const bytesOf = (piece: string): string => {
    const fits = piece.length * 3 <= scratch.length;
    const written = fits ? scratch.write(piece, 0, "utf8") : 0;
    if (!fits) return Buffer.from(piece, "utf8").toString("latin1");
    return written === piece.length ? piece : scratch.toString("latin1", 0, written);
  };

  return (text) => {
    let tokens = 0;
    // Runs of one character repeat themselves, and so do their parts: the last one is remembered.
    let part = "";
    let inPart = 0;
    /** A piece of more bytes than a part has: cut between characters. */
    const countLong = (bytes: string): void => {
      for (let start = 0; start < bytes.length;) {
        let end = Math.min(bytes.length, start + MAX_PIECE_BYTES);
        while (end < bytes.length && (bytes.charCodeAt(end) & 0xc0) === 0x80) end--;
        const own = bytes.slice(start, end);
        if (own !== part) {
          part = own;
          inPart = countPiece(own);
        }
        tokens += inPart;
        start = end;
      }
    };
    for (let start = 0; start < text.length;) {
      const end = windowEnd(text, start);
      const window = start === 0 && end === text.length ? text : text.slice(start, end);
      for (const [piece] of window.matchAll(O200K_TOKEN_SPLIT_REGEX)) {
        const bytes = bytesOf(piece);
        if (ranks.has(bytes)) tokens++;
        else if (bytes.length < MAX_PIECE_BYTES) tokens += countPiece(bytes);
        else countLong(bytes);
      }
      start = end;
    }
    return tokens;
  };
}
