/** Members of JSON objects: present ones, and texts that are not empty. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "../json/narrow.ts";
import { parseJson } from "../json/parse.ts";

/** An object without the members that are `undefined`. Their names are the dialect's. */
export function present(members: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const found: Record<string, JsonValue> = {};
  for (const name of Object.keys(members)) {
    const value = members[name];
    if (value !== undefined) found[name] = value;
  }
  return found;
}

/** A text that is not empty; `undefined` for every other value. */
export function textIn(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The object that a JSON text holds; `undefined` for any other text. */
export function parseObject(text: string): JsonObject | undefined {
  if (!text.trimStart().startsWith("{")) return undefined;
  try {
    const value: unknown = parseJson(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
