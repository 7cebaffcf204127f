/** Values against schemas: ajv, compiled when first needed and once for each schema. */

import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";

import type { JsonSchema } from "@sluice/contract";

import { parseDecimal } from "../prices/decimal.ts";
import type { Path } from "../files/document.ts";
import { parseDuration } from "@sluice/kit";
import { parseSize } from "@sluice/runtime";
import { pathOfPointer } from "../files/path.ts";

/** What a check found. Defaults are filled into the value. */
export interface CheckResult {
  readonly errors: readonly ErrorObject[];
  /** Where the schema marks a text as a secret (`"x-secret": true`). */
  readonly secrets: readonly Path[];
}

/** Checks a value and fills in defaults. Throws an Error when the schema itself is at fault. */
export function checkValue(schema: JsonSchema, value: unknown): CheckResult {
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

/** Compiled schemas by identity: static schemas live for ever, a plugin's as long as its definition. */
const compiled = new WeakMap<JsonSchema, ValidateFunction>();
let ajv: Ajv2020 | undefined;
/** Filled by the keyword below during one synchronous validation. */
let secretPointers: string[] = [];

function createAjv(): Ajv2020 {
  // strictTypes and strictRequired judge style, not meaning: plugin authors may write `required` beside `if`.
  const created = new Ajv2020({
    strict: true,
    strictTypes: false,
    strictRequired: false,
    strictTuples: false,
    allErrors: true,
    verbose: true,
    useDefaults: true,
    addUsedSchema: false,
  });
  formats.default(created);
  created.addFormat("duration", (text: string) => parseDuration(text) !== undefined);
  created.addFormat("size", (text: string) => parseSize(text) !== undefined);
  created.addFormat(
    "origin",
    (text: string) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && new URL(text).origin === text,
  );
  created.addFormat("price", {
    type: "number",
    validate: (price: number) => parseDecimal(String(Math.abs(price)), 6) !== undefined,
  });
  created.addVocabulary(["x-unit", "x-example"]);
  created.addKeyword({
    keyword: "x-secret",
    schemaType: "boolean",
    errors: false,
    validate: (isSecret: boolean, data: unknown, _schema: unknown, context?: { instancePath: string }) => {
      if (isSecret && typeof data === "string" && context !== undefined) secretPointers.push(context.instancePath);
      return true;
    },
  });
  return created;
}
