/** Merges several schemas that apply together into one. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "../../json/narrow.ts";

/**
 * Merges the schemas of an `allOf`, in time linear in their size. `conflict` is called with a
 * keyword whose values contradict each other.
 */
export function mergeAll(
  schemas: readonly JsonObject[],
  conflict: (keyword: string) => never,
): JsonObject {
  const out = empty();
  for (const [keyword, values] of valuesByName(schemas))
    out[keyword] = merged(keyword, values, conflict);
  return out;
}

/** The values of each member, in their order. */
function valuesByName(objects: readonly JsonObject[]): ReadonlyMap<string, JsonValue[]> {
  const all = new Map<string, JsonValue[]>();
  for (const object of objects) {
    for (const [name, value] of Object.entries(object)) {
      if (value === undefined) continue;
      const values = all.get(name);
      if (values === undefined) all.set(name, [value]);
      else values.push(value);
    }
  }
  return all;
}

function merged(
  keyword: string,
  all: readonly JsonValue[],
  conflict: (keyword: string) => never,
): JsonValue {
  const values = distinct(all);
  const [first = null] = values;
  if (values.length === 1) return first;
  switch (keyword) {
    case "properties":
    case "$defs":
    case "definitions":
      return byName(values, conflict);
    case "required":
      return [...new Set(values.flatMap(array))];
    case "allOf":
      return values.flatMap(array);
    case "enum":
      return inAll(values, conflict);
    case "minimum":
    case "exclusiveMinimum":
    case "minLength":
    case "minItems":
    case "minProperties":
      return values.map(Number).reduce((a, b) => Math.max(a, b));
    case "maximum":
    case "exclusiveMaximum":
    case "maxLength":
    case "maxItems":
    case "maxProperties":
      return values.map(Number).reduce((a, b) => Math.min(a, b));
    case "description":
      return values.map(String).join(" ");
    case "title":
    case "default":
    case "examples":
    case "$comment":
      return first;
    case "additionalProperties":
      return values.includes(false) ? false : (values.find(isObject) ?? first);
    default:
      return conflict(keyword);
  }
}

/** The members of all objects; members of one name are merged. */
function byName(values: readonly JsonValue[], conflict: (keyword: string) => never): JsonObject {
  const out = empty();
  for (const [name, each] of valuesByName(values.filter(isObject))) {
    const schemas = each.filter(isObject);
    out[name] = schemas.length === each.length ? mergeAll(schemas, conflict) : each.at(-1);
  }
  return out;
}

/** The values that each list has. */
function inAll(lists: readonly JsonValue[], conflict: (keyword: string) => never): JsonValue {
  const [first = null, ...others] = lists;
  const sets = others.map((list) => new Set(array(list).map((value) => JSON.stringify(value))));
  const common = array(first).filter((value) => {
    const text = JSON.stringify(value);
    return sets.every((set) => set.has(text));
  });
  return common.length > 0 ? common : conflict("enum");
}

/** Each value once, by its text. */
function distinct(values: readonly JsonValue[]): readonly JsonValue[] {
  if (values.length === 1) return values;
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}

/** An object without a prototype: a member may have any name, including `__proto__`. */
function empty(): Record<string, JsonValue | undefined> {
  return Object.create(null) as Record<string, JsonValue | undefined>;
}

function array(value: JsonValue): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : [];
}
