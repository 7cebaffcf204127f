/**
 * Counts the values of a parsed object by the separators that its text has. A text with more values
 * has a member twice in one object: parsers differ in which one they return.
 */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { readMembers } from "./members.ts";

/** Whether the text of an object has more members than `value`, which was parsed from it. */
export function hasRepeatedMembers(text: string, value: JsonObject): boolean {
  return readMembers(text).nodes > nodesOf(value);
}

/**
 * One for each member of the object, and below it one for each list or object and for each further
 * item: what `readMembers` and `parseInSlices` count in a text without repeated members. The depth
 * of the value is bounded by the caller.
 */
export function nodesOf(value: JsonObject): number {
  const keys = Object.keys(value);
  let count = keys.length;
  for (const key of keys) {
    const member = value[key];
    if (typeof member === "object" && member !== null) count += nodesBelow(member);
  }
  return count;
}

/** The further items of a list or object, and what its own lists and objects have. */
function nodesBelow(value: JsonObject | readonly JsonValue[]): number {
  if (Array.isArray(value)) {
    const items = value as readonly JsonValue[];
    let count = Math.max(0, items.length - 1);
    for (const item of items)
      if (typeof item === "object" && item !== null) count += 1 + nodesBelow(item);
    return count;
  }
  const object = value as JsonObject;
  const keys = Object.keys(object);
  let count = Math.max(0, keys.length - 1);
  for (const key of keys) {
    const member = object[key];
    if (typeof member === "object" && member !== null) count += 1 + nodesBelow(member);
  }
  return count;
}
