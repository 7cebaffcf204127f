/** Responses with errors, and schemas as documents show them. */

import { ERROR_CODES, type JsonObject, type JsonSchema, type JsonValue } from "@sluice/contract";
import { isObject, parseJson } from "@sluice/kit";

/** One response for each status of the table of codes. 499 is left out: no client receives it. */
export function errorResponses(): JsonObject {
  const content = { "application/json": { schema: { $ref: "#/components/schemas/Error" } } };
  const responses: Record<string, JsonValue> = {
    Error: { description: "Any other error.", content },
  };
  for (const { status, when } of Object.values(ERROR_CODES)) {
    if (status === 499) continue;
    const earlier = responses[`Error${status}`];
    const said = isObject(earlier) ? `${String(earlier.description)} ${when}` : when;
    responses[`Error${status}`] = { description: said, content };
  }
  return responses;
}

/** References to them, by status. */
export function errorReferences(): JsonObject {
  const names = Object.keys(errorResponses()).filter((name) => name !== "Error");
  return Object.fromEntries(
    names.map((name) => [name.slice("Error".length), { $ref: `#/components/responses/${name}` }]),
  );
}

/** A schema without the words that only the check reads. */
export function documented(schema: JsonSchema): JsonSchema {
  return parseJson(
    JSON.stringify(schema, (name, value: unknown) => (name === "x-words" ? undefined : value)),
  ) as JsonSchema;
}
