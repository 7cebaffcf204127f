/** Places in a text as other languages count them. */

/** The unit of offsets: UTF-16 units, as here, or code points, as in Python. */
export type Unit = "utf16" | "codepoints";

/** How long a text is. */
export function lengthIn(text: string, unit: Unit): number {
  if (unit === "utf16") return text.length;
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    if (isPair(text, at)) at++;
    count++;
  }
  return count;
}

/**
 * Turns ascending or descending places that a service gave into places of UTF-16. `undefined` for
 * what is no place of the text.
 */
export function placesOf(text: string, unit: Unit): (place: unknown) => number | undefined {
  if (unit === "utf16") return (place) => (isPlace(place, text.length) ? place : undefined);
  const starts: number[] = [];
  for (let at = 0; at < text.length; at++) {
    starts.push(at);
    if (isPair(text, at)) at++;
  }
  starts.push(text.length);
  return (place) => (isPlace(place, starts.length - 1) ? starts[place] : undefined);
}

/** The one stretch in which two texts differ, never half a pair of surrogates. */
export function difference(
  from: string,
  to: string,
): { readonly start: number; readonly end: number; readonly replacement: string } {
  const most = Math.min(from.length, to.length);
  let start = 0;
  while (start < most && from[start] === to[start]) start++;
  if (start > 0 && isHigh(from, start - 1)) start--;
  let same = 0;
  while (same < most - start && from[from.length - 1 - same] === to[to.length - 1 - same]) same++;
  if (same > 0 && isLow(from, from.length - same)) same--;
  // Something was only put in: a span has at least one character.
  if (start === from.length - same) {
    if (start > 0) start -= isLow(from, start - 1) ? 2 : 1;
    else same -= isHigh(from, 0) ? 2 : 1;
  }
  return { start, end: from.length - same, replacement: to.slice(start, to.length - same) };
}

function isPlace(place: unknown, most: number): place is number {
  return Number.isSafeInteger(place) && (place as number) >= 0 && (place as number) <= most;
}

function isPair(text: string, at: number): boolean {
  return isHigh(text, at) && isLow(text, at + 1);
}

function isHigh(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xd800 && code <= 0xdbff;
}

function isLow(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff;
}
