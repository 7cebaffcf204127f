/**
 * Cuts texts into windows, so that neither the splitting pattern nor its stack ever sees more than
 * one of them.
 */

/**
 * Characters of a window. A cut costs a token at most, so even a text without word breaks is wrong
 * by less than 0.1 %.
 */
const WINDOW = 8_192;
/** A window is cut at a word break in its last part, when there is one. */
const SEARCHED = 1_024;

/**
 * The end of the window of `text` that begins at `start`: before a space between words, else never
 * inside a surrogate pair.
 */
export function windowEnd(text: string, start: number, size = WINDOW): number {
  const limit = start + size;
  if (limit >= text.length) return text.length;
  const least = Math.max(start + 1, limit - Math.min(SEARCHED, size >> 1));
  for (let at = limit; at >= least; at--) {
    // A word takes the space before it along; between two letters and a space nothing else can be
    // joined.
    if (
      text.charCodeAt(at) === SPACE &&
      isWordEnd(text.charCodeAt(at - 1)) &&
      isWordEnd(text.charCodeAt(at + 1))
    )
      return at;
  }
  const isInPair =
    isHighSurrogate(text.charCodeAt(limit - 1)) && isLowSurrogate(text.charCodeAt(limit));
  return isInPair && limit - 1 > start ? limit - 1 : limit;
}

const SPACE = 0x20;

function isWordEnd(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0xc0 && code < 0xd800)
  );
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code < 0xe000;
}
