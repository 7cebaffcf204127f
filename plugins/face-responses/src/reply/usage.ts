/**
 * The usage of a response. Both details are objects with all of their members: Codex needs them.
 */

import { isObject } from "@sluice/kit";
import { tokenCount } from "@sluice/kit/dialect";
import type { JsonObject, JsonValue } from "@sluice/contract";

/** The usage of a reply's usage; null where it is not known. */
export function usageOf(usage: JsonValue | undefined): JsonObject | null {
  if (!isObject(usage)) return null;
  const { prompt_tokens_details: prompt, completion_tokens_details: completion } = usage;
  const input = tokenCount(usage.prompt_tokens);
  const output = tokenCount(usage.completion_tokens);
  if (input === undefined || output === undefined) return null;
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: countIn(prompt, "cached_tokens"),
      cache_write_tokens: countIn(prompt, "cache_write_tokens"),
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: countIn(completion, "reasoning_tokens") },
    total_tokens: tokenCount(usage.total_tokens) ?? input + output,
  };
}

function countIn(details: JsonValue | undefined, name: string): number {
  return isObject(details) ? (tokenCount(details[name]) ?? 0) : 0;
}
