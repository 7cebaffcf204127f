/**
 * Tables of body fields. The check of a request and the schema of its documentation are made from
 * them. A check is compiled once from the JSON Schema of the table.
 */

import { GatewayError, type JsonObject, type JsonSchema, type JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";

/** One field of a request body: JSON Schema with a description and an example. */
export interface Field {
  readonly schema: JsonSchema;
  readonly isRequired?: boolean;
}

/** Fields by name. */
export type FieldTable = Readonly<Record<string, Field>>;

/**
 * A check of the known fields of a body: one pass over its members. An optional field may be null.
 * Throws `invalid_field` with the place of the fault as `param`.
 */
export function compileFields(table: FieldTable): (body: JsonObject) => void {
  const checks = new Map<string, { readonly check: ShapeCheck; readonly isRequired: boolean }>();
  for (const [name, { schema, isRequired = false }] of Object.entries(table)) {
    checks.set(name, { check: compileShape(schema), isRequired });
  }
  const required = Object.keys(table).filter((name) => table[name]?.isRequired === true);
  return (body) => {
    for (const name of required)
      if (body[name] === undefined) throw invalidField([name], "is missing");
    for (const name in body) {
      const field = checks.get(name);
      const value = body[name];
      if (field === undefined || value === undefined || (value === null && !field.isRequired))
        continue;
      const fault = field.check(value);
      if (fault !== undefined) throw invalidField([name, ...fault.path], fault.problem);
    }
  };
}

/** The JSON Schema of a body with these fields. Others are allowed. */
export function bodySchema(table: FieldTable, description: string): JsonSchema {
  const fields = Object.entries(table);
  return {
    type: "object",
    description,
    required: fields.filter(([, { isRequired }]) => isRequired === true).map(([name]) => name),
    properties: Object.fromEntries(
      fields.map(([name, field]) => [
        name,
        field.isRequired === true ? field.schema : nullable(field.schema),
      ]),
    ),
  };
}

/** The error of a field: a place such as `["messages", 2, "role"]`, and what is wrong with it. */
export function invalidField(place: readonly (string | number)[], problem: string): GatewayError {
  const param = formatPlace(place);
  return new GatewayError("invalid_field", `The field ${param} ${problem}.`, { param });
}

function nullable(schema: JsonSchema): JsonSchema {
  if (schema.type === undefined) {
    const { description, examples, ...shape } = schema;
    return {
      ...(description === undefined ? {} : { description }),
      ...(examples === undefined ? {} : { examples }),
      anyOf: [shape, { type: "null" }],
    };
  }
  const types = [schema.type].flat();
  return {
    ...schema,
    type: [...types, "null"],
    ...(Array.isArray(schema.enum) ? { enum: [...schema.enum, null] } : {}),
  };
}

/** A fault of a value. `path` leads from the value to the faulty part. */
export interface ShapeFault {
  readonly path: (string | number)[];
  /** The second half of a sentence whose first half is the path: `must be a number`. */
  readonly problem: string;
}

/** Finds the first fault of a value, `undefined` when there is none. */
export type ShapeCheck = (value: JsonValue) => ShapeFault | undefined;

/**
 * The check of a schema: one function that allocates nothing for a valid value. Read: type, enum,
 * const, minimum, maximum, minLength, maxLength, pattern, minItems, maxItems, maxProperties, items,
 * properties, required, additionalProperties (a schema), anyOf, and anyOf with
 * `discriminator.propertyName`.
 */
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
