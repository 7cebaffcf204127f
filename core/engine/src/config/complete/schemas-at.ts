/** The schemas that hold at a place of a document. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import type { Path } from "../files/document.ts";
import { valueAtPath } from "../files/path.ts";

/** The schemas of a place: all alternatives that are open there. */
export function schemasAt(root: JsonObject, path: Path, value: unknown): readonly JsonObject[] {
  let schemas = expand(root, value);
  for (const [index, part] of path.entries()) {
    const at = valueAtPath(value, path.slice(0, index + 1));
    schemas = schemas.flatMap((schema) => stepInto(schema, part)).flatMap((one) => expand(one, at));
  }
  return schemas;
}

/** A schema with its alternatives, and with the branches of a plugin that is chosen. */
function expand(schema: JsonObject, value: unknown): readonly JsonObject[] {
  const within = ["anyOf", "oneOf", "allOf"].flatMap((word) => objectsOf(schema[word]));
  const { if: condition, then } = schema;
  const chosen = isObject(condition) && isObject(then) && holds(condition, value) ? [then] : [];
  return [schema, ...[...within, ...chosen].flatMap((one) => expand(one, value))];
}

/** Whether the words that a condition names are those of the value. */
function holds({ properties }: JsonObject, value: unknown): boolean {
  if (!isObject(properties)) return false;
  return Object.entries(properties).every(
    ([name, schema]) => isObject(schema) && valueAtPath(value, [name]) === schema["const"],
  );
}

function stepInto(schema: JsonObject, part: string | number): readonly JsonObject[] {
  if (typeof part === "number") return objectsOf([schema["items"] ?? null]);
  const { properties, additionalProperties: others } = schema;
  const own = isObject(properties) && Object.hasOwn(properties, part) ? properties[part] : others;
  return objectsOf([own ?? null]);
}

function objectsOf(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]).filter((one) => isObject(one)) : [];
}
