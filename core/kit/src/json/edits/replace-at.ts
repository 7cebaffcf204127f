/** Replaces one string in a JSON object's text, by its path. Every other character stays. */

import { findPath, type Member } from "../members.ts";
import type { ReadableText } from "../paged-text.ts";

/** The edit of a text. */
export interface TextEdit {
  readonly text: string;
  /** The member as it was, name and value, and as it is. */
  readonly from: string;
  readonly to: string;
}

/** A member with a string, by its offsets, and the path that leads to it. */
export interface StringPlace extends Pick<Member, "start" | "valueStart" | "end"> {
  readonly path: readonly string[];
}

/**
 * The string at a path of names that is to become `json`; `undefined` where the path leads to no
 * string, and where the string is there already. `members`: those of the outermost object, where
 * they are known. Assumes that `JSON.parse` accepts the text.
 */
export function stringAt(
  text: ReadableText | string,
  path: readonly string[],
  json: string,
  members?: readonly Member[],
): StringPlace | undefined {
  const last = path.at(-1);
  // Names of members have no escapes where a dialect is written by machines; others are not found.
  if (last === undefined) return undefined;
  if (typeof text === "string" && !mayDiffer(text, `"${last}"`, json)) return undefined;
  const place = memberAt(text, path, members);
  if (place === undefined) return undefined;
  const old = text.slice(place.valueStart, place.end);
  if (!old.startsWith('"') || old === json) return undefined;
  const { start, valueStart, end } = place;
  return { path, start, valueStart, end };
}

/** Whether a member of this name may have another value. Most upstreams repeat what was asked. */
function mayDiffer(text: string, name: string, json: string): boolean {
  const at = text.indexOf(name);
  if (at < 0) return false;
  const same = `${name}:${json}`;
  return text.slice(at, at + same.length) !== same || text.includes(name, at + 1);
}

/** The member at a path, by its offsets. */
function memberAt(
  text: ReadableText | string,
  path: readonly string[],
  members: readonly Member[] | undefined,
): Omit<StringPlace, "path"> | undefined {
  if (members === undefined) return findPath(text.slice(0, text.length), path);
  const outer = members.find(({ key }) => key === path[0]);
  if (outer === undefined || path.length === 1) return outer;
  const from = outer.valueStart;
  const inner = findPath(text.slice(from, outer.end), path.slice(1));
  if (inner === undefined) return undefined;
  const { start, valueStart, end } = inner;
  return { start: from + start, valueStart: from + valueStart, end: from + end };
}

/** The text with another string at a path; `undefined` where `stringAt` has none. */
export function replaceAt(
  text: string,
  path: readonly string[],
  value: string,
): TextEdit | undefined {
  const json = JSON.stringify(value);
  const place = stringAt(text, path, json);
  if (place === undefined) return undefined;
  const { start, valueStart, end } = place;
  return {
    text: text.slice(0, valueStart) + json + text.slice(end),
    from: text.slice(start, end),
    to: text.slice(start, valueStart) + json,
  };
}
