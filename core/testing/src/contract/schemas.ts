/**
 * JSON schemas for tools and structured output: picked by hand for what each has, and generated
 * from them. Data.
 */

import type { JsonObject } from "@sluice/contract";

const text: JsonObject = { type: "string" };
const object = (properties: JsonObject, rest: JsonObject = {}): JsonObject => ({
  type: "object",
  properties,
  ...rest,
});

/** Schemas of one value, by what is in them. */
const VALUES: Readonly<Record<string, JsonObject>> = {
  "a text": text,
  "an integer": { type: "integer" },
  "a number": { type: "number" },
  "a boolean": { type: "boolean" },
  "a null": { type: "null" },
  "no type": {},
  "a description alone": { description: "Anything." },
  "an enum of texts": { type: "string", enum: ["celsius", "fahrenheit"] },
  "an enum without a type": { enum: ["a", "b"] },
  "an enum of numbers": { type: "integer", enum: [1, 2, 3] },
  "an enum of kinds": { enum: ["a", 1, true, null] },
  "an enum with an empty text": { type: "string", enum: ["", "a"] },
  "a const text": { const: "fixed" },
  "a const number": { type: "integer", const: 4 },
  "a const null": { const: null },
  "a pattern": { type: "string", pattern: "^[A-Z]{2}\\d+$" },
  "a date": { type: "string", format: "date-time" },
  "an odd format": { type: "string", format: "iri-reference" },
  lengths: { type: "string", minLength: 1, maxLength: 64 },
  bounds: { type: "number", minimum: 0, maximum: 100 },
  "exclusive bounds": { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 },
  "exclusive bounds of draft 4": { type: "number", minimum: 0, exclusiveMinimum: true },
  "a multiple": { type: "integer", multipleOf: 5 },
  "a list": { type: "array", items: text },
  "a list of anything": { type: "array" },
  "a list of lists": { type: "array", items: { type: "array", items: { type: "number" } } },
  "a bounded list": { type: "array", items: text, minItems: 2, maxItems: 5, uniqueItems: true },
  "a tuple": { type: "array", prefixItems: [text, { type: "integer" }], items: false },
  "a tuple of draft 7": { type: "array", items: [text, { type: "integer" }] },
  "a list that contains": { type: "array", contains: text, minContains: 1 },
  "two types": { type: ["string", "integer"] },
  "a nullable": { type: ["string", "null"] },
  "three types": { type: ["string", "integer", "null"] },
  "nullable of OpenAPI": { type: "string", nullable: true },
  "an anyOf": { anyOf: [text, { type: "integer" }] },
  "an anyOf with null": { anyOf: [text, { type: "null" }] },
  "a oneOf": { oneOf: [text, { type: "integer" }] },
  "a oneOf of objects": {
    oneOf: [object({ a: text }, { required: ["a"] }), object({ b: text }, { required: ["b"] })],
  },
  "a discriminated union": {
    oneOf: [object({ kind: { const: "a" }, a: text }), object({ kind: { const: "b" }, b: text })],
    discriminator: { propertyName: "kind" },
  },
  "an allOf": {
    allOf: [object({ a: text }, { required: ["a"] }), object({ b: text }, { required: ["b"] })],
  },
  "an allOf of bounds": { allOf: [{ type: "integer", minimum: 1 }, { maximum: 9 }] },
  "a not": { not: { type: "null" } },
  // A member called `then` makes a promise of an object in code; in JSON it is a keyword.
  "an if": JSON.parse(
    '{"type":"object","properties":{"a":{"type":"string"}},"if":{"required":["a"]},"then":{"required":["b"]},"else":{}}',
  ) as JsonObject,
  "an empty object": { type: "object" },
  "an object with no properties": object({}),
  "a closed object": object({ a: text }, { additionalProperties: false }),
  "an open object": object({ a: text }, { additionalProperties: true }),
  "a map": { type: "object", additionalProperties: text },
  "a map of objects": { type: "object", additionalProperties: object({ a: text }) },
  "patterned properties": { type: "object", patternProperties: { "^x-": text } },
  "bounded properties": {
    type: "object",
    minProperties: 1,
    maxProperties: 3,
    propertyNames: { pattern: "^[a-z]+$" },
  },
  "dependent properties": object({ a: text, b: text }, { dependentRequired: { a: ["b"] } }),
  "a default": { type: "string", default: "x" },
  examples: { type: "string", examples: ["x", "y"] },
  "a title": { type: "string", title: "Name", description: "Of a person." },
  "read-only": { type: "string", readOnly: true, deprecated: true },
  "a media type": { type: "string", contentEncoding: "base64", contentMediaType: "image/png" },
  "an extension": { type: "string", "x-order": 1 },
  "a long enum": {
    type: "string",
    enum: Array.from({ length: 200 }, (_, index) => `value-${index}`),
  },
  "a long description": { type: "string", description: "Long. ".repeat(400) },
  "a property called type": object(
    { type: text, properties: text, required: { type: "boolean" } },
    { required: ["type"] },
  ),
  "a property called $ref": object({ $ref: text }),
  "properties in another script": object({ größe: text, 名前: text, "a b": text, "a.b": text }),
  "five levels": object({ a: object({ b: object({ c: object({ d: object({ e: text }) }) }) }) }),
};

/** Whole schemas: references, which need a root, and what hosts of tools really send. */
const WHOLE: Readonly<Record<string, JsonObject>> = {
  "a reference": object(
    { home: { $ref: "#/$defs/address" } },
    { $defs: { address: object({ street: text }) } },
  ),
  "a reference of draft 7": object(
    { home: { $ref: "#/definitions/address" } },
    { definitions: { address: object({ street: text }) } },
  ),
  "a reference used twice": object(
    { a: { $ref: "#/$defs/p" }, b: { $ref: "#/$defs/p" } },
    { $defs: { p: object({ x: { type: "number" } }) } },
  ),
  "a reference with a description": object(
    { a: { $ref: "#/$defs/p", description: "The first." } },
    { $defs: { p: text } },
  ),
  "references in a row": object(
    { a: { $ref: "#/$defs/b" } },
    { $defs: { b: { $ref: "#/$defs/c" }, c: text } },
  ),
  "a reference to a property": object({ a: text, b: { $ref: "#/properties/a" } }),
  "a reference with escapes": object(
    { a: { $ref: "#/$defs/x~1y%20z" } },
    { $defs: { "x/y z": text } },
  ),
  "a schema with its dialect": {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: "https://example.com/s",
    ...object({ a: text }),
  },
  "a schema without a type": { properties: { a: text }, required: ["a"] },
  "a strict schema": object(
    { a: text, b: { type: ["integer", "null"] } },
    { required: ["a", "b"], additionalProperties: false },
  ),
  "what pydantic writes": {
    title: "Query",
    type: "object",
    properties: {
      query: { title: "Query", type: "string" },
      limit: { title: "Limit", default: 10, anyOf: [{ type: "integer" }, { type: "null" }] },
      filters: { title: "Filters", type: "array", items: { $ref: "#/$defs/Filter" }, default: [] },
    },
    required: ["query"],
    $defs: {
      Filter: {
        title: "Filter",
        type: "object",
        properties: { field: { type: "string" }, op: { enum: ["eq", "ne"], type: "string" } },
      },
    },
  },
  "what zod writes": {
    $schema: "http://json-schema.org/draft-07/schema#",
    type: "object",
    properties: {
      path: { type: "string" },
      depth: { type: "integer", exclusiveMinimum: 0, maximum: 10 },
    },
    required: ["path"],
    additionalProperties: false,
  },
};

/**
 * Schemas that a provider which inlines references must refuse with their place; one that takes
 * references may take them.
 */
export const HARD_SCHEMAS: Readonly<Record<string, JsonObject>> = {
  "a schema that refers to itself": object({ next: { $ref: "#" } }),
  "a definition that refers to itself": object(
    { tree: { $ref: "#/$defs/node" } },
    { $defs: { node: object({ left: { $ref: "#/$defs/node" } }) } },
  ),
  "a reference that leads nowhere": object({ a: { $ref: "#/$defs/absent" } }),
  "a reference to another place": object({ a: { $ref: "https://example.com/schema.json" } }),
};

/**
 * At least a hundred schemas by name: each value as a property, some as items of a list as well,
 * and the whole ones.
 */
export const SCHEMAS: ReadonlyMap<string, JsonObject> = new Map([
  ...Object.entries(VALUES).map(([name, value]): [string, JsonObject] => [
    `a property that is ${name}`,
    object({ value }, { required: ["value"] }),
  ]),
  ...Object.entries(VALUES).map(([name, value]): [string, JsonObject] => [
    `a list whose items are ${name}`,
    object({ list: { type: "array", items: value } }),
  ]),
  ...Object.entries(WHOLE),
]);
