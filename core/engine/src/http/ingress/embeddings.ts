/** Embeddings requests of the reference dialect: the four forms of `input`, and the optional fields. */

import type { ClientRequest, GatewayRequest, JsonDocument, JsonValue } from "@sluice/spec";
import { checkFields, type FieldRule, invalid, isCount, requestOf, requireString } from "./fields.ts";

/** Inputs of one request at most (platform.openai.com/docs/api-reference/embeddings/create). */
const MAX_INPUTS = 2_048;

const RULES: readonly FieldRule[] = [
  ["encoding_format", '"float" or "base64"', (field) => field === "float" || field === "base64"],
  ["dimensions", "a whole number greater than 0", isCount],
];

/** The request of an embeddings body. Throws `invalid_field` with the field's name. */
export function receiveEmbeddings(document: JsonDocument, client: ClientRequest): GatewayRequest {
  const { value } = document;
  const model = requireString(value, "model");
  checkInput(value.input);
  checkFields(value, RULES);
  return requestOf(document, client, model);
}

/** A text, texts, tokens, or arrays of tokens: one form for all of them, and none of them empty. */
function checkInput(input: JsonValue | undefined): void {
  if (typeof input === "string") {
    if (input === "") throw invalid("input", "The field input must not be an empty string.");
    return;
  }
  if (input === undefined || input === null) throw invalid("input", "The field input is missing.");
  if (!Array.isArray(input)) throw invalid("input", "The field input must be a string or an array.");
  if (input.length === 0) throw invalid("input", "The field input must not be an empty array.");
  const [first] = input as readonly JsonValue[];
  if (typeof first === "number") {
    checkTokens(input, "input");
    return;
  }
  if (input.length > MAX_INPUTS) {
    throw invalid("input", `The field input must not hold more than ${MAX_INPUTS} inputs; this one holds ${input.length}.`);
  }
  if (typeof first === "string") input.forEach(checkText);
  else if (Array.isArray(first)) input.forEach((tokens, index) => checkTokens(tokens, `input[${index}]`));
  else throw invalid("input[0]", "input[0] must be a string, a token or an array of tokens.");
}

function checkText(text: JsonValue, index: number): void {
  if (typeof text !== "string") throw invalid(`input[${index}]`, `input[${index}] must be a string, as input[0] is.`);
  if (text === "") throw invalid(`input[${index}]`, `input[${index}] must not be an empty string.`);
}

function checkTokens(tokens: JsonValue | undefined, name: string): void {
  if (!Array.isArray(tokens)) throw invalid(name, `${name} must be an array of tokens, as input[0] is.`);
  if (tokens.length === 0) throw invalid(name, `${name} must not be an empty array.`);
  const wrong = tokens.findIndex((token) => !Number.isSafeInteger(token) || token < 0);
  if (wrong >= 0) throw invalid(`${name}[${wrong}]`, `${name}[${wrong}] must be a token: a whole number that is not negative.`);
}
