/** JSON Schemas of routes, as values whose types `FromSchema` reads. */

/** A JSON Schema, as plain data. */
export type Schema = Readonly<Record<string, unknown>>;

/** The members of an object, by name. */
export type Members = Readonly<Record<string, Schema>>;

/** The schema of a closed object: `Required` members are there, `Optional` ones may be. */
export type ObjectSchema<Required extends Members, Optional extends Members> = {
  readonly type: "object";
  readonly properties: Required & Optional;
  readonly required: readonly (keyof Required & string)[];
  readonly additionalProperties: false;
};

/** Any such schema. */
export interface AnyObjectSchema {
  readonly type: "object";
  readonly properties: Members;
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

/** An object with these members and no others. */
export function object<const Required extends Members, const Optional extends Members = {}>(
  required: Required,
  optional?: Optional,
): ObjectSchema<Required, Optional> {
  return {
    type: "object",
    properties: { ...required, ...optional } as Required & Optional,
    required: Object.keys(required),
    additionalProperties: false,
  };
}

/** A list. */
export function list<const Items extends Schema>(
  items: Items,
): { readonly type: "array"; readonly items: Items } {
  return { type: "array", items };
}

/** An object whose members have one schema and any name. */
export function map<const Member extends Schema>(
  member: Member,
): { readonly type: "object"; readonly additionalProperties: Member } {
  return { type: "object", additionalProperties: member };
}

/** A value of a schema, or null. */
export function orNull<const Of extends Schema>(
  schema: Of,
): { readonly anyOf: readonly [Of, { readonly type: "null" }] } {
  return { anyOf: [schema, NULL] };
}

/** One of some words. */
export function words<const Words extends readonly string[]>(
  ...of: Words
): { readonly type: "string"; readonly enum: Words } {
  return { type: "string", enum: of };
}

const NULL = { type: "null" } as const;

export const TEXT = { type: "string" } as const;
export const TEXT_OR_NULL = { type: ["string", "null"] } as const;
export const FLAG = { type: "boolean" } as const;
export const COUNT = { type: "integer", minimum: 0 } as const;
export const COUNT_OR_NULL = { type: ["integer", "null"], minimum: 0 } as const;
export const NUMBER = { type: "number" } as const;
export const NUMBER_OR_NULL = { type: ["number", "null"] } as const;
export const TEXTS = { type: "array", items: TEXT } as const;
/** ISO 8601 in UTC. */
export const TIME = { type: "string", format: "date-time" } as const;
export const TIME_OR_NULL = { type: ["string", "null"], format: "date-time" } as const;
/** An object of the operator's own, or one whose members follow from its names. */
export const OPEN = { type: "object" } as const;
/** Any JSON value. */
export const ANY = {} as const;
