/**
 * Embeddings requests of the reference dialect: the four forms of `input`, and the optional fields.
 */

import type { ClientRequest, GatewayRequest, JsonDocument, JsonValue } from "@sluice/contract";
import { compileFields, type FieldTable, invalidField } from "./body-fields.ts";
import { GATEWAY_FIELDS } from "./gateway-fields/table.ts";
import { takeGatewayFields } from "./gateway-fields/gateway-fields.ts";

/** Maximum of inputs of one request (platform.openai.com/docs/api-reference/embeddings/create). */
const MAX_INPUTS = 2_048;

/** Every field that an embeddings request may hold and the gateway knows. */
export const EMBEDDINGS_BODY: FieldTable = {
  ...GATEWAY_FIELDS,
  input: {
    isRequired: true,
    schema: {
      anyOf: [
        { type: "string", minLength: 1 },
        { type: "array", minItems: 1 },
      ],
      description: `A text, an array of texts, an array of tokens, or an array of token arrays; ${MAX_INPUTS} inputs at most, none empty.`,
      examples: [["The first text.", "The second text."]],
    },
  },
  encoding_format: {
    schema: {
      type: "string",
      enum: ["float", "base64"],
      description: "How a vector is written: numbers, or base64 of little-endian float32.",
      examples: ["float"],
    },
  },
  dimensions: {
    schema: {
      type: "integer",
      minimum: 1,
      description: "Numbers in a vector, for models that can shorten it.",
      examples: [256],
    },
  },
  user: {
    schema: {
      type: "string",
      description: "The end user, for the spend row and the provider.",
      examples: ["alice"],
    },
  },
};

const checkFields = compileFields(EMBEDDINGS_BODY);

/** The request of an embeddings body. Throws `invalid_field` with the field's name. */
export function receiveEmbeddings(document: JsonDocument, client: ClientRequest): GatewayRequest {
  const { value } = document;
  checkFields(value);
  if (Array.isArray(value.input)) checkInputs(value.input);
  return { ...takeGatewayFields(document, client), stream: false, includeUsage: false };
}

/** Texts, tokens, or arrays of tokens: one form for all of them, and none of them empty. */
function checkInputs(input: readonly JsonValue[]): void {
  const [first] = input;
  if (typeof first === "number") {
    checkTokens(input, ["input"]);
    return;
  }
  if (input.length > MAX_INPUTS)
    throw invalidField(["input"], `must not hold more than ${MAX_INPUTS} inputs`);
  if (typeof first === "string") input.forEach(checkText);
  else if (Array.isArray(first))
    input.forEach((tokens, index) => checkTokens(tokens, ["input", index]));
  else throw invalidField(["input", 0], "must be a string, a token or an array of tokens");
}

function checkText(text: JsonValue, index: number): void {
  if (typeof text !== "string")
    throw invalidField(["input", index], "must be a string, as the first input is");
  if (text === "") throw invalidField(["input", index], "must not be an empty string");
}

function checkTokens(tokens: JsonValue, place: readonly (string | number)[]): void {
  if (!Array.isArray(tokens))
    throw invalidField(place, "must be an array of tokens, as the first input is");
  if (tokens.length === 0) throw invalidField(place, "must not be empty");
  const wrong = (tokens as readonly JsonValue[]).findIndex(
    (token) => !Number.isSafeInteger(token) || (token as number) < 0,
  );
  if (wrong >= 0) throw invalidField([...place, wrong], "must be a token: an integer, 0 or more");
}
