/**
 * The fields of a chat request. Types are lenient, and bounds stand only where the reference API
 * refuses as well. Data: the check of a request and the OpenAPI document are both made of it.
 */

import type { JsonSchema } from "@sluice/contract";
import { MESSAGES } from "./messages.ts";
import type { Field, FieldTable } from "../body-fields.ts";

const OBJECT: JsonSchema = { type: "object" };
const FUNCTION_NAME: JsonSchema = {
  type: "string",
  pattern: "^[A-Za-z0-9_-]{1,64}$",
  "x-words": "a name of 1 to 64 letters, digits, hyphens and underscores",
};
const FUNCTION: JsonSchema = {
  type: "object",
  required: ["name"],
  properties: {
    name: FUNCTION_NAME,
    description: { type: ["string", "null"] },
    parameters: { type: ["object", "null"] },
    strict: { type: ["boolean", "null"] },
  },
};
const NAMED: JsonSchema = {
  type: "object",
  required: ["name"],
  properties: { name: { type: "string" } },
};

const field = (description: string, example: JsonSchema[string], schema: JsonSchema): Field => ({
  schema: { ...schema, description, ...(example === undefined ? {} : { examples: [example] }) },
});
const flag = (description: string): Field => field(description, true, { type: "boolean" });
const text = (description: string, example: string): Field =>
  field(description, example, { type: "string" });
const number = (description: string, example: number, minimum: number, maximum: number): Field =>
  field(description, example, { type: "number", minimum, maximum });
const object = (
  description: string,
  example: JsonSchema,
  properties: JsonSchema = {},
  required: readonly string[] = [],
): Field => field(description, example, { ...OBJECT, required, properties });

/** An object or word that says how something is chosen. */
function choice(
  description: string,
  example: JsonSchema[string],
  words: readonly string[],
  forms: JsonSchema,
): Field {
  return field(description, example, { anyOf: [{ type: "string", enum: words }, forms] });
}

/** One of several objects, distinguished by `type`. Other types are a provider's own. */
function typed(...forms: readonly JsonSchema[]): JsonSchema {
  return { type: "object", discriminator: { propertyName: "type" }, anyOf: forms };
}

function form(type: string, member: JsonSchema, name = type): JsonSchema {
  return {
    type: "object",
    required: ["type", name],
    properties: { type: { const: type }, [name]: member },
  };
}

const OPEN_FORM: JsonSchema = {
  type: "object",
  required: ["type"],
  properties: { type: { type: "string" } },
};

/** Every field of a chat request that the reference API knows, and nothing of the gateway's own. */
export const CHAT_FIELDS = {
  messages: { isRequired: true, schema: MESSAGES },
  stream: flag("Answer with server-sent events."),
  stream_options: object(
    "Options of a stream; only together with `stream: true`.",
    { include_usage: true },
    {
      include_usage: { type: ["boolean", "null"] },
      include_obfuscation: { type: ["boolean", "null"] },
    },
  ),
  temperature: number("Sampling temperature.", 0.7, 0, 2),
  top_p: number("Nucleus sampling: the probability mass that is considered.", 1, 0, 1),
  max_tokens: field("The most tokens of the answer. Older name of `max_completion_tokens`.", 256, {
    type: "integer",
    minimum: 0,
  }),
  max_completion_tokens: field("The most tokens of the answer, reasoning included.", 256, {
    type: "integer",
    minimum: 0,
  }),
  n: field("How many answers to give.", 1, { type: "integer", minimum: 1, maximum: 128 }),
  stop: field("Up to four texts that end the answer.", ["\n"], {
    anyOf: [
      { type: "string" },
      { type: "array", maxItems: 4, "x-words": "an array of strings", items: { type: "string" } },
    ],
  }),
  seed: field("Asks for the same answer to the same request. All 64 bits are kept.", 7, {
    type: "integer",
  }),
  presence_penalty: number("Lowers the probability of what was mentioned.", 0, -2, 2),
  frequency_penalty: number("Lowers the probability of what was repeated.", 0, -2, 2),
  logit_bias: field(
    "Bias by token id.",
    { "50256": -100 },
    {
      type: "object",
      additionalProperties: { type: "number", minimum: -100, maximum: 100 },
    },
  ),
  logprobs: flag("Give log probabilities of the answer's tokens."),
  top_logprobs: field(
    "How many alternatives of each token; only together with `logprobs: true`.",
    5,
    {
      type: "integer",
      minimum: 0,
      maximum: 20,
    },
  ),
  tools: field(
    "Tools that the model may call.",
    [
      {
        type: "function",
        function: {
          name: "weather",
          parameters: { type: "object", properties: { city: { type: "string" } } },
        },
      },
    ],
    { type: "array", items: typed(form("function", FUNCTION), form("custom", NAMED), OPEN_FORM) },
  ),
  tool_choice: choice(
    "Whether and which tool the model calls.",
    "auto",
    ["none", "auto", "required"],
    typed(form("function", NAMED), form("custom", NAMED), form("allowed_tools", OBJECT), OPEN_FORM),
  ),
  parallel_tool_calls: flag("Whether the model may call several tools at once."),
  functions: field("Older form of `tools`.", undefined, {
    type: "array",
    minItems: 1,
    items: FUNCTION,
  }),
  function_call: choice("Older form of `tool_choice`.", "auto", ["none", "auto"], NAMED),
  response_format: field(
    "The form of the answer: text, JSON, or JSON of a schema.",
    { type: "json_object" },
    {
      ...typed(
        { type: "object", required: ["type"], properties: { type: { const: "text" } } },
        { type: "object", required: ["type"], properties: { type: { const: "json_object" } } },
        form("json_schema", {
          type: "object",
          required: ["name"],
          properties: {
            name: FUNCTION_NAME,
            schema: OBJECT,
            strict: { type: ["boolean", "null"] },
            description: { type: ["string", "null"] },
          },
        }),
        OPEN_FORM,
      ),
    },
  ),
  prediction: object(
    "Text that the answer will mostly repeat.",
    { type: "content", content: "…" },
    {
      type: { type: "string" },
      content: { anyOf: [{ type: "string" }, { type: "array" }] },
    },
    ["type", "content"],
  ),
  modalities: field("Kinds of output.", ["text"], { type: "array", items: { type: "string" } }),
  audio: object(
    "The voice and the format of spoken output.",
    { voice: "alloy", format: "mp3" },
    {
      voice: { anyOf: [{ type: "string" }, OBJECT] },
      format: { type: "string" },
    },
  ),
  reasoning_effort: text("How much a reasoning model reasons.", "low"),
  verbosity: text("How long the answer is.", "medium"),
  service_tier: text("The provider's class of service.", "auto"),
  store: flag("Whether the provider keeps the answer for its own products."),
  web_search_options: object("Options of the model's own web search.", {
    search_context_size: "low",
  }),
  thinking: object("Extended thinking, in the words of providers that have it.", {
    type: "enabled",
    budget_tokens: 1024,
  }),
  user: text("The end user, for the spend row and the provider's abuse monitoring.", "user-1234"),
  safety_identifier: text("A stable identifier of the end user.", "user-1234"),
  prompt_cache_key: text("Groups requests for the provider's prompt cache.", "support-bot"),
  prompt_cache_retention: text("How long the provider's prompt cache keeps the prompt.", "24h"),
} as const satisfies FieldTable;
