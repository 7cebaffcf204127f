/** Schemas of the gateway's replies, by operation. Data. */

import type { JsonSchema, Operation } from "@sluice/contract";

const STRING: JsonSchema = { type: "string" };
const INTEGER: JsonSchema = { type: "integer" };
const object = (
  properties: JsonSchema,
  required: readonly string[],
  description?: string,
): JsonSchema => ({
  type: "object",
  ...(description === undefined ? {} : { description }),
  required,
  properties,
});
const list = (items: JsonSchema): JsonSchema => ({ type: "array", items });

const USAGE = object(
  {
    prompt_tokens: INTEGER,
    completion_tokens: INTEGER,
    total_tokens: INTEGER,
    prompt_tokens_details: { type: "object" },
    completion_tokens_details: { type: "object" },
  },
  ["prompt_tokens", "total_tokens"],
);

const MESSAGE = object(
  {
    role: { const: "assistant" },
    content: { type: ["string", "null"] },
    refusal: { type: ["string", "null"] },
    tool_calls: list({ type: "object" }),
    annotations: list({ type: "object" }),
    audio: { type: ["object", "null"] },
    reasoning_content: { type: ["string", "null"] },
  },
  ["role"],
);

/** Every error's body. */
export const ERROR_SCHEMA = object(
  {
    error: object(
      {
        message: { ...STRING, description: "What is wrong, which, and what to do." },
        type: { ...STRING, description: "The class of the error." },
        code: { ...INTEGER, description: "The HTTP status." },
        param: {
          type: ["string", "null"],
          description: "The field, guardrail or parameter that is meant.",
        },
      },
      ["message", "type", "code", "param"],
    ),
  },
  ["error"],
);

const MODEL = object(
  {
    id: STRING,
    object: { const: "model" },
    created: INTEGER,
    owned_by: STRING,
    metadata: { type: "object" },
  },
  ["id", "object"],
);

/**
 * The reply of an operation. Members that are not named are allowed everywhere: an upstream may
 * send more.
 */
export const REPLIES: Readonly<Record<Operation, JsonSchema>> = {
  chat: object(
    {
      id: STRING,
      object: { const: "chat.completion" },
      created: INTEGER,
      model: STRING,
      choices: list(
        object({ index: INTEGER, message: MESSAGE, finish_reason: { type: ["string", "null"] } }, [
          "message",
        ]),
      ),
      usage: USAGE,
    },
    ["id", "object", "created", "model", "choices"],
    "A chat completion. A stream sends `chat.completion.chunk` objects as server-sent events and ends with `data: [DONE]`.",
  ),
  embeddings: object(
    {
      object: { const: "list" },
      model: STRING,
      data: list(
        object(
          {
            object: { const: "embedding" },
            index: INTEGER,
            embedding: { anyOf: [list({ type: "number" }), STRING] },
          },
          ["embedding"],
        ),
      ),
      usage: USAGE,
    },
    ["object", "data", "model"],
    "One embedding for each input, in the order of the inputs.",
  ),
  images: object(
    {
      created: INTEGER,
      data: list(object({ url: STRING, b64_json: STRING, revised_prompt: STRING }, [])),
    },
    ["created", "data"],
    "One item for each image, with `url` or `b64_json`.",
  ),
  passthrough: { description: "Whatever the upstream answers, byte for byte." },
  models: { anyOf: [object({ object: { const: "list" }, data: list(MODEL) }, ["data"]), MODEL] },
  tokens: object({ object: { const: "token_count" }, input_tokens: INTEGER }, ["input_tokens"]),
  responses: { type: "object" },
  spend: {
    anyOf: [
      list({ type: "object" }),
      object({ data: list({ type: "object" }) }, ["data"]),
      object({ cost: { type: ["number", "null"] } }, ["cost"]),
    ],
  },
};
