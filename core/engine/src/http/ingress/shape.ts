/**
 * Shapes of JSON values: a part of JSON Schema, compiled once to a function that allocates nothing
 * for a valid value. Read: type, enum, const, minimum, maximum, minLength, maxLength, pattern,
 * minItems, maxItems, maxProperties, items, properties, required, additionalProperties (a schema),
 * anyOf, and anyOf with `discriminator.propertyName`.
 */

import type { JsonSchema, JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";

/** A fault of a value. `path` leads from the value to the faulty part. */
export interface ShapeFault {
  readonly path: (string | number)[];
  /** The second half of a sentence whose first half is the path: `must be a number`. */
  readonly problem: string;
}

/** Finds the first fault of a value, `undefined` when there is none. */
export type ShapeCheck = (value: JsonValue) => ShapeFault | undefined;

/** The check of a schema. */
export function compileShape(schema: JsonSchema): ShapeCheck {
  if (isObject(schema.discriminator))
    return taggedCheck(schema, String(schema.discriminator.propertyName));
  if (Array.isArray(schema.anyOf)) return anyCheck(schema.anyOf.filter(isObject));
  const types = typesOf(schema);
  const parts = [boundsCheck(schema), listCheck(schema), membersCheck(schema)].filter(
    (part) => part !== undefined,
  );
  const [only] = parts;
  const inside: ShapeCheck =
    parts.length === 1 && only !== undefined ? only : (value) => firstFault(parts, value);
  if (types.length === 0) return inside;
  const expected = wordsOf(schema, types);
  return (value) => {
    for (const type of types) if (isOfType(value, type)) return inside(value);
    return fault(`must be ${expected}`);
  };
}

/** A fault's place in messages: `messages[2].content[1]`. */
export function formatPlace(path: readonly (string | number)[]): string {
  return path
    .map((part, index) =>
      typeof part === "number" ? `[${part}]` : index === 0 ? part : `.${part}`,
    )
    .join("");
}

function fault(problem: string): ShapeFault {
  return { path: [], problem };
}

function inMember(name: string | number, found: ShapeFault): ShapeFault {
  found.path.unshift(name);
  return found;
}

function firstFault(checks: readonly ShapeCheck[], value: JsonValue): ShapeFault | undefined {
  for (const check of checks) {
    const found = check(value);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Bounds of a scalar. A value of another type has none. */
function boundsCheck(schema: JsonSchema): ShapeCheck | undefined {
  const { minimum, maximum, minLength, maxLength, pattern } = schema;
  const allowed = Array.isArray(schema.enum)
    ? schema.enum
    : schema.const === undefined
      ? undefined
      : [schema.const];
  const isBounded = [minimum, maximum, minLength, maxLength, pattern, allowed].some(
    (bound) => bound !== undefined,
  );
  if (!isBounded) return undefined;
  const expression = typeof pattern === "string" ? new RegExp(pattern, "u") : undefined;
  const wrong = `must be ${wordsOf(schema, typesOf(schema))}`;
  const isBelow = (size: number, least: JsonValue | undefined): boolean =>
    typeof least === "number" && size < least;
  const isAbove = (size: number, most: JsonValue | undefined): boolean =>
    typeof most === "number" && size > most;
  return (value) => {
    if (allowed !== undefined && value !== null && !allowed.includes(value)) return fault(wrong);
    if (typeof value === "number")
      return isBelow(value, minimum) || isAbove(value, maximum) ? fault(wrong) : undefined;
    if (typeof value !== "string") return undefined;
    if (isBelow(value.length, minLength) || isAbove(value.length, maxLength)) return fault(wrong);
    return expression?.test(value) === false ? fault(wrong) : undefined;
  };
}

function listCheck(schema: JsonSchema): ShapeCheck | undefined {
  const { minItems = 0, maxItems = Infinity } = schema as {
    readonly minItems?: number;
    readonly maxItems?: number;
  };
  const item = isObject(schema.items) ? compileShape(schema.items) : undefined;
  if (item === undefined && schema.minItems === undefined && schema.maxItems === undefined)
    return undefined;
  return (value) => {
    if (!Array.isArray(value)) return undefined;
    if (value.length < minItems)
      return fault(minItems === 1 ? "must not be empty" : `must have at least ${minItems} items`);
    if (value.length > maxItems) return fault(`must have at most ${maxItems} items`);
    if (item === undefined) return undefined;
    for (let index = 0; index < value.length; index++) {
      const found = item(value[index] as JsonValue);
      if (found !== undefined) return inMember(index, found);
    }
    return undefined;
  };
}

function membersCheck(schema: JsonSchema): ShapeCheck | undefined {
  const named = Object.entries(isObject(schema.properties) ? schema.properties : {}).filter(
    (entry) => isObject(entry[1]),
  );
  const members = named.map(([name, member]) => ({
    name,
    check: compileShape(member as JsonSchema),
  }));
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const other = isObject(schema.additionalProperties)
    ? compileShape(schema.additionalProperties)
    : undefined;
  const most = typeof schema.maxProperties === "number" ? schema.maxProperties : Infinity;
  if (members.length === 0 && required.length === 0 && other === undefined && most === Infinity)
    return undefined;
  const names = new Set(members.map(({ name }) => name));
  return (value) => {
    if (!isObject(value)) return undefined;
    for (const name of required)
      if (value[name] === undefined) return inMember(name, fault("is missing"));
    for (const { name, check } of members) {
      const member = value[name];
      const found = member === undefined ? undefined : check(member);
      if (found !== undefined) return inMember(name, found);
    }
    if (other === undefined && most === Infinity) return undefined;
    const present = Object.keys(value);
    if (present.length > most) return fault(`must have at most ${most} entries`);
    for (const name of present) {
      const found =
        other === undefined || names.has(name) ? undefined : other(value[name] as JsonValue);
      if (found !== undefined) return inMember(name, found);
    }
    return undefined;
  };
}

/** One of several shapes of different types. The shape with the value's type reports the fault. */
function anyCheck(branches: readonly JsonSchema[]): ShapeCheck {
  const compiled = branches.map((branch) => ({
    types: typesOf(branch),
    check: compileShape(branch),
  }));
  const expected = branches.map((branch) => wordsOf(branch, typesOf(branch))).join(" or ");
  return (value) => {
    for (const { types, check } of compiled) {
      for (const type of types) if (isOfType(value, type)) return check(value);
    }
    return fault(`must be ${expected}`);
  };
}

/**
 * One of several objects that differ in the constant of one member. A branch without that constant
 * takes every other one.
 */
function taggedCheck(schema: JsonSchema, tag: string): ShapeCheck {
  const branches = new Map<JsonValue | undefined, ShapeCheck>();
  for (const branch of (Array.isArray(schema.anyOf) ? schema.anyOf : []).filter(isObject)) {
    const member = isObject(branch.properties) ? branch.properties[tag] : undefined;
    branches.set(isObject(member) ? member.const : undefined, compileShape(branch));
  }
  const open = branches.get(undefined);
  const known = [...branches.keys()].filter((name) => name !== undefined).join(", ");
  return (value) => {
    if (!isObject(value)) return fault(`must be an object with a ${tag}`);
    const name = value[tag];
    const branch = name === undefined ? undefined : branches.get(name);
    if (branch !== undefined) return branch(value);
    if (typeof name !== "string")
      return fault(`must be an object with a ${tag}; it takes ${known}`);
    return open === undefined
      ? fault(`has the unknown ${tag} ${quote(name)}; it takes ${known}`)
      : open(value);
  };
}

function typesOf({ type }: JsonSchema): readonly string[] {
  return type === undefined ? [] : [type].flat().map(String);
}

function isOfType(value: JsonValue, type: string): boolean {
  switch (type) {
    case "integer":
      return typeof value === "number" && Number.isInteger(value);
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    case "null":
      return value === null;
    default:
      return typeof value === type;
  }
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  boolean: "a boolean",
  integer: "an integer",
  number: "a number",
  string: "a string",
  array: "an array",
  object: "an object",
};

/** The expectation of a schema as text. `x-words` wins. */
function wordsOf(schema: JsonSchema, types: readonly string[]): string {
  if (typeof schema["x-words"] === "string") return schema["x-words"];
  if (Array.isArray(schema.enum))
    return `one of ${schema.enum.filter((value) => value !== null).join(", ")}`;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const words = types.filter((type) => type !== "null").map((type) => TYPE_WORDS[type] ?? type);
  return `${words.join(" or ")}${boundWords(schema)}`;
}

function boundWords({ minimum, maximum, minLength, maxLength }: JsonSchema): string {
  if (typeof minimum === "number" && typeof maximum === "number")
    return ` from ${minimum} to ${maximum}`;
  if (typeof minimum === "number") return `, ${minimum} or more`;
  if (typeof maximum === "number") return `, ${maximum} or less`;
  if (typeof maxLength === "number") return ` of at most ${maxLength} characters`;
  return minLength === 1 ? " that is not empty" : "";
}

function quote(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}
