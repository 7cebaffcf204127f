/** Reads the usage object of the reference dialect. */

import type { JsonValue, Usage } from "@sluice/spec";
import { isObject } from "../json/narrow.ts";

/**
 * The usage of a reply or of a usage chunk. Returns `undefined` when there is none or when a total is not a whole number;
 * parts that are missing stay missing.
 */
export function readUsage(value: JsonValue | undefined): Usage | undefined {
  if (!isObject(value)) return undefined;
  const promptTokens = count(value.prompt_tokens);
  // An embeddings usage has no completion.
  const completionTokens = value.completion_tokens === undefined ? 0 : count(value.completion_tokens);
  if (promptTokens === undefined || completionTokens === undefined) return undefined;
  const prompt = isObject(value.prompt_tokens_details) ? value.prompt_tokens_details : {};
  const completion = isObject(value.completion_tokens_details) ? value.completion_tokens_details : {};
  return compact({
    promptTokens,
    completionTokens,
    totalTokens: count(value.total_tokens) ?? promptTokens + completionTokens,
    cachedTokens: count(prompt.cached_tokens),
    reasoningTokens: count(completion.reasoning_tokens),
    audioPromptTokens: count(prompt.audio_tokens),
    audioCompletionTokens: count(completion.audio_tokens),
  });
}

function count(value: JsonValue | undefined): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function compact(usage: { [K in keyof Usage]: Usage[K] | undefined }): Usage {
  for (const name of Object.keys(usage) as (keyof Usage)[]) {
    if (usage[name] === undefined) delete (usage as Record<string, unknown>)[name];
  }
  return usage as Usage;
}
