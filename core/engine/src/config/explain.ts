/** What ajv found, in words that a person who edits the file understands. */

import type { ErrorObject } from "ajv/dist/2020.js";

import type { Path } from "./document.ts";
import { nearest } from "./distance.ts";
import { formatPath, pathOfPointer } from "./path.ts";

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
  /** What is shown in place of a value that is a secret or came from a reference; `undefined`: the value itself. */
  standIn(path: Path): string | undefined;
}

/** Explains all errors of one check. Errors that only repeat another are left out. */
export function explainErrors(errors: readonly ErrorObject[], options: ExplainOptions): Fault[] {
  const unions = errors.filter((error) => UNIONS.has(error.keyword)).map((error) => `${error.schemaPath}/`);
  return errors
    .filter(
      (error) => error.keyword !== "if" && error.data !== null && !unions.some((union) => error.schemaPath.startsWith(union)),
    )
    .map((error) => explain(error, options));
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
  const limit = String(parameters["limit"]);

  switch (error.keyword) {
    case "additionalProperties":
    case "unevaluatedProperties": {
      const key = String(parameters["additionalProperty"] ?? parameters["unevaluatedProperty"]);
      return unknownKey([...path, key], Object.keys(schema.properties ?? {}));
    }
    case "required":
    case "dependentRequired": {
      const key = String(parameters["missingProperty"]);
      const description = schema.properties?.[key]?.description;
      return {
        path,
        on: "key",
        message: `${where} lacks \`${key}\``,
        fix: `add \`${key}:\`${description === undefined ? "" : ` (${trimDot(description)})`}`,
      };
    }
    case "type":
      return fault(
        `${where} must be ${typeNames(parameters["type"])}, not ${typeOf(error.data, standIn)}`,
        typeFix(parameters["type"], schema, error.data),
      );
    case "enum":
      return wrongName(path, where, found, error.data, (parameters["allowedValues"] as readonly unknown[]).map(String));
    case "const":
      return fault(
        `${where} must be ${show(parameters["allowedValue"])}, not ${found}`,
        `write ${show(parameters["allowedValue"])}`,
      );
    case "minimum":
    case "exclusiveMinimum":
      return fault(
        `${where} must be ${error.keyword === "minimum" ? "at least" : "more than"} ${limit}, not ${found}`,
        "write a larger number",
      );
    case "maximum":
    case "exclusiveMaximum":
      return fault(
        `${where} must be ${error.keyword === "maximum" ? "at most" : "less than"} ${limit}, not ${found}`,
        "write a smaller number",
      );
    case "multipleOf":
      return fault(`${where} must be a multiple of ${String(parameters["multipleOf"])}, not ${found}`, "write such a number");
    case "minItems":
      return fault(`${where} needs at least ${limit} ${limit === "1" ? "entry" : "entries"}`, "add one");
    case "maxItems":
      return fault(`${where} may have ${limit} entries at most`, "remove some");
    case "minProperties":
      return fault(`${where} needs at least ${limit} ${limit === "1" ? "key" : "keys"}`, "add one");
    case "minLength":
      return fault(`${where} ${limit === "1" ? "is empty" : `needs at least ${limit} characters`}`, `write ${describe(schema)}`);
    case "maxLength":
      return fault(`${where} may have ${limit} characters at most`, "shorten it");
    case "uniqueItems":
      return fault(
        `${where} lists an entry twice (numbers ${Number(parameters["i"]) + 1} and ${Number(parameters["j"]) + 1})`,
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
      return fault(`${where} has none of the forms it may have`, `write ${describe(schema)}`);
    default:
      return fault(`${where} is not as it should be: it ${error.message ?? "breaks a rule"}`, `write ${describe(schema)}`);
  }
}

/** The fault of a key that does not exist. */
export function unknownKey(path: Path, known: readonly string[]): Fault {
  const meant = nearest(String(path.at(-1)), known);
  const fix =
    meant === undefined
      ? known.length === 0
        ? "remove it"
        : `remove it; the keys here are ${known.join(", ")}`
      : `did you mean \`${meant}\`?`;
  return { path, on: "key", message: `\`${formatPath(path)}\` is not a known key`, fix };
}

/** The fix for a name that is not there: the nearest one, or all of them. */
export function nameFix(name: string, known: readonly string[], otherwise?: string): string {
  const meant = nearest(name, known);
  if (meant !== undefined) return `did you mean \`${meant}\`?`;
  return [...(known.length === 0 ? [] : [`write ${listOf(known)}`]), ...(otherwise === undefined ? [] : [otherwise])].join(
    ", or ",
  );
}

/** The part of a schema that explanations read. */
interface SchemaView {
  readonly description?: string;
  readonly default?: unknown;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, SchemaView | undefined>>;
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: "text",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  array: "a list",
  object: "a section with keys",
  null: "nothing",
};

const TYPE_FIXES: Readonly<Record<string, string>> = {
  integer: "write a whole number",
  number: "write a number",
  boolean: "write true or false without quotes",
  array: "write a list: [one, two], or a line `- one` for each",
  object: "write `key: value` pairs below it",
};

const FORMATS: Readonly<Record<string, { readonly name: string; readonly example: string }>> = {
  duration: { name: "a duration", example: "a number and a unit: 250ms, 30s, 10m, 1h, 7d" },
  size: { name: "a size", example: "a number and a unit: 512b, 64kb, 20mb, 1gb" },
  price: { name: "an exact price", example: "US dollars per million tokens with six decimals at most" },
  uri: { name: "a URL", example: "one such as https://api.example.com/v1" },
  email: { name: "an e-mail address", example: "one such as name@example.com" },
};

function wrongName(path: Path, where: string, found: string, value: unknown, allowed: readonly string[]): Fault {
  const fix = nameFix(String(value), allowed);
  return { path, on: "value", message: `${where} is ${found}; it can be ${listOf(allowed)}`, fix };
}

function typeNames(types: unknown): string {
  return listOf((Array.isArray(types) ? types : [types]).map((type) => TYPE_NAMES[String(type)] ?? String(type)));
}

function typeOf(value: unknown, standIn?: string): string {
  if (standIn !== undefined) return `the text of ${standIn}`;
  if (Array.isArray(value)) return "a list";
  if (value === null) return "nothing";
  if (typeof value === "number" || typeof value === "boolean") return `${typeof value === "number" ? "the number " : ""}${value}`;
  return TYPE_NAMES[typeof value] ?? typeof value;
}

function typeFix(types: unknown, schema: SchemaView, value: unknown): string {
  const type = String(Array.isArray(types) ? types[0] : types);
  if (type !== "string")
    return schema.default === undefined || typeof schema.default === "object"
      ? (TYPE_FIXES[type] ?? "correct it")
      : `${TYPE_FIXES[type]}, such as ${show(schema.default)}`;
  if (schema.format !== undefined && FORMATS[schema.format] !== undefined) return `write ${formatExample(schema.format)}`;
  return typeof value === "object" ? `write ${describe(schema)}` : "put it in quotes";
}

function formatName(format: unknown): string {
  return FORMATS[String(format)]?.name ?? `of the form "${String(format)}"`;
}

function formatExample(format: unknown): string {
  return FORMATS[String(format)]?.example ?? `text of the form "${String(format)}"`;
}

function describe(schema: SchemaView): string {
  return schema.description === undefined ? "what belongs there" : `what belongs there: ${trimDot(schema.description)}`;
}

function trimDot(text: string): string {
  return text.replace(/\.$/, "");
}

function listOf(words: readonly string[]): string {
  return words.length < 2 ? (words[0] ?? "nothing") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}

function show(value: unknown): string {
  if (typeof value === "object" && value !== null) return typeOf(value);
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
