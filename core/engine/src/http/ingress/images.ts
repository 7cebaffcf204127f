/** Image requests of the reference dialect. Which sizes and qualities there are is the model's affair. */

import type { ClientRequest, GatewayRequest, JsonDocument, JsonValue } from "@sluice/spec";
import { checkFields, type FieldRule, isCount, isString, requestOf, requireString } from "./fields.ts";

const isPercentage = (field: JsonValue): boolean =>
  typeof field === "number" && Number.isInteger(field) && field >= 0 && field <= 100;

const RULES: readonly FieldRule[] = [
  ["n", "a whole number greater than 0", isCount],
  ["size", "a string, such as 1024x1024", isString],
  ["quality", "a string", isString],
  ["style", "a string", isString],
  ["background", "a string", isString],
  ["output_format", "a string", isString],
  ["moderation", "a string", isString],
  ["output_compression", "a whole number from 0 to 100", isPercentage],
  ["response_format", '"url" or "b64_json"', (field) => field === "url" || field === "b64_json"],
];

/** The request of an image body. Throws `invalid_field` with the field's name. */
export function receiveImages(document: JsonDocument, client: ClientRequest): GatewayRequest {
  const { value } = document;
  const model = requireString(value, "model");
  requireString(value, "prompt");
  checkFields(value, RULES);
  return requestOf(document, client, model);
}
