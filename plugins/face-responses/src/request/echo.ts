/**
 * The members of a request that the response object repeats, with their defaults (`Response` of
 * openai-node, `ResponseResource` of openresponses.org).
 */

import { isObject } from "@sluice/kit";
import type { JsonObject, JsonValue } from "@sluice/contract";
import { strictOf } from "./tools.ts";

/** Members by their default. */
const DEFAULTS: JsonObject = {
  background: false,
  conversation: null,
  frequency_penalty: 0,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  presence_penalty: 0,
  previous_response_id: null,
  prompt: null,
  prompt_cache_key: null,
  prompt_cache_retention: null,
  safety_identifier: null,
  service_tier: "auto",
  temperature: 1,
  tool_choice: "auto",
  top_logprobs: 0,
  top_p: 1,
  truncation: "disabled",
  user: null,
};

/** The repeated members. `store` is false until the response is stored. */
export function echoOf(body: JsonObject): JsonObject {
  const same: Record<string, JsonValue | undefined> = {};
  for (const name in DEFAULTS) same[name] = body[name] ?? DEFAULTS[name];
  const reasoning = isObject(body.reasoning) ? body.reasoning : {};
  return {
    ...same,
    reasoning: {
      effort: reasoning.effort ?? null,
      summary: reasoning.summary ?? reasoning.generate_summary ?? null,
    },
    store: false,
    text: textOf(body.text),
    tools: Array.isArray(body.tools) ? body.tools.map(toolOf) : [],
  };
}

function textOf(text: JsonValue | undefined): JsonObject {
  const { format, verbosity } = isObject(text) ? text : {};
  const isSchema = isObject(format) && format.type === "json_schema";
  return {
    format: isObject(format)
      ? { ...(isSchema ? { description: null, strict: false } : {}), ...format }
      : { type: "text" },
    verbosity: verbosity ?? "medium",
  };
}

function toolOf(tool: JsonValue): JsonValue {
  if (!isObject(tool) || tool.type !== "function") return tool;
  return { description: null, parameters: null, ...tool, strict: strictOf(tool) ?? false };
}
