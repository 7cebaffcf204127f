/**
 * The subset of JSON Schema for Cohere's structured output
 * (docs.cohere.com/docs/structured-outputs, "Unsupported schema features").
 */

import type { Schema } from "@sluice/kit/dialect";

/** A `pattern` cannot hold anchors or look-ahead there, so the description expresses it. */
export const OUTPUT_SCHEMA: Schema.Subset = {
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
