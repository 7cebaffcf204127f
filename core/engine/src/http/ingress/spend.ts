/** Bodies of `POST /spend/calculate`: a model with messages, or a reply. */

import type { GatewayRequest, JsonDocument, JsonObject } from "@sluice/contract";
import { compileFields, type FieldTable, invalidField } from "./body-fields.ts";
import { MESSAGES } from "./chat/messages.ts";

/** Every field of a calculation. */
export const SPEND_BODY: FieldTable = {
  model: {
    schema: {
      type: "string",
      minLength: 1,
      description: "The model whose price holds for `messages`.",
      examples: ["gpt-4o-mini"],
    },
  },
  messages: {
    schema: {
      ...MESSAGES,
      description: "A prompt: the cost of its tokens is estimated. Together with `model`.",
    },
  },
  completion_response: {
    schema: {
      type: "object",
      description:
        "A whole chat completion with `model` and `usage`: the cost of its usage. Without `model` and `messages`.",
    },
  },
};

const checkFields = compileFields(SPEND_BODY);
const NO_FIELDS = Object.freeze({});

/**
 * The request of a calculation. Throws `invalid_field` for both forms, for neither, and for half of
 * one.
 */
export function receiveSpend(document: JsonDocument): GatewayRequest {
  const { value } = document;
  checkForm(value);
  checkFields(value);
  return {
    document,
    fields: NO_FIELDS,
    model: typeof value.model === "string" ? value.model : "",
    stream: false,
    includeUsage: false,
    endUser: null,
    tags: [],
    metadata: {},
  };
}

function checkForm({ model, messages, completion_response: reply }: JsonObject): void {
  const hasPrompt = isGiven(model) || isGiven(messages);
  if (isGiven(reply)) {
    if (hasPrompt)
      throw invalidField(
        ["completion_response"],
        "cannot stand beside model or messages: send one form",
      );
    return;
  }
  if (!hasPrompt)
    throw invalidField(
      ["model"],
      "is missing: send it with messages, or send completion_response alone",
    );
  if (!isGiven(model)) throw invalidField(["model"], "is missing");
  if (!isGiven(messages)) throw invalidField(["messages"], "is missing");
}

/** Null counts as absent: clients send it for unset fields. */
function isGiven(field: unknown): boolean {
  return field !== undefined && field !== null;
}
