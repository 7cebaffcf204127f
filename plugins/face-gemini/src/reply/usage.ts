/** Usage in the API's counts: those of candidates exclude thoughts. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { Members, tokenCount } from "@sluice/kit/dialect";

/** `usageMetadata` of a usage of the reference dialect. */
export function usageMetadata(usage: JsonValue | undefined): JsonObject | undefined {
  if (!isObject(usage)) return undefined;
  const prompt = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const completion = isObject(usage.completion_tokens_details)
    ? usage.completion_tokens_details
    : {};
  const all = tokenCount(usage.completion_tokens);
  const thoughts = tokenCount(completion.reasoning_tokens);
  const cached = tokenCount(prompt.cached_tokens);
  return Members.present({
    promptTokenCount: tokenCount(usage.prompt_tokens),
    cachedContentTokenCount: cached === 0 ? undefined : cached,
    candidatesTokenCount: all === undefined ? undefined : Math.max(0, all - (thoughts ?? 0)),
    thoughtsTokenCount: thoughts === 0 ? undefined : thoughts,
    totalTokenCount: tokenCount(usage.total_tokens),
  });
}
