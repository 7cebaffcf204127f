/** Members of JSON objects: present ones, and texts that are not empty. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "../json/narrow.ts";
import { parseExact } from "../json/numbers/exact.ts";
import { excessOfArguments } from "../json/bounds/call-arguments.ts";
import { parseJson, putMember } from "../json/parse.ts";

type Present<Members> = { [Name in keyof Members]?: Exclude<Members[Name], undefined> };

/** An object without the members that are `undefined`. */
export function present<Members extends object>(members: Members): Present<Members> {
  const found: Record<string, unknown> = {};
  for (const name of Object.keys(members)) {
    const value = members[name as keyof Members];
    if (value !== undefined) putMember(found, name, value);
  }
  return found as Present<Members>;
}

/** A text that is not empty; `undefined` for every other value. */
export function textIn(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The object that a JSON text holds; `undefined` for any other text. */
export function parseObject(text: string): JsonObject | undefined {
  return objectBy(parseJson, text);
}

/**
 * The same for the arguments of a call, to be written again. `JSON.stringify` writes each number
 * with the value that the text has. A number that no double holds is an object of `JSON.rawJSON`.
 * `undefined` as well for a text that holds too much for one turn of the event loop.
 */
export function parseExactObject(text: string): JsonObject | undefined {
  if (excessOfArguments(text) !== undefined) return undefined;
  return objectBy(parseExact, text);
}

function objectBy(parse: (text: string) => unknown, text: string): JsonObject | undefined {
  if (!text.trimStart().startsWith("{")) return undefined;
  try {
    const value: unknown = parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
