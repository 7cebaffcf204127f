/** Replaces one string in a JSON object's text, by its path. Every other character stays. */

import { findMember } from "./members.ts";

/** The edit of a text. */
export interface TextEdit {
  readonly text: string;
  /** The member as it was, name and value, and as it is. */
  readonly from: string;
  readonly to: string;
}

/**
 * The text with another string at a path of names; `undefined` where the path leads to no string,
 * and where the string is there already. Assumes that `JSON.parse` accepts the text.
 */
export function replaceAt(
  text: string,
  path: readonly string[],
  value: string,
): TextEdit | undefined {
  const last = path.at(-1);
  // Names of members have no escapes where a dialect is written by machines; others are not found.
  if (last === undefined || !text.includes(`"${last}"`)) return undefined;
  let from = 0;
  let inner = text;
  for (const [depth, name] of path.entries()) {
    const member = findMember(inner, name);
    if (member === undefined) return undefined;
    const { start, valueStart, end } = member;
    if (depth < path.length - 1) {
      inner = inner.slice(valueStart, end);
      from += valueStart;
      continue;
    }
    const json = JSON.stringify(value);
    const old = inner.slice(valueStart, end);
    if (!old.startsWith('"') || old === json) return undefined;
    const before = inner.slice(start, valueStart);
    return {
      text: text.slice(0, from + valueStart) + json + text.slice(from + end),
      from: before + old,
      to: before + json,
    };
  }
  return undefined;
}
