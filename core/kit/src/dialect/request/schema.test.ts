import type { JsonObject } from "@sluice/contract";
import { describe, expect, it } from "vitest";
import { HARD_SCHEMAS, SCHEMAS } from "@sluice/testing";
import { lowerSchema, type SchemaSubset } from "./schema.ts";

const SMALL: SchemaSubset = {
  keywords: new Set([
    "type",
    "description",
    "properties",
    "required",
    "items",
    "enum",
    "anyOf",
    "nullable",
    "minimum",
    "maximum",
  ]),
  references: "inline",
  oneOf: "anyOf",
  allOf: "merge",
  const: "enum",
  typeLists: "nullable",
  enums: "strings",
};

function lower(schema: JsonObject, subset = SMALL): JsonObject {
  return lowerSchema(schema, subset, "s", (path, what): never => {
    throw new Error(`${path}: ${what}`);
  });
}

function keywordsOf(schema: unknown, found = new Set<string>()): Set<string> {
  if (typeof schema !== "object" || schema === null) return found;
  for (const [name, value] of Object.entries(schema as JsonObject)) {
    found.add(name);
    if (name === "properties")
      for (const each of Object.values(value as JsonObject)) keywordsOf(each, found);
    else if (name === "items") keywordsOf(value, found);
    else if (name === "anyOf") for (const each of value as JsonObject[]) keywordsOf(each, found);
  }
  return found;
}

describe("a lowered schema", () => {
  it("has nothing that the subset does not take, over the whole corpus", () => {
    expect(SCHEMAS.size).toBeGreaterThan(100);
    const foreign = [...SCHEMAS].flatMap(([name, schema]) =>
      [...keywordsOf(lower(schema))]
        .filter((keyword) => SMALL.keywords?.has(keyword) === false)
        .map((keyword) => `${name}: ${keyword}`),
    );
    expect(foreign).toEqual([]);
  });

  it("is the client's own where everything is taken", () => {
    for (const schema of [...SCHEMAS.values(), ...Object.values(HARD_SCHEMAS)])
      expect(lower(schema, {})).toEqual(schema);
  });

  it("has enums of strings alone, and says null among their values in another way", () => {
    expect(lower({ type: ["integer", "null"], enum: [1, 2, null] })).toEqual({
      type: "string",
      enum: ["1", "2"],
      nullable: true,
    });
    expect(lower({ const: true })).toEqual({ type: "string", enum: ["true"] });
  });

  it("has references replaced by what they mean, with what stood beside them", () => {
    const schema = {
      properties: { a: { $ref: "#/$defs/x~1y", description: "A." } },
      $defs: { "x/y": { $ref: "#/$defs/z" }, z: { type: "string" } },
    };
    expect(lower(schema)).toEqual({ properties: { a: { type: "string", description: "A." } } });
  });

  it.each(Object.entries(HARD_SCHEMAS))("is refused with its place: %s", (_, schema) => {
    expect(() => lower(schema)).toThrow(/^s\S*: a JSON schema that refers to/);
  });

  it("is refused when it grows without end or contradicts itself", () => {
    const defs = Object.fromEntries(
      Array.from({ length: 20 }, (_, i) => [
        `d${i}`,
        { properties: { a: { $ref: `#/$defs/d${i + 1}` }, b: { $ref: `#/$defs/d${i + 1}` } } },
      ]),
    );
    expect(() => lower({ $ref: "#/$defs/d0", $defs: { ...defs, d20: { type: "null" } } })).toThrow(
      "so large",
    );
    expect(() => lower({ allOf: [{ type: "string" }, { type: "integer" }] })).toThrow(
      "s.allOf: a JSON schema whose allOf contradicts itself in type",
    );
  });

  it("is refused when its references put in more than 4 MiB, or all of a request 20,000 schemas", () => {
    const description = "x".repeat(100_000);
    const of = (count: number): JsonObject => ({
      properties: Object.fromEntries(
        Array.from({ length: count }, (_, index) => [`p${index}`, { $ref: "#/$defs/large" }]),
      ),
      $defs: { large: { type: "string", description } },
    });
    expect(() => lower(of(40))).not.toThrow();
    expect(() => lower(of(60))).toThrow("so large");
    const refuse = (path: string, what: string): never => {
      throw new Error(`${path}: ${what}`);
    };
    const wide = {
      properties: Object.fromEntries(
        Array.from({ length: 5_000 }, (_, index) => [`p${index}`, { type: "string" }]),
      ),
    };
    for (let tool = 0; tool < 3; tool += 1) lowerSchema(wide, SMALL, `tools[${tool}]`, refuse);
    expect(() => lowerSchema(wide, SMALL, "tools[3]", refuse)).toThrow(/^tools\[3\].*so large/);
  });

  it("refuses a chain of references that is deeper than 64", () => {
    const chain = (length: number): JsonObject => ({
      $ref: "#/$defs/d0",
      $defs: Object.fromEntries(
        Array.from({ length }, (_, index) => [
          `d${index}`,
          index + 1 === length ? { type: "null" } : { $ref: `#/$defs/d${index + 1}` },
        ]),
      ),
    });
    expect(lower(chain(60))).toEqual({ type: "null" });
    expect(() => lower(chain(70))).toThrow("so deep");
  });

  it("merges the parts of an allOf: members, bounds, values, words", () => {
    const parts = [
      { properties: { a: { minimum: 1 } }, required: ["a"], enum: ["x", "y", "z"], title: "T" },
      { properties: { a: { minimum: 3 }, b: { type: "null" } }, required: ["b", "a"] },
      { properties: { a: { maximum: 5 } }, enum: ["z", "y"], description: "one" },
      { description: "two", maximum: 4, title: "U" },
      { description: "two", maximum: 2 },
    ];
    expect(lower({ allOf: parts }, { allOf: "merge" })).toEqual({
      properties: { a: { minimum: 3, maximum: 5 }, b: { type: "null" } },
      required: ["a", "b"],
      enum: ["y", "z"],
      title: "T",
      description: "one two",
      maximum: 2,
    });
    const many = Array.from({ length: 9_000 }, (_, index) => ({
      properties: { [`p${index}`]: {} },
      required: [`p${index}`],
    }));
    const { properties, required } = lower({ allOf: many }, { allOf: "merge" });
    expect([Object.keys(properties as object).length, required]).toEqual([
      9_000,
      many.map((_, index) => `p${index}`),
    ]);
  });

  it("says in another way what can be said so, and tells the rest in words", () => {
    expect(lower({ const: 4 })).toEqual({ type: "string", enum: ["4"] });
    expect(lower({ type: ["string", "null"] })).toEqual({ type: "string", nullable: true });
    expect(lower({ type: ["string", "integer"] })).toEqual({
      anyOf: [{ type: "string" }, { type: "integer" }],
    });
    expect(
      lower({
        allOf: [
          { type: "integer", minimum: 1 },
          { minimum: 3, maximum: 9 },
        ],
      }),
    ).toEqual({ type: "integer", minimum: 3, maximum: 9 });
    expect(lower({ type: "string", description: "A code.", pattern: "^a" })).toEqual({
      type: "string",
      description: 'A code. {"pattern":"^a"}',
    });
    expect(lower({ type: "object" }, { objects: "closed" })).toEqual({
      type: "object",
      additionalProperties: false,
    });
  });
});

describe("a schema with names that every object has", () => {
  const parsed = (text: string): JsonObject => JSON.parse(text) as JsonObject;

  it("keeps its members, also where two schemas are merged", () => {
    const member = '{"__proto__":{"type":"string"},"constructor":{"type":"integer"}}';
    const schema = parsed(
      `{"type":"object","properties":${member},"allOf":[{"properties":{"__proto__":{"description":"Odd."}}}]}`,
    );
    expect(JSON.stringify(lower(schema))).toBe(
      '{"type":"object","properties":{"__proto__":{"type":"string","description":"Odd."},"constructor":{"type":"integer"}}}',
    );
  });

  it("tells of a keyword that the subset does not have, whatever it is called", () => {
    expect(lower(parsed('{"type":"object","__proto__":{"minimum":1}}')).description).toBe(
      '{"__proto__":{"minimum":1}}',
    );
  });
});
