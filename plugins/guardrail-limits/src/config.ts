/** The options of the guardrail `limits`. */

import type { ConfigFault, JsonSchema } from "@sluice/contract";
import { LANGUAGES } from "./language.ts";

/** Bounds of a length. */
export interface LengthConfig {
  readonly max_characters?: number;
  readonly max_tokens?: number;
}

/** Names that may be used, and names that may not. */
export interface NamesConfig {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

/** Options after validation. */
export interface LimitsConfig {
  readonly message?: LengthConfig;
  readonly prompt?: LengthConfig;
  readonly reply?: LengthConfig;
  readonly languages?: readonly string[];
  readonly unknown_language: "pass" | "block";
  readonly tools?: NamesConfig;
  readonly models?: NamesConfig;
}

const MAX = 16_777_216;

function lengthSchema(description: string): JsonSchema {
  return {
    type: "object",
    additionalProperties: false,
    minProperties: 1,
    description,
    properties: {
      max_characters: {
        type: "integer",
        minimum: 1,
        maximum: MAX,
        description: "Characters at most. Example: `20000`.",
      },
      max_tokens: {
        type: "integer",
        minimum: 1,
        maximum: MAX,
        description: "Tokens at most, by estimate: a fourth of the bytes. Example: `5000`.",
      },
    },
  };
}

function namesSchema(description: string): JsonSchema {
  const list = {
    type: "array",
    minItems: 1,
    items: { type: "string", pattern: "^[^*]*\\*?$", minLength: 1 },
  };
  return {
    type: "object",
    additionalProperties: false,
    minProperties: 1,
    description,
    properties: {
      allow: {
        ...list,
        description:
          "Nothing but these; `*` at the end stands for any rest. Example: `[search, read_*]`.",
      },
      deny: {
        ...list,
        description: "None of these, whatever `allow` says. Example: `[delete_*]`.",
      },
    },
  };
}

export const limitsSchema: JsonSchema = {
  type: "object",
  properties: {
    message: lengthSchema(
      "Bounds of each text of a request: a message, a tool's result, a description.",
    ),
    prompt: lengthSchema("Bounds of all texts of a request together."),
    reply: lengthSchema(
      "Bounds of each text of a reply. With `max_tokens` streams need `stream: hold`.",
    ),
    languages: {
      type: "array",
      minItems: 1,
      uniqueItems: true,
      items: { type: "string", enum: LANGUAGES },
      description:
        "Languages that prompts and replies may be in. With it streams need `stream: hold`. Example: `[en, de]`.",
    },
    unknown_language: {
      type: "string",
      enum: ["pass", "block"],
      default: "pass",
      description:
        "The rule for a text without a detected language: short texts, code, numbers, other languages.",
    },
    tools: namesSchema("Tools that a request may offer, and a reply may call."),
    models: namesSchema("Models that a request may name."),
  },
};

/** Faults that the schema cannot say. */
export function limitsFaults(config: LimitsConfig): ConfigFault[] {
  const { message, prompt, reply, languages, tools, models } = config;
  if ([message, prompt, reply, languages, tools, models].some((limit) => limit !== undefined))
    return [];
  return [
    {
      path: [],
      message: "The guardrail limits nothing",
      fix: "add message, prompt, reply, languages, tools or models",
    },
  ];
}
