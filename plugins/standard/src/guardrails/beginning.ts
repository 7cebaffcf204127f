/**
 * Reads the beginning of a body with the type of an event stream: it may be one JSON value, and
 * clients read it as that.
 */

import { closing } from "@sluice/runtime";

/** White space that a body may begin with. Beyond, it is read as the events that it says it is. */
const MAX_BLANK_BYTES = 65_536;
/** `{` and `[`. */
const OPENERS: ReadonlySet<number | undefined> = new Set([0x7b, 0x5b]);
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf] as const;
/** White space, and the no-break space of Latin-1. */
const BLANKS: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20, 0xa0]);

/**
 * Reads a body as far as its first byte that is no white space. Returns the whole of it again, and
 * whether it is JSON.
 */
export async function beginning(
  source: AsyncIterable<Uint8Array>,
): Promise<{ readonly body: AsyncIterable<Uint8Array>; readonly isJson: boolean }> {
  const iterator = source[Symbol.asyncIterator]();
  const head = new Head();
  while (head.first === undefined && head.length < MAX_BLANK_BYTES) {
    const next = await iterator.next();
    if (next.done === true) break;
    head.push(next.value);
  }
  return {
    body: closing(joined(head.bytes(), iterator), () => iterator.return?.()),
    isJson: OPENERS.has(head.first),
  };
}

/** The chunks up to the first byte that is no white space. Each byte is looked at once. */
class Head {
  length = 0;
  /** The first byte that is neither white space nor of a byte order mark at the begin. */
  first: number | undefined;
  readonly #chunks: Uint8Array[] = [];
  /** How many bytes of the byte order mark the body begins with. */
  #marks = 0;

  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    const from = this.length;
    this.#chunks.push(chunk);
    this.length += chunk.length;
    for (const [index, byte] of chunk.entries()) {
      this.first = this.#read(byte, from + index);
      if (this.first !== undefined) return;
    }
  }

  /** The byte where it is the first that counts. A part of the mark alone is no mark. */
  #read(byte: number, place: number): number | undefined {
    if (place === this.#marks && byte === BYTE_ORDER_MARK[place]) {
      this.#marks += 1;
      return undefined;
    }
    const isCut = this.#marks > 0 && this.#marks < BYTE_ORDER_MARK.length;
    if (isCut) return BYTE_ORDER_MARK[0];
    return BLANKS.has(byte) ? undefined : byte;
  }

  bytes(): Uint8Array {
    return Buffer.concat(this.#chunks);
  }
}

async function* joined(
  head: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    if (head.length > 0) yield head;
    for (let next = await rest.next(); next.done !== true; next = await rest.next())
      yield next.value;
  } finally {
    await rest.return?.();
  }
}
