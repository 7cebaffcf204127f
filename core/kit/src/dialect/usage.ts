/** Usage of another dialect: built from its counts, and written in the reference dialect. */

import type { JsonObject, Usage } from "@sluice/contract";
import { present } from "./members.ts";

export { tokenCount } from "../json/token-count.ts";

/** Totals and parts; an `undefined` part is left out. */
export type UsageParts = { readonly [K in keyof Usage]?: Usage[K] | undefined };

/**
 * A usage made of its counts. `promptTokens` is the whole prompt with cached parts,
 * `completionTokens` includes reasoning. A dialect that counts a part separately adds it first.
 * Returns `undefined` when one of the two totals is unknown.
 */
export function usageOf(parts: UsageParts): Usage | undefined {
  const { promptTokens, completionTokens } = parts;
  if (promptTokens === undefined || completionTokens === undefined) return undefined;
  return {
    ...present(parts),
    promptTokens,
    completionTokens,
    totalTokens: promptTokens + completionTokens,
  };
}

/** The usage object of the reference dialect. Unknown details are absent. */
export function usageJson(usage: Usage): JsonObject {
  const prompt = details({
    cached_tokens: usage.cachedTokens,
    cache_write_tokens: usage.cacheWriteTokens,
    audio_tokens: usage.audioPromptTokens,
    image_tokens: usage.imagePromptTokens,
    cache_creation_token_details:
      usage.cacheWrite1hTokens === undefined
        ? undefined
        : {
            ephemeral_5m_input_tokens:
              (usage.cacheWriteTokens ?? usage.cacheWrite1hTokens) - usage.cacheWrite1hTokens,
            ephemeral_1h_input_tokens: usage.cacheWrite1hTokens,
          },
  });
  const completion = details({
    reasoning_tokens: usage.reasoningTokens,
    audio_tokens: usage.audioCompletionTokens,
    image_tokens: usage.imageCompletionTokens,
  });
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.totalTokens,
    ...(prompt === undefined ? {} : { prompt_tokens_details: prompt }),
    ...(completion === undefined ? {} : { completion_tokens_details: completion }),
  };
}

function details(parts: JsonObject): JsonObject | undefined {
  const found = present(parts);
  return Object.keys(found).length === 0 ? undefined : found;
}
