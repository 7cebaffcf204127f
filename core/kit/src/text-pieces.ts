/** Long texts in pieces: for work that is done, or written, one piece at a time. */

/** A text in pieces of about `characters`. The two halves of a character stay together. */
export function* textPieces(text: string, characters: number): Generator<string, void, undefined> {
  for (let from = 0; from < text.length;) {
    let to = Math.min(text.length, from + characters);
    if (to < text.length && isHighSurrogate(text.charCodeAt(to - 1))) to -= 1;
    yield text.slice(from, to);
    from = to;
  }
}

/** A character outside the basic plane is two units, of which this is the first. */
export function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}
