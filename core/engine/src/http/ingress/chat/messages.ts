/** Messages of a chat request: every role, every kind of content block. Data. */

import type { JsonSchema } from "@sluice/contract";

const TEXT: JsonSchema = { type: "string" };

/** A block of one kind: a member of the block's own name holds what it carries. */
function block(type: string, description: string, member: JsonSchema): JsonSchema {
  return {
    type: "object",
    description,
    required: ["type", type],
    properties: { type: { const: type }, [type]: member },
  };
}

const USER_BLOCKS: readonly JsonSchema[] = [
  block("text", "A text.", TEXT),
  block("image_url", "An image by URL or as a data URL.", {
    type: "object",
    required: ["url"],
    properties: { url: TEXT, detail: { type: ["string", "null"] } },
  }),
  block("input_audio", "A sound as base64.", {
    type: "object",
    required: ["data", "format"],
    properties: { data: TEXT, format: TEXT },
  }),
  {
    type: "object",
    description: "A document: `source` says what it is, as text, base64, a URL or a file's id.",
    required: ["type", "source"],
    properties: {
      type: { const: "document" },
      source: { type: "object", required: ["type"], properties: { type: TEXT } },
      title: { type: ["string", "null"] },
      context: { type: ["string", "null"] },
    },
  },
  {
    type: "object",
    description: "An image as `source` says: base64, a URL or a file's id.",
    required: ["type", "source"],
    properties: {
      type: { const: "image" },
      source: { type: "object", required: ["type"], properties: { type: TEXT } },
    },
  },
  block("native_block", "A block of a face that only its own dialect has.", { type: "object" }),
  block("video_url", "A video by URL.", {
    type: "object",
    required: ["url"],
    properties: { url: TEXT },
  }),
  block("file", "A file by its id, or as base64.", {
    type: "object",
    properties: {
      file_id: { type: ["string", "null"] },
      file_data: { type: ["string", "null"] },
      filename: { type: ["string", "null"] },
    },
  }),
];

const REFUSAL_BLOCK = block("refusal", "A refusal that the model gave earlier.", TEXT);

function content(blocks: readonly JsonSchema[], isNullable = false): JsonSchema {
  const items = { type: "object", discriminator: { propertyName: "type" }, anyOf: [...blocks] };
  const list: JsonSchema = { type: "array", "x-words": "an array of content blocks", items };
  return { anyOf: [TEXT, list, ...(isNullable ? [{ type: "null" }] : [])] };
}

const TOOL_CALLS: JsonSchema = {
  type: ["array", "null"],
  items: {
    type: "object",
    discriminator: { propertyName: "type" },
    anyOf: [
      {
        type: "object",
        required: ["id", "type", "function"],
        properties: {
          id: TEXT,
          type: { const: "function" },
          function: {
            type: "object",
            required: ["name", "arguments"],
            properties: { name: TEXT, arguments: TEXT },
          },
        },
      },
      {
        type: "object",
        required: ["id", "type", "custom"],
        properties: {
          id: TEXT,
          type: { const: "custom" },
          custom: {
            type: "object",
            required: ["name", "input"],
            properties: { name: TEXT, input: TEXT },
          },
        },
      },
    ],
  },
};

const NAME: JsonSchema = { type: ["string", "null"] };

function message(role: string, required: readonly string[], properties: JsonSchema): JsonSchema {
  return {
    type: "object",
    required: ["role", ...required],
    properties: { role: { const: role }, ...properties },
  };
}

/** `messages`: at least one, of six roles. Members that are not named here are kept. */
export const MESSAGES: JsonSchema = {
  type: "array",
  minItems: 1,
  "x-words": "an array with at least one message",
  description: "The conversation so far, oldest message first.",
  examples: [[{ role: "user", content: "Hello" }]],
  items: {
    type: "object",
    discriminator: { propertyName: "role" },
    anyOf: [
      message("system", ["content"], { content: content(USER_BLOCKS), name: NAME }),
      message("developer", ["content"], { content: content(USER_BLOCKS), name: NAME }),
      message("user", ["content"], { content: content(USER_BLOCKS), name: NAME }),
      message("assistant", [], {
        content: content([...USER_BLOCKS, REFUSAL_BLOCK], true),
        name: NAME,
        refusal: { type: ["string", "null"] },
        tool_calls: TOOL_CALLS,
        function_call: {
          type: ["object", "null"],
          required: ["name", "arguments"],
          properties: { name: TEXT, arguments: TEXT },
        },
        audio: { type: ["object", "null"], required: ["id"], properties: { id: TEXT } },
      }),
      message("tool", ["content", "tool_call_id"], {
        content: content(USER_BLOCKS),
        tool_call_id: { type: "string", minLength: 1 },
      }),
      message("function", ["name"], {
        content: content(USER_BLOCKS, true),
        name: { type: "string", minLength: 1 },
      }),
    ],
  },
};
