/**
 * The subset of JSON Schema for Anthropic's structured output (its SDK 1.11.0,
 * `transformJSONSchema`).
 */

import type { Schema } from "@sluice/kit/dialect";

export const OUTPUT_SCHEMA: Schema.Subset = {
  keywords: new Set([
    "$defs",
    "$ref",
    "type",
    "anyOf",
    "allOf",
    "enum",
    "const",
    "title",
    "description",
    "properties",
    "required",
    "items",
    "minItems",
    "format",
  ]),
  formats: new Set([
    "date-time",
    "time",
    "date",
    "duration",
    "email",
    "hostname",
    "uri",
    "ipv4",
    "ipv6",
    "uuid",
  ]),
  maxMinItems: 1,
  oneOf: "anyOf",
  objects: "closed",
};
