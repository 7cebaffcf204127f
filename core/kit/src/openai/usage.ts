/** Reads the usage object of the reference dialect, and the additions of compatible layers. */

import type { JsonObject, JsonValue, Usage } from "@sluice/contract";
import { isObject } from "../json/narrow.ts";
import { tokenCount as count } from "../json/token-count.ts";
import { serverToolUses } from "../passthrough/tool-uses.ts";

const NOTHING: JsonObject = {};

/**
 * The usage of a reply or of a usage chunk. `serviceTier` is the reply's `service_tier`; a tier
 * inside the usage (Anthropic's) wins. Returns `undefined` without a usage, or when a total is not
 * a whole number; missing parts stay missing. Layers before Anthropic's models report cache writes
 * beside the reference fields: `cache_creation_input_tokens` and `cache_creation` are read as parts
 * of `prompt_tokens`. Other names of compatible upstreams are read too: `prompt_cache_hit_tokens`
 * (DeepSeek), `cached_tokens` (Moonshot) and `reasoning_tokens` (Perplexity) beside the totals.
 * xAI's cached tokens may exceed its prompt, and its reasoning may count only in the total.
 */
export function readUsage(
  value: JsonValue | undefined,
  serviceTier?: JsonValue,
): Usage | undefined {
  if (!isObject(value)) return undefined;
  const ownPrompt = count(value.prompt_tokens);
  // An embeddings usage has no completion.
  const ownCompletion = value.completion_tokens === undefined ? 0 : count(value.completion_tokens);
  if (ownPrompt === undefined || ownCompletion === undefined) return undefined;
  const prompt = isObject(value.prompt_tokens_details) ? value.prompt_tokens_details : NOTHING;
  const completion = isObject(value.completion_tokens_details)
    ? value.completion_tokens_details
    : NOTHING;
  const cached = isObject(prompt.cached_tokens_details) ? prompt.cached_tokens_details : NOTHING;
  const total = count(value.total_tokens);
  const cachedTokens =
    count(prompt.cached_tokens) ??
    count(value.cache_read_input_tokens) ??
    count(value.prompt_cache_hit_tokens) ??
    count(value.cached_tokens);
  const reasoningTokens = count(completion.reasoning_tokens) ?? count(value.reasoning_tokens);
  const { cacheWriteTokens, cacheWrite1hTokens } = readCacheWrites(value, prompt);
  const isReasoningBeside =
    (reasoningTokens ?? 0) > 0 && total === ownPrompt + ownCompletion + (reasoningTokens ?? 0);
  const promptTokens = ownPrompt + ((cachedTokens ?? 0) > ownPrompt ? (cachedTokens ?? 0) : 0);
  const completionTokens = ownCompletion + (isReasoningBeside ? (reasoningTokens ?? 0) : 0);
  return compact({
    promptTokens,
    completionTokens,
    totalTokens:
      total === undefined || promptTokens !== ownPrompt ? promptTokens + completionTokens : total,
    cachedTokens,
    cacheWriteTokens,
    cacheWrite1hTokens,
    reasoningTokens,
    audioPromptTokens: count(prompt.audio_tokens),
    imagePromptTokens: count(prompt.image_tokens),
    cachedAudioTokens: count(cached.audio_tokens),
    cachedImageTokens: count(cached.image_tokens),
    audioCompletionTokens: count(completion.audio_tokens),
    imageCompletionTokens: count(completion.image_tokens),
    toolUses: serverToolUses(value.server_tool_use),
    serviceTier: word(value.service_tier) ?? word(serviceTier),
  });
}

/**
 * The usage of an images reply, `{input_tokens, output_tokens, input_tokens_details}`, without the
 * images: the caller knows their number, size and quality. Completion tokens are image tokens,
 * except those that the details call text. Returns `undefined` for anything else.
 */
export function readImageUsage(value: JsonValue | undefined): Usage | undefined {
  if (!isObject(value)) return undefined;
  const promptTokens = count(value.input_tokens);
  const completionTokens = count(value.output_tokens);
  if (promptTokens === undefined || completionTokens === undefined) return undefined;
  const input = isObject(value.input_tokens_details) ? value.input_tokens_details : NOTHING;
  const output = isObject(value.output_tokens_details) ? value.output_tokens_details : NOTHING;
  const cached = isObject(input.cached_tokens_details) ? input.cached_tokens_details : NOTHING;
  return compact({
    promptTokens,
    completionTokens,
    totalTokens: count(value.total_tokens) ?? promptTokens + completionTokens,
    cachedTokens: count(input.cached_tokens),
    imagePromptTokens: count(input.image_tokens),
    cachedImageTokens: count(cached.image_tokens),
    imageCompletionTokens:
      count(output.image_tokens) ??
      Math.max(0, completionTokens - (count(output.text_tokens) ?? 0)),
  });
}

/**
 * Cache writes in the form of Anthropic and of layers before it: a total, and its parts by
 * retention time. Both dialects have these fields.
 */
export function readCacheWrites(usage: JsonObject, details: JsonObject = NOTHING) {
  const byLife = isObject(usage.cache_creation)
    ? usage.cache_creation
    : isObject(details.cache_creation_token_details)
      ? details.cache_creation_token_details
      : NOTHING;
  const fiveMinutes = count(byLife.ephemeral_5m_input_tokens);
  const hour = count(byLife.ephemeral_1h_input_tokens);
  const parts =
    fiveMinutes === undefined && hour === undefined ? undefined : (fiveMinutes ?? 0) + (hour ?? 0);
  return {
    cacheWriteTokens:
      count(usage.cache_creation_input_tokens) ??
      count(details.cache_creation_tokens) ??
      count(details.cache_write_tokens) ??
      parts,
    cacheWrite1hTokens: hour,
  };
}

function word(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The parts of a usage, as read. */
type ReadUsage = Pick<Usage, "promptTokens" | "completionTokens" | "totalTokens"> & {
  readonly [Part in Exclude<keyof Usage, "images" | "billed">]?: Usage[Part] | undefined;
};

/**
 * A usage with only the known parts. No member is deleted: an object that lost a member is slow to
 * read from then on.
 */
function compact(usage: ReadUsage): Usage {
  const { promptTokens, completionTokens, totalTokens } = usage;
  const known: { -readonly [Part in keyof Usage]: Usage[Part] } = {
    promptTokens,
    completionTokens,
    totalTokens,
  };
  if (usage.cachedTokens !== undefined) known.cachedTokens = usage.cachedTokens;
  if (usage.cacheWriteTokens !== undefined) known.cacheWriteTokens = usage.cacheWriteTokens;
  if (usage.cacheWrite1hTokens !== undefined) known.cacheWrite1hTokens = usage.cacheWrite1hTokens;
  if (usage.reasoningTokens !== undefined) known.reasoningTokens = usage.reasoningTokens;
  if (usage.audioPromptTokens !== undefined) known.audioPromptTokens = usage.audioPromptTokens;
  if (usage.imagePromptTokens !== undefined) known.imagePromptTokens = usage.imagePromptTokens;
  if (usage.cachedAudioTokens !== undefined) known.cachedAudioTokens = usage.cachedAudioTokens;
  if (usage.toolUses !== undefined) known.toolUses = usage.toolUses;
  if (usage.cachedImageTokens !== undefined) known.cachedImageTokens = usage.cachedImageTokens;
  if (usage.audioCompletionTokens !== undefined)
    known.audioCompletionTokens = usage.audioCompletionTokens;
  if (usage.imageCompletionTokens !== undefined)
    known.imageCompletionTokens = usage.imageCompletionTokens;
  if (usage.serviceTier !== undefined) known.serviceTier = usage.serviceTier;
  return known;
}
