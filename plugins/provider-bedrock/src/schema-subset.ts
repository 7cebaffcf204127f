/**
 * The subset of JSON Schema in Bedrock
 * (docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html): no recursion, no bounds of
 * numbers and texts, closed objects.
 */

import { type Refuse, Schema } from "@sluice/kit/dialect";
import type { JsonObject } from "@sluice/contract";

/** For structured output and for tools that are `strict`. */
export const STRICT_SCHEMA: Schema.Subset = {
  keywords: new Set([
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
  references: "inline",
  oneOf: "anyOf",
  objects: "closed",
};

/** Keywords without effect on the arguments, or with the default effect. */
const TELLING = new Set([
  "$schema",
  "$id",
  "$defs",
  "definitions",
  "title",
  "description",
  "additionalProperties",
]);

/**
 * A tool's schema for Nova: its top level has type, properties and required alone
 * (docs.aws.amazon.com/nova/latest/userguide/tool-use-definition.html;
 * …/prompting-tool-troubleshooting.html names `$schema`, `description`, `title` and
 * `additionalProperties` as what makes it ignore a tool). References are inlined, constraints of
 * the whole refused.
 */
export function novaSchema(schema: JsonObject, path: string, refuse: Refuse): JsonObject {
  const inlined = Schema.lower(schema, { references: "inline" }, path, refuse);
  const { type, properties = {}, required, ...rest } = inlined;
  const odd = Object.keys(rest).find((keyword) => !TELLING.has(keyword));
  if (odd !== undefined)
    return refuse(
      `${path}.${odd}`,
      `the keyword ${odd.slice(0, 64)} at the top of a tool's schema`,
    );
  return { type: type ?? "object", properties, ...(required === undefined ? {} : { required }) };
}
