/**
 * The members of a request that the response object repeats, with their defaults (`Response` of
 * openai-node, `ResponseResource` of openresponses.org).
 */

import { isObject } from "@sluice/kit";
import type { JsonObject, JsonValue } from "@sluice/contract";
import { strictOf } from "./tools.ts";

/**
 * The repeated members. One object literal: each request of the face makes it. `store` is false
 * until the response is stored.
 */
export function echoOf(body: JsonObject): JsonObject {
  const reasoning = isObject(body.reasoning) ? body.reasoning : undefined;
  return {
    background: body.background ?? false,
    conversation: body.conversation ?? null,
    frequency_penalty: body.frequency_penalty ?? 0,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    max_tool_calls: body.max_tool_calls ?? null,
    metadata: body.metadata ?? {},
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    presence_penalty: body.presence_penalty ?? 0,
    previous_response_id: body.previous_response_id ?? null,
    prompt: body.prompt ?? null,
    prompt_cache_key: body.prompt_cache_key ?? null,
    prompt_cache_retention: body.prompt_cache_retention ?? null,
    safety_identifier: body.safety_identifier ?? null,
    service_tier: body.service_tier ?? "auto",
    temperature: body.temperature ?? 1,
    tool_choice: body.tool_choice ?? "auto",
    top_logprobs: body.top_logprobs ?? 0,
    top_p: body.top_p ?? 1,
    truncation: body.truncation ?? "disabled",
    user: body.user ?? null,
    reasoning: {
      effort: reasoning?.effort ?? null,
      summary: reasoning?.summary ?? reasoning?.generate_summary ?? null,
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
