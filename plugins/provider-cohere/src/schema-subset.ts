/** What Cohere's structured output takes of JSON Schema (docs.cohere.com/docs/structured-outputs, "Unsupported schema features"). */

import type { SchemaSubset } from "@sluice/kit/dialect";

/** A `pattern` may hold neither anchors nor look-ahead there, so it is told in words. */
export const OUTPUT_SCHEMA: SchemaSubset = {
  keywords: new Set([
    "$defs",
    "$ref",
    "type",
    "anyOf",
    "enum",
    "const",
    "title",
    "description",
    "properties",
    "required",
    "items",
    "format",
    "additionalProperties",
  ]),
  formats: new Set(["date-time", "uuid", "date", "time"]),
  oneOf: "anyOf",
  allOf: "merge",
};
