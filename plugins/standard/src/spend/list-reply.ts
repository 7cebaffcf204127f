/**
 * Long lists as replies, written in pieces, so that the event loop serves other requests between
 * them.
 */

import { setImmediate as yieldToLoop } from "node:timers/promises";
import { documentOf } from "@sluice/kit";
import type { JsonObject, WholeReply } from "@sluice/contract";

/** Characters of one piece: about a millisecond of work. */
const TURN_CHARACTERS = 128 * 1024;

/** A whole reply with status 200: the JSON array of every item's public shape. */
export async function listReply<T>(
  items: readonly T[],
  shape: (item: T) => JsonObject,
): Promise<WholeReply> {
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
  return { kind: "whole", status: 200, document: documentOf(`[${parts.join(",")}]`) };
}
