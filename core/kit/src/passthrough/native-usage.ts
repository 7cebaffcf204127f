/**
 * Reads usage from native replies: the shapes of OpenAI (chat, responses, embeddings, images), Anthropic and Gemini. A field's
 * name tells the dialect, so nobody has to say which one a provider speaks.
 */

import type { JsonObject, JsonValue, Usage } from "@sluice/spec";
import { isObject } from "../json/narrow.ts";
import { readCacheWrites, readImageUsage, readUsage } from "../openai/usage.ts";

/** The usage of a whole reply or of one stream event, `undefined` when it reports none. */
export function readNativeUsage(value: JsonObject): Usage | undefined {
  // Anthropic's message_start and OpenAI's response events carry the reply inside.
  const inner = isObject(value.message) ? value.message : isObject(value.response) ? value.response : value;
  const { usage } = inner;
  if (isObject(usage)) {
    if (usage.prompt_tokens !== undefined) return readUsage(usage, inner.service_tier);
    return Array.isArray(inner.data) ? readImageUsage(usage) : readInputOutput(usage, inner.service_tier);
  }
  return isObject(inner.usageMetadata) ? readGemini(inner.usageMetadata) : undefined;
}

/**
 * Joins the usages of one stream: Anthropic tells the prompt at the start and the completion at the end, and Gemini repeats
 * a growing total. A later word wins where it says something.
 */
export function joinUsage(first: Usage | undefined, second: Usage): Usage {
  if (first === undefined) return second;
  const promptTokens = Math.max(first.promptTokens, second.promptTokens);
  const completionTokens = Math.max(first.completionTokens, second.completionTokens);
  return { ...first, ...second, promptTokens, completionTokens, totalTokens: promptTokens + completionTokens };
}

/**
 * `{input_tokens, output_tokens}`: Anthropic counts cached tokens beside the input, OpenAI's responses within it; only
 * Anthropic's usage has the `cache_…_input_tokens` fields.
 */
function readInputOutput(usage: JsonObject, serviceTier: JsonValue | undefined): Usage | undefined {
  const input = count(usage.input_tokens);
  const output = count(usage.output_tokens);
  if (input === undefined && output === undefined) return undefined;
  const cacheRead = count(usage.cache_read_input_tokens);
  const { cacheWriteTokens, cacheWrite1hTokens } = readCacheWrites(usage);
  const inside = isObject(usage.input_tokens_details) ? count(usage.input_tokens_details.cached_tokens) : undefined;
  const details = isObject(usage.output_tokens_details) ? usage.output_tokens_details : {};
  const promptTokens = (input ?? 0) + (cacheRead ?? 0) + (cacheWriteTokens ?? 0);
  return made(promptTokens, output ?? 0, {
    cachedTokens: cacheRead ?? inside,
    cacheWriteTokens,
    cacheWrite1hTokens,
    reasoningTokens: count(details.reasoning_tokens),
    serviceTier: word(usage.service_tier) ?? word(serviceTier),
  });
}

/** Gemini: thoughts are counted beside the candidates. */
function readGemini(usage: JsonObject): Usage | undefined {
  const prompt = count(usage.promptTokenCount);
  if (prompt === undefined) return undefined;
  const thoughts = count(usage.thoughtsTokenCount);
  const promptTokens = prompt + (count(usage.toolUsePromptTokenCount) ?? 0);
  return made(promptTokens, (count(usage.candidatesTokenCount) ?? 0) + (thoughts ?? 0), {
    cachedTokens: count(usage.cachedContentTokenCount),
    cachedAudioTokens: ofModality(usage.cacheTokensDetails, "AUDIO"),
    cachedImageTokens: ofModality(usage.cacheTokensDetails, "IMAGE"),
    reasoningTokens: thoughts,
    audioPromptTokens: ofModality(usage.promptTokensDetails, "AUDIO"),
    imagePromptTokens: ofModality(usage.promptTokensDetails, "IMAGE"),
    audioCompletionTokens: ofModality(usage.candidatesTokensDetails, "AUDIO"),
    imageCompletionTokens: ofModality(usage.candidatesTokensDetails, "IMAGE"),
    serviceTier: TRAFFIC[String(usage.trafficType)] ?? word(usage.serviceTier),
  });
}

/** Vertex' words for what its price lists call a tier (`TrafficType` of @google/genai 2.32.0). */
const TRAFFIC: Readonly<Record<string, string>> = {
  ON_DEMAND: "standard",
  ON_DEMAND_PRIORITY: "priority",
  ON_DEMAND_FLEX: "flex",
  PROVISIONED_THROUGHPUT: "provisioned_throughput",
};

/** Gemini lists the parts of a count by modality: `[{ modality: "AUDIO", tokenCount: 12 }]`. */
function ofModality(details: JsonValue | undefined, modality: string): number | undefined {
  if (!Array.isArray(details)) return undefined;
  const part = details.find((detail) => isObject(detail) && detail.modality === modality);
  return isObject(part) ? count(part.tokenCount) : undefined;
}

type Parts = { [K in keyof Usage]?: Usage[K] | undefined };

function made(promptTokens: number, completionTokens: number, parts: Parts): Usage {
  const known = Object.fromEntries(Object.entries(parts).filter(([, tokens]) => tokens !== undefined));
  return { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens, ...known };
}

function count(value: JsonValue | undefined): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function word(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
