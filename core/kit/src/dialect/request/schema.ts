/**
 * Converts JSON schemas to the subset that a provider supports. An unsupported part is refused with
 * its place.
 */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "../../json/narrow.ts";
import { mergeAll } from "./schema-merge.ts";
import { SchemaGrowth, TOO_LARGE } from "./schema-growth.ts";
import type { Refuse } from "../refusal.ts";

/**
 * A provider's subset of JSON Schema. An absent member leaves that part of the client's schema
 * unchanged.
 */
export interface SchemaSubset {
  /**
   * Supported keywords; absent: all. Others are left out. If they constrain the value, the
   * description names them.
   */
  readonly keywords?: ReadonlySet<string>;
  /**
   * `inline`: references are replaced by their targets. A schema that refers to itself is then
   * refused.
   */
  readonly references?: "keep" | "inline";
  /** `anyOf`: `oneOf` becomes `anyOf`. */
  readonly oneOf?: "keep" | "anyOf";
  /** `merge`: the schemas of an `allOf` become one; contradicting ones are refused. */
  readonly allOf?: "keep" | "merge";
  /** `enum`: `const` becomes an `enum` of one. */
  readonly const?: "keep" | "enum";
  /** `nullable`: `[string, null]` becomes a nullable string, several types an `anyOf`. */
  readonly typeLists?: "keep" | "nullable";
  /** `strings`: an `enum` becomes one of strings; null among its values becomes `nullable`. */
  readonly enums?: "keep" | "strings";
  /** `closed`: every object says `additionalProperties: false`. */
  readonly objects?: "keep" | "closed";
  /** Supported values of `format`; absent: all. */
  readonly formats?: ReadonlySet<string>;
  /** The largest supported `minItems`; absent: any. */
  readonly maxMinItems?: number;
}

/** Maximum levels of one converted schema. */
const MAX_DEPTH = 64;
/** Keywords that do not constrain the value. */
const ANNOTATIONS = new Set([
  "$schema",
  "$id",
  "$comment",
  "$anchor",
  "$defs",
  "definitions",
  "examples",
  "example",
  "default",
  "title",
  "deprecated",
  "readOnly",
  "writeOnly",
  "strict",
  "additionalProperties",
  "unevaluatedProperties",
]);
/** Keywords whose value is a schema, a list of schemas, or schemas by name. */
const ONE = new Set([
  "items",
  "contains",
  "propertyNames",
  "if",
  "then",
  "else",
  "not",
  "additionalItems",
  "unevaluatedItems",
]);
const LISTS = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
const NAMED = new Set([
  "properties",
  "patternProperties",
  "dependentSchemas",
  "$defs",
  "definitions",
]);

/**
 * Converts a schema. `path` is its place in the client's body. Throws through `refuse` for a
 * reference that has no target, leads outside or to itself, for an `allOf` that contradicts itself,
 * and for a schema beyond the bounds.
 */
export function lowerSchema(
  schema: JsonObject,
  subset: SchemaSubset,
  path: string,
  refuse: Refuse,
): JsonObject {
  return new Lowering(schema, subset, refuse).lower(schema, path, [], 0);
}

class Lowering {
  readonly #root: JsonObject;
  readonly #subset: SchemaSubset;
  readonly #refuse: Refuse;
  readonly #growth: SchemaGrowth;

  constructor(root: JsonObject, subset: SchemaSubset, refuse: Refuse) {
    this.#root = root;
    this.#subset = subset;
    this.#refuse = refuse;
    this.#growth = SchemaGrowth.of(refuse);
  }

  lower(given: JsonObject, path: string, trail: readonly string[], depth: number): JsonObject {
    if (depth > MAX_DEPTH) this.#refuse(path, TOO_LARGE);
    this.#growth.add(path);
    const { schema, trail: after } = this.#resolve(given, path, trail);
    // Without a prototype: a schema may have a member of any name.
    const out = Object.create(null) as Record<string, JsonValue>;
    const unexpressed = Object.create(null) as Record<string, JsonValue>;
    for (const [keyword, value] of Object.entries(this.#rewritten(schema, path))) {
      if (value === undefined) continue;
      if (!this.#takes(keyword, value)) {
        if (!ANNOTATIONS.has(keyword) || (keyword === "additionalProperties" && isObject(value)))
          unexpressed[keyword] = value;
        continue;
      }
      out[keyword] = this.#nested(keyword, value, `${path}.${keyword}`, after, depth);
    }
    if (this.#subset.enums === "strings" && Array.isArray(out.enum))
      asStrings(out, out.enum as readonly JsonValue[]);
    if (this.#subset.objects === "closed" && isObjectSchema(out)) out.additionalProperties = false;
    // The subset cannot express the constraint: the description states it for the model.
    if (Object.keys(unexpressed).length > 0) {
      const note = JSON.stringify(unexpressed);
      out.description = typeof out.description === "string" ? `${out.description} ${note}` : note;
    }
    return out;
  }

  #takes(keyword: string, value: JsonValue): boolean {
    const { keywords, formats, maxMinItems, references } = this.#subset;
    if (references === "inline" && (keyword === "$defs" || keyword === "definitions")) return false;
    if (keywords !== undefined && !keywords.has(keyword)) return false;
    // A list of schemas (tuples of older drafts) and a boolean are not valid `items` of a subset.
    if (keywords !== undefined && keyword === "items" && !isObject(value)) return false;
    if (keyword === "format" && formats !== undefined)
      return typeof value === "string" && formats.has(value);
    return (
      keyword !== "minItems" ||
      maxMinItems === undefined ||
      (typeof value === "number" && value <= maxMinItems)
    );
  }

  #nested(
    keyword: string,
    value: JsonValue,
    path: string,
    trail: readonly string[],
    depth: number,
  ): JsonValue {
    const lower = (each: JsonValue, at: string): JsonValue =>
      isObject(each) ? this.lower(each, at, trail, depth + 1) : each;
    if (
      ONE.has(keyword) ||
      keyword === "additionalProperties" ||
      keyword === "unevaluatedProperties"
    )
      return lower(value, path);
    if (LISTS.has(keyword) && Array.isArray(value))
      return value.map((each: JsonValue, index) => lower(each, `${path}[${index}]`));
    if (NAMED.has(keyword) && isObject(value)) {
      return Object.fromEntries(
        Object.entries(value).map(([name, each]) => [name, lower(each ?? null, `${path}.${name}`)]),
      );
    }
    return value;
  }

  /** Follows references to the end. */
  #resolve(
    schema: JsonObject,
    path: string,
    trail: readonly string[],
  ): { schema: JsonObject; trail: readonly string[] } {
    if (this.#subset.references !== "inline") return { schema, trail };
    let at = schema;
    let seen = trail;
    while (typeof at.$ref === "string") {
      const { $ref, ...beside } = at as JsonObject & { readonly $ref: string };
      if (seen.includes($ref))
        this.#refuse(path, `a JSON schema that refers to itself (${$ref.slice(0, 64)})`);
      if (seen.length >= MAX_DEPTH) this.#refuse(path, TOO_LARGE);
      seen = [...seen, $ref];
      const target = this.#find($ref, path);
      this.#growth.add(path, target);
      at = { ...target, ...beside };
    }
    return { schema: at, trail: seen };
  }

  #find(reference: string, path: string): JsonObject {
    if (!reference.startsWith("#"))
      return this.#refuse(path, `a JSON schema that refers to ${reference.slice(0, 64)}`);
    let found: JsonValue | undefined = this.#root;
    for (const step of reference.slice(1).split("/").filter(Boolean)) {
      const name = unescape(step);
      found =
        isObject(found) && Object.hasOwn(found, name)
          ? found[name]
          : Array.isArray(found)
            ? (found as readonly JsonValue[])[Number(name)]
            : undefined;
    }
    return isObject(found)
      ? found
      : this.#refuse(
          path,
          `a JSON schema that refers to ${reference.slice(0, 64)}, which it does not have`,
        );
  }

  /** Keywords in the form of the subset, where it differs. */
  #rewritten(schema: JsonObject, path: string): JsonObject {
    const { oneOf, allOf, const: constant, typeLists } = this.#subset;
    let out = schema;
    if (allOf === "merge" && Array.isArray(out.allOf)) {
      const { allOf: parts, ...rest } = out;
      const resolved = (parts as readonly JsonValue[]).map((part) => {
        this.#growth.add(path);
        return isObject(part) ? this.#resolve(part, path, []).schema : {};
      });
      out = mergeAll([rest, ...resolved], (keyword) =>
        this.#refuse(`${path}.allOf`, `a JSON schema whose allOf contradicts itself in ${keyword}`),
      );
      if (Array.isArray(out.allOf)) out = this.#rewritten(out, path);
    }
    if (oneOf === "anyOf" && Array.isArray(out.oneOf)) {
      const { oneOf: variants, ...rest } = out;
      out = { ...rest, anyOf: Array.isArray(rest.anyOf) ? rest.anyOf : (variants as JsonValue) };
    }
    if (constant === "enum" && out.const !== undefined) {
      const { const: value, ...rest } = out;
      out = { ...rest, enum: [value as JsonValue] };
    }
    return typeLists === "nullable" && Array.isArray(out.type) ? withoutTypeList(out) : out;
  }
}

/** An enum of strings only; `nullable` stands for null among its values. */
function asStrings(schema: Record<string, JsonValue>, values: readonly JsonValue[]): void {
  const texts = values.filter((each) => each !== null);
  if (texts.length === 0) {
    delete schema.enum;
    schema.type = "null";
    return;
  }
  if (texts.length < values.length) schema.nullable = true;
  schema.type = "string";
  schema.enum = texts.map((each) => (typeof each === "string" ? each : JSON.stringify(each)));
}

function withoutTypeList(schema: JsonObject): JsonObject {
  const { type, ...rest } = schema;
  const names = type as readonly JsonValue[];
  const types = names.filter((name) => name !== "null");
  const nullable = types.length < names.length ? { nullable: true } : {};
  if (types.length === 0) return { ...rest, type: "null" };
  if (types.length === 1) return { ...rest, type: types[0] as JsonValue, ...nullable };
  return { ...rest, anyOf: types.map((each) => ({ type: each })), ...nullable };
}

function isObjectSchema(schema: JsonObject): boolean {
  return schema.type === "object" || (schema.type === undefined && isObject(schema.properties));
}

/** One segment of a JSON pointer in a URL fragment (RFC 6901 6). */
function unescape(step: string): string {
  let text = step;
  try {
    text = decodeURIComponent(step);
  } catch {
    // A bare percent sign stays unchanged.
  }
  return text.replaceAll("~1", "/").replaceAll("~0", "~");
}
