/**
 * Which schemas `conform` decides about: those that use these keywords alone, in the forms that ajv
 * accepts in its strict mode. A schema with another keyword, or with a fault, is ajv's.
 */

import type { JsonSchema } from "@sluice/contract";
import { NUMBER_FORMATS, TEXT_FORMATS } from "./formats.ts";

const TYPES: ReadonlySet<unknown> = new Set([
  "null",
  "boolean",
  "number",
  "integer",
  "string",
  "array",
  "object",
]);

/**
 * Whether a value of a keyword has the form that the keyword needs. Values of `SCHEMA`, `SCHEMAS`
 * and `MAP` hold schemas.
 */
type Form = (value: unknown) => boolean;

const anything: Form = () => true;
const isText: Form = (value) => typeof value === "string";
const isFlag: Form = (value) => typeof value === "boolean";
const isNumber: Form = (value) => typeof value === "number" && Number.isFinite(value);
const isCount: Form = (value) => Number.isInteger(value) && (value as number) >= 0;
const isScalar: Form = (value) =>
  value === null || isText(value) || isFlag(value) || isNumber(value);
const isSetOf = (value: unknown, has: Form): boolean =>
  Array.isArray(value) && value.every(has) && new Set<unknown>(value).size === value.length;

const FORMS: Readonly<Record<string, Form>> = {
  title: isText,
  description: isText,
  examples: Array.isArray,
  default: anything,
  "x-unit": anything,
  "x-example": anything,
  "x-secret": isFlag,
  type: (value) =>
    TYPES.has(value) ||
    (isSetOf(value, (type) => TYPES.has(type)) && (value as unknown[]).length > 0),
  const: isScalar,
  enum: (value) => isSetOf(value, isScalar) && (value as unknown[]).length > 0,
  minimum: isNumber,
  maximum: isNumber,
  exclusiveMinimum: isNumber,
  exclusiveMaximum: isNumber,
  minLength: isCount,
  maxLength: isCount,
  pattern: (value) => typeof value === "string" && isPattern(value),
  format: (value) =>
    typeof value === "string" &&
    (Object.hasOwn(TEXT_FORMATS, value) || Object.hasOwn(NUMBER_FORMATS, value)),
  minItems: isCount,
  maxItems: isCount,
  uniqueItems: isFlag,
  minProperties: isCount,
  maxProperties: isCount,
  required: (value) => isSetOf(value, isText),
};

const known = new WeakMap<JsonSchema, boolean>();

/** Whether `conform` decides about a schema. Judged once for each schema. */
export function isKnownSchema(schema: JsonSchema): boolean {
  let answer = known.get(schema);
  if (answer === undefined) {
    // ajv refuses a default that it would ignore.
    answer = schema["default"] === undefined && hasKnownKeywords(schema, false);
    known.set(schema, answer);
  }
  return answer;
}

/**
 * `isBranch`: within a keyword that tries schemas, where defaults are refused and a secret may be
 * marked by a schema that does not apply.
 */
function hasKnownKeywords(schema: unknown, isBranch: boolean): boolean {
  if (typeof schema === "boolean") return true;
  if (!isObject(schema)) return false;
  for (const [keyword, value] of Object.entries(schema)) {
    if (value === undefined) continue;
    if (isBranch && keyword === "x-secret") return false;
    const hasForm = Object.hasOwn(FORMS, keyword)
      ? FORMS[keyword]?.(value)
      : hasKnownSchemas(keyword, value, isBranch);
    if (hasForm !== true) return false;
  }
  return true;
}

function hasKnownSchemas(keyword: string, value: unknown, isBranch: boolean): boolean {
  switch (keyword) {
    case "items":
    case "additionalProperties":
      return hasKnownKeywords(value, isBranch);
    case "propertyNames":
      return hasKnownKeywords(value, true);
    case "anyOf":
    case "oneOf":
      return (
        Array.isArray(value) &&
        value.length > 0 &&
        value.every((branch) => hasKnownKeywords(branch, true))
      );
    case "properties":
      return (
        isObject(value) &&
        Object.entries(value).every(([name, member]) => isKnownProperty(name, member, isBranch))
      );
    default:
      return false;
  }
}

function isKnownProperty(name: string, schema: unknown, isBranch: boolean): boolean {
  if (name === "__proto__") return false;
  if (isBranch && isObject(schema) && schema["default"] !== undefined) return false;
  return hasKnownKeywords(schema, isBranch);
}

function isPattern(source: string): boolean {
  try {
    return new RegExp(source, "u").unicode;
  } catch {
    return false;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
