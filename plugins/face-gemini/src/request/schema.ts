/**
 * Schemas of the API's own form, OpenAPI's, as JSON Schema: lower-case types, null as a type,
 * numbers as numbers (`Schema` of @google/genai 3.1.0).
 */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { invalidField, Members } from "@sluice/kit/dialect";

/** Names in their second spelling. */
const CAMEL = Members.table<string>({
  any_of: "anyOf",
  max_items: "maxItems",
  min_items: "minItems",
  max_length: "maxLength",
  min_length: "minLength",
  max_properties: "maxProperties",
  min_properties: "minProperties",
  property_ordering: "propertyOrdering",
  additional_properties: "additionalProperties",
  prefix_items: "prefixItems",
});
/** Whole numbers that proto3 writes as texts. */
const COUNTS = /^(?:min|max)(?:Items|Length|Properties)$/;
const MAX_DEPTH = 64;

/** The JSON Schema of a schema. Throws `invalid_field` for a value that is no object. */
export function jsonSchemaOf(value: JsonValue | undefined, path: string, depth = 0): JsonObject {
  if (!isObject(value)) throw invalidField(path, "a schema");
  if (depth > MAX_DEPTH) throw invalidField(path, `nested at most ${MAX_DEPTH} times`);
  const members = Object.entries(value).flatMap(([name, member]): [string, JsonValue][] => {
    const key = CAMEL[name] ?? name;
    if (member === undefined || member === null) return [];
    const made = memberOf(key, member, `${path}.${name}`, depth + 1);
    return made === undefined ? [] : [[key, made]];
  });
  const made = Object.fromEntries(members) as JsonObject;
  const { nullable, propertyOrdering, example, ...schema } = made;
  const ordered = { ...schema, ...inOrder(schema.properties, propertyOrdering) };
  const shown = example === undefined ? ordered : { ...ordered, examples: [example] };
  return nullable === true ? withNull(shown) : shown;
}

function memberOf(
  name: string,
  value: JsonValue,
  path: string,
  depth: number,
): JsonValue | undefined {
  const inner = (each: JsonValue, at: string): JsonObject => jsonSchemaOf(each, at, depth);
  if (name === "type") return typeOf(value);
  // The only purpose of this format is to name a type with an enum.
  if (name === "format" && value === "enum") return undefined;
  if (name === "items" || name === "additionalProperties")
    return isObject(value) ? inner(value, path) : value;
  if (name === "anyOf" || name === "prefixItems")
    return Array.isArray(value)
      ? value.map((each: JsonValue, index) => inner(each, `${path}[${index}]`))
      : value;
  if (name === "properties") {
    if (!isObject(value)) throw invalidField(path, "an object");
    const entries = Object.entries(value) as [string, JsonValue][];
    return Object.fromEntries(entries.map(([key, each]) => [key, inner(each, `${path}.${key}`)]));
  }
  return COUNTS.test(name) && typeof value === "string" ? Number(value) : value;
}

function typeOf(value: JsonValue): JsonValue | undefined {
  if (typeof value !== "string") return value;
  return value === "TYPE_UNSPECIFIED" ? undefined : value.toLowerCase();
}

/** Models write members in the order of a schema's properties. */
function inOrder(
  properties: JsonValue | undefined,
  order: JsonValue | undefined,
): { readonly properties?: JsonObject } {
  if (!isObject(properties) || !Array.isArray(order)) return {};
  const first = order.flatMap((name: JsonValue): [string, JsonValue | undefined][] =>
    typeof name === "string" && Object.hasOwn(properties, name) ? [[name, properties[name]]] : [],
  );
  return { properties: { ...Object.fromEntries(first), ...properties } };
}

function withNull(schema: JsonObject): JsonObject {
  const { type, enum: values, anyOf } = schema;
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...(anyOf as JsonValue[]), NULL] };
  if (typeof type !== "string") return schema;
  return {
    ...schema,
    type: [type, "null"],
    ...(Array.isArray(values) ? { enum: [...(values as JsonValue[]), null] } : {}),
  };
}

const NULL: JsonObject = Object.freeze({ type: "null" });
