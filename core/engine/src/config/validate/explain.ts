/** What ajv found, in words that a person who edits the file understands. */

import type { ErrorObject } from "ajv/dist/2020.js";

import type { Path } from "../files/document.ts";
import { nearest } from "./distance.ts";
import { formatPath, pathOfPointer } from "../files/path.ts";
import { otherName } from "./key-places.ts";
import {
  describe,
  formatExample,
  formatName,
  listOf,
  show,
  trimDot,
  typeFix,
  typeNames,
  typeOf,
  type SchemaView,
} from "./wording.ts";

/** One fault of a value, with its place. */
export interface Fault {
  readonly path: Path;
  /** Point at the key (an unknown key, a missing member of it) or at the value. */
  readonly on: "key" | "value";
  readonly message: string;
  readonly fix: string;
}

/** What the explanation needs to know of the checked value. */
export interface ExplainOptions {
  /** Where the checked value stands in its document. */
  readonly base: Path;
  /** The checked value. */
  readonly value: unknown;
  /**
   * What is shown in place of a value that is a secret or came from a reference; `undefined`: the
   * value itself.
   */
  standIn(path: Path): string | undefined;
  /**
   * What to do about a key that is known elsewhere, or to another gateway; `undefined`: nothing is
   * known of it.
   */
  elsewhere?(path: Path): string | undefined;
}

/** Explains all errors of one check. Errors that only repeat another are left out. */
export function explainErrors(errors: readonly ErrorObject[], options: ExplainOptions): Fault[] {
  const unions = errors
    .filter((error) => UNIONS.has(error.keyword))
    .map((error) => `${error.schemaPath}/`);
  const kept = errors.filter(
    (error) =>
      error.keyword !== "if" &&
      error.data !== null &&
      !unions.some((union) => error.schemaPath.startsWith(union)),
  );
  const renamed = renamedKeys(kept);
  const replaced = new Set([...renamed.values()].map(({ missing }) => missing));
  return kept
    .filter((error) => !replaced.has(error))
    .map((error) => {
      const rename = renamed.get(error);
      return rename === undefined
        ? explain(error, options)
        : renamedKey(error, rename.name, options);
    });
}

/** The name that an unknown key should have, and the error that says that it is missing. */
interface Rename {
  readonly name: string;
  readonly missing: ErrorObject;
}

/** The one unknown key of a section that lacks one key, by its error: it is that one. */
function renamedKeys(errors: readonly ErrorObject[]): ReadonlyMap<ErrorObject, Rename> {
  const renamed = new Map<ErrorObject, Rename>();
  for (const missing of errors.filter(({ keyword }) => keyword === "required")) {
    const beside = errors.filter(({ instancePath }) => instancePath === missing.instancePath);
    const unknown = beside.filter(({ keyword }) => keyword === "additionalProperties");
    const [key] = unknown;
    const name = String(missing.params["missingProperty"]);
    const { properties = {} } = (missing.parentSchema ?? {}) as SchemaView;
    const isOnly = unknown.length === 1 && beside.filter(isMissing).length === 1;
    if (!isOnly || key === undefined || !takes(properties[name], valueOf(key))) continue;
    if (
      nearest(
        nameOf(key),
        Object.keys(properties).filter((one) => one !== name),
      ) === undefined
    )
      renamed.set(key, { name, missing });
  }
  return renamed;
}

const isMissing = ({ keyword }: ErrorObject): boolean => keyword === "required";

function nameOf({ params }: ErrorObject): string {
  return String(params["additionalProperty"] ?? params["unevaluatedProperty"]);
}

function valueOf(error: ErrorObject): unknown {
  return (error.data as Readonly<Record<string, unknown>>)[nameOf(error)];
}

/** Whether a key takes a value of such a type. */
function takes(schema: SchemaView | undefined, value: unknown): boolean {
  const type = schema?.type;
  return type === (Array.isArray(value) ? "array" : typeof value);
}

function renamedKey(error: ErrorObject, name: string, options: ExplainOptions): Fault {
  const base = [...options.base, ...pathOfPointer(error.instancePath, options.value)];
  const path = [...base, nameOf(error)];
  const schema = ((error.parentSchema ?? {}) as SchemaView).properties?.[name];
  const what = schema?.description === undefined ? "" : ` (${trimDot(schema.description)})`;
  const message = `\`${formatPath(path)}\` is not a known key`;
  return { path, on: "key", message, fix: `write \`${name}\` in its place${what}` };
}

const UNIONS = new Set(["anyOf", "oneOf", "not"]);

function explain(error: ErrorObject, options: ExplainOptions): Fault {
  const path = [...options.base, ...pathOfPointer(error.instancePath, options.value)];
  const where = path.length === 0 ? "the file" : `\`${formatPath(path)}\``;
  const parameters = error.params as Readonly<Record<string, unknown>>;
  const schema = (error.parentSchema ?? {}) as SchemaView;
  const standIn = options.standIn(path);
  const found = standIn ?? show(error.data);
  const fault = (message: string, fix: string): Fault => ({ path, on: "value", message, fix });

  switch (error.keyword) {
    case "additionalProperties":
    case "unevaluatedProperties":
      return unknownKeyOf(error, [...path, nameOf(error)], options);
    case "required":
    case "dependentRequired":
      return missingKey(path, where, String(parameters["missingProperty"]), schema);
    case "type":
      return fault(
        `${where} must be ${typeNames(parameters["type"])}, not ${typeOf(error.data, standIn)}`,
        exampleFix(path, parameters["type"], schema) ??
          typeFix(parameters["type"], schema, error.data),
      );
    case "enum": {
      const allowed = (parameters["allowedValues"] as readonly unknown[]).map(String);
      return wrongName(path, where, found, error.data, allowed);
    }
    case "const": {
      const only = show(parameters["allowedValue"]);
      return fault(`${where} must be ${only}, not ${found}`, `write ${only}`);
    }
    case "uniqueItems":
      return fault(
        `${where} lists an entry twice (entries ${Number(parameters["i"]) + 1} and ${Number(parameters["j"]) + 1})`,
        "keep one of the two",
      );
    case "format":
      return fault(
        `${where} is ${found}, which is not ${formatName(parameters["format"])}`,
        `write ${formatExample(parameters["format"])}`,
      );
    case "pattern":
      return fault(`${where} is ${found}, which has the wrong form`, `write ${describe(schema)}`);
    case "anyOf":
    case "oneOf":
      return fault(`${where} has none of its allowed forms`, `write ${describe(schema)}`);
    default: {
      const limit = String(parameters["limit"] ?? parameters["multipleOf"]);
      const bound = explainBound(error.keyword, limit, { where, found, schema });
      return bound === undefined
        ? fault(
            `${where} is invalid: it ${error.message ?? "breaks a rule"}`,
            `write ${describe(schema)}`,
          )
        : fault(...bound);
    }
  }
}

function missingKey(path: Path, where: string, key: string, { properties }: SchemaView): Fault {
  const description = properties?.[key]?.description;
  const what = description === undefined ? "" : ` (${trimDot(description)})`;
  return { path, on: "key", message: `${where} lacks \`${key}\``, fix: `add \`${key}:\`${what}` };
}

interface Bounded {
  readonly where: string;
  readonly found: string;
  readonly schema: SchemaView;
}

/** The message and the fix of a value outside its bounds; `undefined` for another keyword. */
function explainBound(
  keyword: string,
  limit: string,
  { where, found, schema }: Bounded,
): readonly [message: string, fix: string] | undefined {
  switch (keyword) {
    case "minimum":
      return [`${where} must be at least ${limit}, not ${found}`, "write a larger number"];
    case "exclusiveMinimum":
      return [`${where} must be more than ${limit}, not ${found}`, "write a larger number"];
    case "maximum":
      return [`${where} must be at most ${limit}, not ${found}`, "write a smaller number"];
    case "exclusiveMaximum":
      return [`${where} must be less than ${limit}, not ${found}`, "write a smaller number"];
    case "multipleOf":
      return [`${where} must be a multiple of ${limit}, not ${found}`, "write a multiple of it"];
    case "minItems":
      return [`${where} needs at least ${limit} ${limit === "1" ? "entry" : "entries"}`, "add one"];
    case "maxItems":
      return [`${where} may have ${limit} entries at most`, "remove entries"];
    case "minProperties":
      return [`${where} needs at least ${limit} ${limit === "1" ? "key" : "keys"}`, "add one"];
    case "minLength":
      return [
        `${where} ${limit === "1" ? "is empty" : `needs at least ${limit} characters`}`,
        `write ${describe(schema)}`,
      ];
    case "maxLength":
      return [`${where} may have ${limit} characters at most`, "shorten it"];
    default:
      return undefined;
  }
}

/** The schema's own example of a section: that it has keys does not say which. */
function exampleFix(path: Path, type: unknown, schema: SchemaView): string | undefined {
  const example = schema["x-example"];
  return example === undefined || type !== "object"
    ? undefined
    : `write \`${String(path.at(-1))}: ${example}\``;
}

function unknownKeyOf(error: ErrorObject, at: Path, options: ExplainOptions): Fault {
  const known = Object.keys(((error.parentSchema ?? {}) as SchemaView).properties ?? {});
  const above = emptyAbove(error.data, nameOf(error), known);
  return unknownKey(at, known, above ?? options.elsewhere?.(at));
}

/** What to do about unknown keys behind a section without a value: they may be its own. */
function emptyAbove(section: unknown, key: string, known: readonly string[]): string | undefined {
  const entries = Object.entries(section as object) as [string, unknown][];
  const before = entries.slice(
    0,
    entries.findIndex(([name]) => name === key),
  );
  const above = before.findLast(([name, value]) => value === null || known.includes(name));
  return above?.[1] === null
    ? `indent it: \`${above[0]}\` above it has no value, and may be its section`
    : undefined;
}

/** The fault of a key that does not exist. */
function unknownKey(path: Path, known: readonly string[], elsewhere: string | undefined): Fault {
  const key = String(path.at(-1));
  const other = otherName(key, known);
  const meant = nearest(key, known);
  const fix =
    other !== undefined
      ? other
      : meant !== undefined
        ? `did you mean \`${meant}\`?`
        : (elsewhere ??
          (known.length === 0 ? "remove it" : `remove it; the keys here are ${known.join(", ")}`));
  return { path, on: "key", message: `\`${formatPath(path)}\` is not a known key`, fix };
}

/** The fix for a name that is not there: the nearest one, or all of them. */
export function nameFix(name: string, known: readonly string[], otherwise?: string): string {
  const meant = nearest(name, known);
  if (meant !== undefined) return `did you mean \`${meant}\`?`;
  return [
    ...(known.length === 0 ? [] : [`write ${listOf(known)}`]),
    ...(otherwise === undefined ? [] : [otherwise]),
  ].join(", or ");
}

function wrongName(
  path: Path,
  where: string,
  found: string,
  value: unknown,
  allowed: readonly string[],
): Fault {
  const fix = nameFix(String(value), allowed);
  return { path, on: "value", message: `${where} is ${found}; it can be ${listOf(allowed)}`, fix };
}
