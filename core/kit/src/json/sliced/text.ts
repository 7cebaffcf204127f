/** Characters and places of a JSON text. */

import { PAGE_CHARACTERS, type PagedText, pageStart } from "../paged-text.ts";
import { isSpace, QUOTE } from "../scan.ts";

/** Characters of a piece that is parsed in one call. */
export const PIECE_CHARACTERS = 65_536;

/** The characters of structure, as UTF-16 codes. */
export const COMMA = 44;
export const OPEN_BRACKET = 91;
export const CLOSE_BRACKET = 93;
export const OPEN_BRACE = 123;
export const CLOSE_BRACE = 125;

const BACKSLASH = 92;
const LETTER_U = 117;

/** The offset after the closing quote of a name that begins at `start`, at most `end`. */
export function keyEndOf(text: PagedText, start: number, end: number): number {
  return Math.min(passString(text, start + 1, end) + 1, end);
}

/** The first offset from `from` that is not white space. */
export function skipSpace(text: PagedText, from: number): number {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at++;
  return at;
}

/**
 * Within a string: its closing quote from `from`, or an offset between two characters near `until`.
 */
export function passString(text: PagedText, from: number, until: number): number {
  const end = Math.min(until, text.length);
  let at = from;
  while (at < end) {
    const page = text.pageOf(at);
    const start = pageStart(at);
    const stop = Math.min(end, start + PAGE_CHARACTERS);
    while (at < stop) {
      const code = page.charCodeAt(at - start);
      if (code === QUOTE) return at;
      // An escape is skipped as a whole, so that no piece ends within it.
      if (code === BACKSLASH) at += text.charCodeAt(at + 1) === LETTER_U ? 6 : 2;
      else at += 1;
    }
  }
  return at;
}

/** The error of a text that is not JSON. */
export function unexpected(at: number): SyntaxError {
  return new SyntaxError(`The text is not JSON at position ${at}.`);
}
