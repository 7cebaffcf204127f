/**
 * Values against schemas: by reading the schema, and by ajv where a value has a fault or the schema
 * needs more.
 */

import { createRequire } from "node:module";
import type { Ajv2020, ErrorObject, ValidateFunction } from "ajv/dist/2020.js";

import type { JsonSchema } from "@sluice/contract";

import { conform, NO_TEXTS } from "./conform.ts";
import type { Path } from "../files/document.ts";
import { NUMBER_FORMATS, TEXT_FORMATS } from "./formats.ts";
import { pathOfPointer } from "../files/path.ts";

/** What a check found. Defaults are filled into the value. */
export interface CheckResult {
  /** A text of `unresolved` may have errors, or none. */
  readonly errors: readonly ErrorObject[];
  /** Where the schema marks a text as a secret (`"x-secret": true`). */
  readonly secrets: readonly Path[];
}

/**
 * Checks a value and fills in defaults. `unresolved` are texts that hold references without a
 * value. Throws an Error when the schema itself is at fault.
 */
export function checkValue(
  schema: JsonSchema,
  value: unknown,
  unresolved: ReadonlySet<string> = NO_TEXTS,
): CheckResult {
  const secrets = conform(schema, value, unresolved);
  return secrets === undefined ? checkByAjv(schema, value) : { errors: [], secrets };
}

/** Checks a value by its compiled schema. */
export function checkByAjv(schema: JsonSchema, value: unknown): CheckResult {
  let validate = compiled.get(schema);
  if (validate === undefined) {
    validate = (ajv ??= createAjv()).compile(schema);
    compiled.set(schema, validate);
  }
  secretPointers = [];
  const isValid = validate(value);
  const secrets = secretPointers.map((pointer) => pathOfPointer(pointer, value));
  return { errors: isValid ? [] : [...(validate.errors ?? [])], secrets };
}

/**
 * Compiled schemas by identity: static schemas live for ever, a plugin's as long as its definition.
 */
const compiled = new WeakMap<JsonSchema, ValidateFunction>();
let ajv: Ajv2020 | undefined;
/** Filled by the keyword below during one synchronous validation. */
let secretPointers: string[] = [];

type AjvModule = typeof import("ajv/dist/2020.js");
type FormatsModule = typeof import("ajv-formats");

/**
 * Loads ajv synchronously, as a check is: a process whose configuration has no fault needs none.
 */
function createAjv(): Ajv2020 {
  const require = createRequire(import.meta.url);
  const { Ajv2020 } = require("ajv/dist/2020.js") as AjvModule;
  const formats = require("ajv-formats") as FormatsModule;
  // strictTypes and strictRequired judge style, not meaning: plugin authors may write `required`
  // beside `if`.
  const created = new Ajv2020({
    strict: true,
    strictTypes: false,
    strictRequired: false,
    strictTuples: false,
    allErrors: true,
    verbose: true,
    useDefaults: true,
    addUsedSchema: false,
    // A compiled schema checks a few values: to make its code shorter costs more than that saves.
    code: { optimize: false },
  });
  formats.default(created);
  for (const [name, validate] of Object.entries(TEXT_FORMATS)) created.addFormat(name, validate);
  for (const [name, validate] of Object.entries(NUMBER_FORMATS))
    created.addFormat(name, { type: "number", validate });
  created.addVocabulary(["x-unit", "x-example"]);
  created.addKeyword({
    keyword: "x-secret",
    schemaType: "boolean",
    errors: false,
    validate: (
      isSecret: boolean,
      data: unknown,
      _schema: unknown,
      context?: { instancePath: string },
    ) => {
      if (isSecret && typeof data === "string" && context !== undefined)
        secretPointers.push(context.instancePath);
      return true;
    },
  });
  return created;
}
