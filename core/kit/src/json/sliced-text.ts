/** Places in a JSON text. */

const QUOTE = 34;
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

/** Within a string: its closing quote from `from`, or an offset between two characters near `until`. */
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
