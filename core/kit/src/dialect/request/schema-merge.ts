/** Merges several schemas that apply together into one. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "../../json/narrow.ts";

/**
 * Merges the schemas of an `allOf`. `conflict` is called with a keyword whose values contradict
 * each other.
 */
export function mergeAll(
  schemas: readonly JsonObject[],
  conflict: (keyword: string) => never,
): JsonObject {
  return schemas.reduce((all, schema) => {
    const out = copyOf(all);
    for (const [keyword, value] of Object.entries(schema)) {
      if (value !== undefined) out[keyword] = merged(keyword, out[keyword], value, conflict);
    }
    return out;
  }, {});
}

function merged(
  keyword: string,
  first: JsonValue | undefined,
  second: JsonValue,
  conflict: (keyword: string) => never,
): JsonValue {
  if (first === undefined || same(first, second)) return second;
  switch (keyword) {
    case "properties":
    case "$defs":
    case "definitions":
      return byName(first, second, conflict);
    case "required":
      return [...new Set([...array(first), ...array(second)])];
    case "allOf":
      return [...array(first), ...array(second)];
    case "enum": {
      const both = array(first).filter((value) =>
        array(second).some((other) => same(value, other)),
      );
      return both.length > 0 ? both : conflict(keyword);
    }
    case "minimum":
    case "exclusiveMinimum":
    case "minLength":
    case "minItems":
    case "minProperties":
      return Math.max(Number(first), Number(second));
    case "maximum":
    case "exclusiveMaximum":
    case "maxLength":
    case "maxItems":
    case "maxProperties":
      return Math.min(Number(first), Number(second));
    case "description":
      return `${String(first)} ${String(second)}`;
    case "title":
    case "default":
    case "examples":
    case "$comment":
      return first;
    case "additionalProperties":
      return first === false || second === false ? false : isObject(first) ? first : second;
    default:
      return conflict(keyword);
  }
}

function byName(
  first: JsonValue,
  second: JsonValue,
  conflict: (keyword: string) => never,
): JsonObject {
  const out = copyOf(isObject(first) ? first : {});
  for (const [name, value] of Object.entries(isObject(second) ? second : {})) {
    const before = out[name];
    out[name] = isObject(before) && isObject(value) ? mergeAll([before, value], conflict) : value;
  }
  return out;
}

/** A copy without a prototype: a member may have any name, including `__proto__`. */
function copyOf(value: JsonObject): Record<string, JsonValue | undefined> {
  return Object.assign(Object.create(null) as Record<string, JsonValue | undefined>, value);
}

function array(value: JsonValue): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : [];
}

function same(first: JsonValue, second: JsonValue): boolean {
  return JSON.stringify(first) === JSON.stringify(second);
}
