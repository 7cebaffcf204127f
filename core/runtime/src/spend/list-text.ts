/** Long lists as text, written in pieces: the event loop serves other requests between them. */

import { setImmediate as yieldToLoop } from "node:timers/promises";
import type { JsonObject } from "@sluice/contract";

/** Characters of one piece: about a millisecond of work. */
const TURN_CHARACTERS = 128 * 1024;

/** The JSON array of every item's public shape. */
export async function listText<T>(
  items: readonly T[],
  shape: (item: T) => JsonObject,
): Promise<string> {
  const parts: string[] = [];
  let characters = 0;
  for (const item of items) {
    const text = JSON.stringify(shape(item));
    parts.push(text);
    characters += text.length;
    if (characters < TURN_CHARACTERS) continue;
    characters = 0;
    await yieldToLoop();
  }
  return `[${parts.join(",")}]`;
}
