/** Encodes texts to bytes: a long text in pieces, one in each turn of the event loop. */

import { nextTurn } from "@sluice/kit/internals";

/** Characters of a piece. A megabyte takes some milliseconds. */
const PIECE_CHARACTERS = 1_048_576;

/** The UTF-8 bytes of a long text. A short text is returned unchanged. */
export function encodeInTurns(text: string): string | Promise<Uint8Array> {
  return text.length <= PIECE_CHARACTERS ? text : encode(text);
}

async function encode(text: string): Promise<Uint8Array> {
  await nextTurn();
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  let written = 0;
  for (let from = 0; from < text.length;) {
    let to = Math.min(text.length, from + PIECE_CHARACTERS);
    // A character outside the basic plane is two units, which must stay together.
    if (to < text.length && isHighSurrogate(text.charCodeAt(to - 1))) to -= 1;
    written += bytes.write(text.slice(from, to), written, "utf8");
    from = to;
    await nextTurn();
  }
  return bytes;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}
