/** The subsets of JSON Schema for Google's models, in its two forms. Data. */

import type { Schema } from "@sluice/kit/dialect";

/**
 * `Schema` of the API (`Schema` of @google/genai 2.32.0): OpenAPI's, for every model. Enums are of
 * strings there.
 */
export const OPEN_API_SCHEMA: Schema.Subset = {
  keywords: new Set([
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "items",
    "minItems",
    "maxItems",
    "properties",
    "required",
    "minProperties",
    "maxProperties",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "pattern",
    "anyOf",
    "propertyOrdering",
  ]),
  // Other formats are refused by name: "only 'enum' and 'date-time' are supported for STRING type".
  formats: new Set(["enum", "date-time", "int32", "int64", "float", "double"]),
  references: "inline",
  oneOf: "anyOf",
  allOf: "merge",
  const: "enum",
  typeLists: "nullable",
  enums: "strings",
};

/**
 * `parametersJsonSchema` and `responseJsonSchema`: the keywords that their documentation lists
 * (`responseJsonSchema` of `GenerationConfig`). A reference may stand there alone, without other
 * keywords, so references are inlined here as well.
 */
export const JSON_SCHEMA: Schema.Subset = {
  keywords: new Set([
    "type",
    "format",
    "title",
    "description",
    "enum",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "anyOf",
    "properties",
    "additionalProperties",
    "required",
    "propertyOrdering",
  ]),
  references: "inline",
  oneOf: "anyOf",
  allOf: "merge",
  const: "enum",
};
