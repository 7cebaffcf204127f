/** Characters and places of a JSON text. */

/** Characters of a piece that is parsed in one call. */
export const PIECE_CHARACTERS = 65_536;

/** The characters of structure, as UTF-16 codes. */
export const QUOTE = 34;
export const COMMA = 44;
export const OPEN_BRACKET = 91;
export const CLOSE_BRACKET = 93;
export const OPEN_BRACE = 123;
export const CLOSE_BRACE = 125;

const BACKSLASH = 92;
const LETTER_U = 117;

/** The offset after the closing quote of a name that begins at `start`, at most `end`. */
export function keyEndOf(text: string, start: number, end: number): number {
  let at = start + 1;
  while (at < end && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return Math.min(at + 1, end);
}

/** Whether a character is white space in JSON. */
export function isSpace(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9;
}

/** The first offset from `from` that is not white space. */
export function skipSpace(text: string, from: number): number {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at++;
  return at;
}

/** The first offset of a character in `from` to `end`, or -1. No more of the text is searched. */
export function indexWithin(text: string, character: string, from: number, end: number): number {
  if (end >= text.length) return text.indexOf(character, from);
  const found = text.slice(from, end).indexOf(character);
  return found < 0 ? -1 : from + found;
}

/**
 * Within a string: its closing quote from `from`, or an offset between two characters near `until`.
 */
export function passString(text: string, from: number, until: number): number {
  const end = Math.min(until, text.length);
  let at = from;
  while (at < end) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    // An escape is skipped as a whole, so that no piece ends within it.
    if (code === BACKSLASH) at += text.charCodeAt(at + 1) === LETTER_U ? 6 : 2;
    else at += 1;
  }
  return at;
}

/** The error of a text that is not JSON. */
export function unexpected(at: number): SyntaxError {
  return new SyntaxError(`The text is not JSON at position ${at}.`);
}
