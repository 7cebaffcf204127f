/**
 * Reads the beginning of a body with the type of an event stream: it may be one JSON value, and
 * clients read it as that.
 */

import { closing } from "@sluice/runtime";

/** White space that a body may begin with. Beyond, it is read as the events that it says it is. */
const MAX_BLANK_BYTES = 65_536;
const OPENERS: ReadonlySet<string> = new Set(["{", "["]);
const BYTE_ORDER_MARK = /^\u00ef\u00bb\u00bf/;

/**
 * Reads a body as far as its first byte that is no white space. Returns the whole of it again, and
 * whether it is JSON.
 */
export async function beginning(
  source: AsyncIterable<Uint8Array>,
): Promise<{ readonly body: AsyncIterable<Uint8Array>; readonly isJson: boolean }> {
  const iterator = source[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  let first = "";
  while (first === "" && head.length < MAX_BLANK_BYTES) {
    const next = await iterator.next();
    if (next.done === true) break;
    head = Buffer.concat([head, next.value]);
    first = head.toString("latin1").replace(BYTE_ORDER_MARK, "").trimStart().slice(0, 1);
  }
  return {
    body: closing(joined(head, iterator), () => iterator.return?.()),
    isJson: OPENERS.has(first),
  };
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
