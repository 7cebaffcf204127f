/**
 * Whether a schema of arguments may be enforced. In the Responses API `strict` is true where it is
 * absent; a chat upstream refuses `strict` with a schema outside of the strict subset
 * (platform.openai.com/docs/guides/structured-outputs, "Supported schemas").
 */

import { isObject } from "@sluice/kit";
import type { JsonValue } from "@sluice/contract";

const NOT_STRICT = ["allOf", "oneOf", "not", "if", "dependentSchemas", "patternProperties"];

/** Whether every object of a schema is closed and requires all of its members. */
export function isStrictSchema(schema: JsonValue | undefined): boolean {
  return isObject(schema) && schema.type === "object" && isStrict(schema);
}

function isStrict(schema: JsonValue | undefined): boolean {
  if (!isObject(schema)) return false;
  if (NOT_STRICT.some((name) => schema[name] !== undefined)) return false;
  const { type, properties, required, additionalProperties: others } = schema;
  const isObjectType = type === "object" || (Array.isArray(type) && type.includes("object"));
  if (isObjectType || properties !== undefined) {
    const names = isObject(properties) ? Object.keys(properties) : [];
    if (others !== false || !Array.isArray(required)) return false;
    const all = new Set<unknown>(required);
    if (!names.every((name) => all.has(name))) return false;
  }
  const parts = [
    ...valuesOf(properties),
    ...valuesOf(schema.$defs),
    ...valuesOf(schema.definitions),
    ...(Array.isArray(schema.anyOf) ? (schema.anyOf as readonly JsonValue[]) : []),
    ...(schema.items === undefined ? [] : [schema.items]),
  ];
  return parts.every(isStrict);
}

function valuesOf(value: JsonValue | undefined): readonly (JsonValue | undefined)[] {
  return isObject(value) ? Object.values(value) : [];
}
