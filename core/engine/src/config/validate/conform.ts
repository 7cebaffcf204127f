/**
 * Whether a value conforms to a schema, without compiling the schema: a configuration is checked a
 * few times in the life of a process, and to compile its schemas costs more than everything else
 * about a check. What is wrong with a value that does not conform, ajv says.
 */

import { isDeepStrictEqual } from "node:util";
import type { JsonSchema } from "@sluice/contract";
import type { Path } from "../files/document.ts";
import { NUMBER_FORMATS, TEXT_FORMATS } from "./formats.ts";
import { isKnownSchema } from "./known-schema.ts";

/** No text is unresolved. */
export const NO_TEXTS: ReadonlySet<string> = new Set();

/**
 * Checks a value and fills in defaults, as ajv does. Returns where the schema marks a text as a
 * secret; `undefined` when the value has a fault, or the schema needs ajv. Texts of `unresolved`
 * hold references without a value: they conform to every schema.
 */
export function conform(
  schema: JsonSchema,
  value: unknown,
  unresolved: ReadonlySet<string> = NO_TEXTS,
): readonly Path[] | undefined {
  if (!isKnownSchema(schema)) return undefined;
  const visit: Visit = { secrets: [], unresolved, path: [] };
  return conforms(schema, value, visit) ? visit.secrets : undefined;
}

type Schema = Readonly<Record<string, unknown>>;

/** One check: what it has found, and where it stands. */
interface Visit {
  readonly secrets: Path[];
  readonly unresolved: ReadonlySet<string>;
  readonly path: (string | number)[];
}

function conforms(schema: unknown, value: unknown, visit: Visit): boolean {
  if (typeof schema === "boolean") return schema;
  const rules = schema as Schema;
  if (typeof value === "string") {
    if (rules["x-secret"] === true) visit.secrets.push([...visit.path]);
    if (visit.unresolved.has(value)) return true;
  }
  if (!hasType(rules["type"], value) || !isListed(rules, value) || !hasBranch(rules, value))
    return false;
  if (typeof value === "string") return isTextWithin(rules, value);
  if (typeof value === "number") return isNumberWithin(rules, value);
  if (typeof value !== "object" || value === null) return true;
  return Array.isArray(value)
    ? isListWithin(rules, value, visit)
    : isSectionWithin(rules, value as Section, visit);
}

function hasType(type: unknown, value: unknown): boolean {
  if (type === undefined) return true;
  return Array.isArray(type) ? type.some((one) => isOfType(one, value)) : isOfType(type, value);
}

function isOfType(type: unknown, value: unknown): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "number":
      return Number.isFinite(value);
    case "integer":
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

function isListed(rules: Schema, value: unknown): boolean {
  if (rules["const"] !== undefined && rules["const"] !== value) return false;
  return rules["enum"] === undefined || (rules["enum"] as readonly unknown[]).includes(value);
}

/**
 * Branches fill in nothing and mark nothing, and a reference without a value conforms to none of
 * them.
 */
function hasBranch(rules: Schema, value: unknown): boolean {
  const count = (branches: unknown): number =>
    (branches as readonly unknown[]).filter((branch) =>
      conforms(branch, value, { secrets: [], unresolved: NO_TEXTS, path: [] }),
    ).length;
  if (rules["anyOf"] !== undefined && count(rules["anyOf"]) === 0) return false;
  return rules["oneOf"] === undefined || count(rules["oneOf"]) === 1;
}

function isTextWithin(rules: Schema, text: string): boolean {
  if (rules["minLength"] !== undefined || rules["maxLength"] !== undefined) {
    const { length } = [...text];
    if (!isWithin(length, rules["minLength"], rules["maxLength"])) return false;
  }
  if (rules["pattern"] !== undefined && !patternOf(rules).test(text)) return false;
  return TEXT_FORMATS[rules["format"] as string]?.(text) ?? true;
}

const patterns = new WeakMap<Schema, RegExp>();

function patternOf(rules: Schema): RegExp {
  const pattern = patterns.get(rules) ?? new RegExp(rules["pattern"] as string, "u");
  patterns.set(rules, pattern);
  return pattern;
}

function isNumberWithin(rules: Schema, value: number): boolean {
  if (!isWithin(value, rules["minimum"], rules["maximum"])) return false;
  if (rules["exclusiveMinimum"] !== undefined && !(value > (rules["exclusiveMinimum"] as number)))
    return false;
  if (rules["exclusiveMaximum"] !== undefined && !(value < (rules["exclusiveMaximum"] as number)))
    return false;
  return NUMBER_FORMATS[rules["format"] as string]?.(value) ?? true;
}

function isWithin(value: number, minimum: unknown, maximum: unknown): boolean {
  if (minimum !== undefined && !(value >= (minimum as number))) return false;
  return maximum === undefined || value <= (maximum as number);
}

function isListWithin(rules: Schema, list: readonly unknown[], visit: Visit): boolean {
  if (!isWithin(list.length, rules["minItems"], rules["maxItems"])) return false;
  if (rules["uniqueItems"] === true && !isUnique(list)) return false;
  const { items } = rules;
  return items === undefined || list.every((item, index) => conformsAt(index, items, item, visit));
}

function isUnique(list: readonly unknown[]): boolean {
  const scalars = list.filter((item) => typeof item !== "object" || item === null);
  if (new Set(scalars).size < scalars.length) return false;
  const others = list.filter((item) => typeof item === "object" && item !== null);
  return others.every(
    (item, index) => !others.slice(0, index).some((earlier) => isDeepStrictEqual(item, earlier)),
  );
}

type Section = Record<string, unknown>;

function isSectionWithin(rules: Schema, section: Section, visit: Visit): boolean {
  const properties = (rules["properties"] ?? {}) as Readonly<Record<string, unknown>>;
  fillDefaults(properties, section);
  const names = Object.keys(section);
  if (!isWithin(names.length, rules["minProperties"], rules["maxProperties"])) return false;
  const required = (rules["required"] ?? []) as readonly string[];
  if (required.some((name) => section[name] === undefined)) return false;
  const { additionalProperties, propertyNames } = rules;
  for (const name of names) {
    if (
      propertyNames !== undefined &&
      !conforms(propertyNames, name, { secrets: [], unresolved: NO_TEXTS, path: [] })
    )
      return false;
    if (additionalProperties === undefined || Object.hasOwn(properties, name)) continue;
    if (!conformsAt(name, additionalProperties, section[name], visit)) return false;
  }
  return Object.entries(properties).every(
    ([name, schema]) =>
      section[name] === undefined || conformsAt(name, schema, section[name], visit),
  );
}

function fillDefaults(properties: Readonly<Record<string, unknown>>, section: Section): void {
  for (const [name, schema] of Object.entries(properties)) {
    if (typeof schema !== "object" || schema === null || section[name] !== undefined) continue;
    const { default: preset } = schema as Schema;
    if (preset !== undefined) section[name] = structuredClone(preset);
  }
}

function conformsAt(part: string | number, schema: unknown, value: unknown, visit: Visit): boolean {
  visit.path.push(part);
  const answer = conforms(schema, value, visit);
  visit.path.pop();
  return answer;
}
