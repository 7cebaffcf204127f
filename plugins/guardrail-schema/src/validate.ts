/**
 * The operator's schema, compiled. Its patterns run on an engine whose time grows with the text
 * alone.
 */

import { createRequire } from "node:module";
import type { ValidateFunction } from "ajv/dist/2020.js";
import type { RE2JS } from "re2js";

/** Which keyword a value failed; `undefined` for one that fits. */
export type Validate = (value: unknown) => string | undefined;

/**
 * A pattern in ajv's interface. ajv identifies patterns by their text, so equal texts share one.
 */
const linearBy = (engine: typeof RE2JS) =>
  Object.assign(
    (
      pattern: string,
    ): { readonly test: (text: string) => boolean; readonly toString: () => string } => {
      const compiled = engine.compile(pattern);
      return { test: (text) => compiled.matcher(text).find(), toString: () => pattern };
    },
    { code: "linear" },
  );

/**
 * Formats whose patterns ajv-formats runs natively are bounded by it; `regex` would compile what a
 * model wrote.
 */
const FORMATS = [
  "date",
  "time",
  "date-time",
  "duration",
  "uri",
  "email",
  "hostname",
  "ipv4",
  "ipv6",
  "uuid",
] as const;

/**
 * Compiles a schema. Throws an Error for one that is at fault, or whose patterns look ahead or
 * back.
 */
export function compileSchema(schema: object): Validate {
  // Loaded with the first schema: a gateway without this guardrail needs no compiler.
  const require = createRequire(import.meta.url);
  const { Ajv2020 } = require("ajv/dist/2020.js") as typeof import("ajv/dist/2020.js");
  const formats = require("ajv-formats") as typeof import("ajv-formats");
  const { RE2JS } = require("re2js") as typeof import("re2js");
  const ajv = new Ajv2020({
    strict: true,
    strictTypes: false,
    strictRequired: false,
    strictTuples: false,
    allErrors: false,
    addUsedSchema: false,
    // References to other documents are not loaded: the schema is the configured one only.
    code: { regExp: linearBy(RE2JS) as never },
  });
  formats.default(ajv, { mode: "fast", formats: [...FORMATS] });
  const validate: ValidateFunction = ajv.compile(schema);
  return (value) => {
    if (validate(value) === true) return undefined;
    return validate.errors?.[0]?.keyword ?? "schema";
  };
}
