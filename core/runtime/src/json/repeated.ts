/** Duplicate members of an object: parsers differ in which one they return. */

import type { JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";

const COLON = 0x3a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Whether a JSON text has more members than `value`, which was parsed from it. */
export function hasRepeatedMembers(text: string, value: JsonValue): boolean {
  return colonsOf(text) > membersOf(value);
}

/** Colons outside strings: one for each member. */
function colonsOf(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === COLON) count++;
    else if (code === QUOTE) at = endOfString(text, at);
  }
  return count;
}

function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}

function membersOf(value: JsonValue): number {
  let count = 0;
  if (Array.isArray(value))
    for (const item of value as readonly JsonValue[]) count += membersOf(item);
  else if (isObject(value)) {
    for (const member of Object.values(value))
      count += 1 + (member === undefined ? 0 : membersOf(member));
  }
  return count;
}
