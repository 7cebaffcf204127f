import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonSchema } from "@sluice/contract";
import { checkByAjv } from "./checker.ts";
import { conform } from "./conform.ts";
import { isKnownSchema } from "./known-schema.ts";

const scalar = fc.oneof(
  fc.constantFrom<unknown[]>(
    "",
    "a",
    "b",
    "ab",
    "😀",
    "10s",
    "1mb",
    "http://x",
    "http://x/y",
    "${env:A}",
    "constructor",
  ),
  fc.constantFrom<unknown[]>(0, 1, -1, 2, 1.5, 0.0000001, 1e300),
  fc.boolean(),
  fc.constant(null),
);

const name = fc.constantFrom("a", "b", "c", "isPrototypeOf", "~/x");

const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalar,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(name, tie("value"), { maxKeys: 4, noNullPrototype: true }),
  ),
}));

const count = fc.integer({ min: 0, max: 3 });
const type = fc.constantFrom("null", "boolean", "number", "integer", "string", "array", "object");

const { schema } = fc.letrec<{ schema: unknown }>((tie) => ({
  schema: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.boolean(),
    fc.record(
      { type, default: value, description: fc.constant("what it is") },
      { requiredKeys: [] },
    ),
    fc.record(
      { minLength: count, maxLength: count, pattern: fc.constantFrom("^a", "b$", "^.$") },
      { requiredKeys: [] },
    ),
    fc.record({ type: fc.constant("string"), "x-secret": fc.boolean() }),
    fc.record({ format: fc.constantFrom("duration", "size", "origin", "price") }),
    fc.record(
      {
        minimum: fc.integer({ min: -1, max: 2 }),
        maximum: fc.double({ min: 0, max: 2, noNaN: true }),
      },
      { requiredKeys: [] },
    ),
    fc.record({ exclusiveMinimum: count, exclusiveMaximum: count }, { requiredKeys: [] }),
    fc.record({ const: scalar }),
    fc.record({ enum: fc.uniqueArray(scalar, { minLength: 1, maxLength: 3 }) }),
    fc.record(
      { minItems: count, maxItems: count, uniqueItems: fc.boolean(), items: tie("schema") },
      { requiredKeys: [] },
    ),
    fc.record({ anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }) }),
    fc.record({ oneOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }) }),
    fc.record(
      {
        type: fc.constantFrom("object", ["object", "string"]),
        properties: fc.dictionary(name, tie("schema"), { maxKeys: 4, noNullPrototype: true }),
        required: fc.uniqueArray(name, { maxLength: 2 }),
        additionalProperties: tie("schema"),
        propertyNames: tie("schema"),
        minProperties: count,
        maxProperties: count,
      },
      { requiredKeys: [] },
    ),
  ),
}));

describe("conform", () => {
  test("accepts what ajv accepts, with the same defaults and the same secrets", () => {
    let conforming = 0;
    let decided = 0;
    const isObject = (drawn: unknown): drawn is JsonSchema => typeof drawn === "object";
    const property = fc.property(schema.filter(isObject), value, (drawn, given) => {
      const filled = structuredClone(given);
      const secrets = conform(drawn, filled);
      if (!isKnownSchema(drawn)) return;
      decided++;
      const byAjv = structuredClone(given);
      const checked = checkByAjv(drawn, byAjv);
      const conforms = secrets !== undefined;
      if (conforms) conforming++;
      expect(conforms).toBe(checked.errors.length === 0);
      expect(conforms ? [filled, [...secrets].sort()] : "faults").toEqual(
        conforms ? [byAjv, [...checked.secrets].sort()] : "faults",
      );
    });
    fc.assert(property, { numRuns: 600 });
    expect(conforming).toBeGreaterThan(100);
    expect(decided - conforming).toBeGreaterThan(100);
  });

  test("leaves to ajv what it does not know", () => {
    const open: JsonSchema[] = [
      { type: "object", patternProperties: { "^a": { type: "string" } } },
      {
        type: "object",
        properties: { a: { anyOf: [{ type: "object", properties: { b: { default: 1 } } }] } },
      },
      { type: "object", default: {} },
      { type: "strng" },
      { type: "string", minLength: "1" },
      { type: "string", format: "ipv4" },
      { type: "string", pattern: "(" },
      { anyOf: [{ type: "string", "x-secret": true }] },
      { enum: [] },
      { enum: [{ a: 1 }] },
      { description: 1 },
    ];
    for (const drawn of open)
      expect([isKnownSchema(drawn), conform(drawn, "x")]).toEqual([false, undefined]);
  });

  test("takes a text whose reference has no value for any text, and not for a branch's", () => {
    const unresolved = new Set(["${env:A}"]);
    const item = { type: "integer", minimum: 1 };
    expect(
      conform({ type: "object", properties: { a: item } }, { a: "${env:A}" }, unresolved),
    ).toEqual([]);
    expect(
      conform({ type: "object", properties: { a: item } }, { a: "${env:B}" }, unresolved),
    ).toBeUndefined();
    expect(
      conform({ anyOf: [{ type: "array", items: item }] }, ["${env:A}"], unresolved),
    ).toBeUndefined();
    expect(
      conform({ propertyNames: { maxLength: 1 } }, { "${env:A}": 1 }, unresolved),
    ).toBeUndefined();
    const secret = {
      type: "object",
      properties: { key: { type: "string", "x-secret": true, minLength: 99 } },
    };
    expect(conform(secret, { key: "${env:A}" }, unresolved)).toEqual([["key"]]);
  });
});
