/** Usage in Anthropic's form: the counts of the cache stand beside the input, not within it. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { tokenCount } from "@sluice/kit/dialect";

/** The counts that the last event of a stream has too. Unknown counts are zero. */
export function countsOf(usage: JsonValue | undefined): JsonObject {
  const counts = isObject(usage) ? usage : {};
  const prompt = details(counts.prompt_tokens_details);
  const completion = details(counts.completion_tokens_details);
  const cached = tokenCount(prompt.cached_tokens) ?? 0;
  const written = tokenCount(prompt.cache_write_tokens) ?? 0;
  const thinking = tokenCount(completion.reasoning_tokens);
  return {
    input_tokens: Math.max(0, (tokenCount(counts.prompt_tokens) ?? 0) - cached - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cached,
    output_tokens: tokenCount(counts.completion_tokens) ?? 0,
    ...(thinking === undefined ? {} : { output_tokens_details: { thinking_tokens: thinking } }),
  };
}

const TIERS: ReadonlyMap<JsonValue | undefined, string> = new Map([
  ["standard", "standard"],
  ["default", "standard"],
  ["priority", "priority"],
  ["batch", "batch"],
]);

/** The usage of a whole reply. */
export function usageOf({ usage, service_tier: tier }: JsonObject): JsonObject {
  const prompt = details(isObject(usage) ? usage.prompt_tokens_details : undefined);
  const creation = prompt.cache_creation_token_details;
  const named = TIERS.get(tier);
  return {
    ...countsOf(usage),
    ...(isObject(creation) ? { cache_creation: creation } : {}),
    ...(named === undefined ? {} : { service_tier: named }),
  };
}

function details(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {};
}
