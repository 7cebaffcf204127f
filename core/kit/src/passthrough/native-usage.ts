/**
 * Reads usage from native replies: the forms of OpenAI (chat, responses, embeddings, images),
 * Anthropic, Gemini, Bedrock, Cohere and Stability. The names of the fields identify the dialect.
 */

import { table } from "../json/table.ts";
import type { JsonObject, JsonValue, Usage } from "@sluice/contract";
import { isObject } from "../json/narrow.ts";
import { tokenCount as count } from "../json/token-count.ts";
import { readToolUses } from "./tool-uses.ts";
import { readCacheWrites, readImageUsage, readUsage } from "../openai/usage.ts";

/** The usage of a whole reply or of one stream event; `undefined` when it reports none. */
export function readNativeUsage(value: JsonObject): Usage | undefined {
  const usage = readTokens(value);
  const toolUses = readToolUses(carriedReply(value));
  if (toolUses === undefined) return usage;
  if (usage !== undefined) return { ...usage, toolUses };
  // The event of an item of OpenAI's responses has no counts. Any other reply without counts is to
  // be counted.
  return isObject(value.item)
    ? { promptTokens: 0, completionTokens: 0, totalTokens: 0, toolUses }
    : undefined;
}

function readTokens(value: JsonObject): Usage | undefined {
  const carried = carriedReply(value);
  const inner = isObject(value.usage) ? value : carried;
  const usage = usageIn(inner);
  const counted = isObject(usage) ? usage : inner.meta;
  if (isObject(counted) && isObject(counted.billed_units))
    return readBilledUnits(counted.billed_units, counted);
  if (isObject(usage)) {
    if (usage.prompt_tokens !== undefined) return readUsage(usage, inner.service_tier);
    if (usage.inputTokens !== undefined) return readConverse(usage, inner.serviceTier);
    return Array.isArray(inner.data)
      ? readImageUsage(usage)
      : readInputOutput(usage, inner.service_tier);
  }
  if (isObject(inner.usageMetadata)) return readGemini(inner.usageMetadata);
  if (isObject(value[BEDROCK_METRICS])) return readMetrics(value[BEDROCK_METRICS]);
  return readOllama(value) ?? readPieces(inner);
}

/**
 * The reply inside an event: Anthropic's message_start and OpenAI's response events contain it,
 * other events are the reply.
 */
export function carriedReply(event: JsonObject): JsonObject {
  return isObject(event.message)
    ? event.message
    : isObject(event.response)
      ? event.response
      : event;
}

/** Types of events that begin a stream: their counts grow until its end. */
const STARTS = new Set([
  "message_start",
  "response.created",
  "response.in_progress",
  "response.output_item.added",
  "response.output_item.done",
  "message-start",
]);

/**
 * The part of the stream's usage in an event: `start` reports the prompt and a possible first
 * count, `end` the whole, `part` the counts so far, in dialects that repeat a growing total.
 */
export function usagePlace(event: JsonObject): "start" | "part" | "end" {
  const { type, choices, candidates, done, is_finished: isFinished } = event;
  if (typeof type === "string") return STARTS.has(type) ? "start" : "end";
  if (Array.isArray(choices)) return choices.every(isFinishedChoice) ? "end" : "part";
  if (Array.isArray(candidates))
    return candidates.some((each) => isObject(each) && typeof each.finishReason === "string")
      ? "end"
      : "part";
  return done === false || isFinished === false ? "part" : "end";
}

function isFinishedChoice(choice: JsonValue): boolean {
  return isObject(choice) && (typeof choice.finish_reason === "string" || isObject(choice.message));
}

/** Ollama's own API: top-level counts (docs/api.md). A cached prompt has no count. */
function readOllama({
  done,
  prompt_eval_count: prompt,
  eval_count: output,
  embeddings,
}: JsonObject): Usage | undefined {
  if (done !== true && !Array.isArray(embeddings)) return undefined;
  const promptTokens = count(prompt);
  const completionTokens = count(output);
  return promptTokens === undefined ? undefined : made(promptTokens, completionTokens ?? 0, {});
}

/**
 * The place of the usage: Cohere's message-end has it in its delta, Groq's last chunk in `x_groq`.
 */
function usageIn({ usage, delta, x_groq: groq }: JsonObject): JsonValue | undefined {
  if (usage !== undefined) return usage;
  return isObject(delta) ? delta.usage : isObject(groq) ? groq.usage : undefined;
}

/**
 * The member with the token counts in the last chunk of Bedrock's InvokeModelWithResponseStream.
 */
export const BEDROCK_METRICS = "amazon-bedrock-invocationMetrics";

/**
 * Usage of response headers: Bedrock's InvokeModel reports it there for every model, and in the
 * body for few.
 */
export function readHeaderUsage(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Usage | undefined {
  const counted = (name: string): number | undefined => {
    const text = headers[`x-amzn-bedrock-${name}-token-count`];
    return typeof text === "string" && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  };
  return besideCache(
    counted("input"),
    counted("output"),
    counted("cache-read-input"),
    counted("cache-write-input"),
  );
}

/** A usage of images by the piece: the made ones, without the filtered ones. */
export function pieces(count: number): Usage {
  return { promptTokens: 0, completionTokens: 0, totalTokens: 0, images: { count } };
}

const IMAGE_MEMBERS = ["b64_json", "url", "bytesBase64Encoded"];

/**
 * Images without tokens. Stability: `{artifacts: [{base64, finishReason}]}`, `{image,
 * finish_reason}`; OpenAI: `{created, data: [{b64_json} or {url}]}`; Imagen: `{predictions:
 * [{bytesBase64Encoded}]}`.
 */
function readPieces({
  artifacts,
  image,
  finish_reason: ended,
  created,
  data,
  predictions,
}: JsonObject): Usage | undefined {
  const made = typeof created === "number" && Array.isArray(data) ? data : predictions;
  if (Array.isArray(made)) {
    const count = made.filter(
      (each) => isObject(each) && IMAGE_MEMBERS.some((name) => typeof each[name] === "string"),
    ).length;
    if (count > 0) return pieces(count);
  }
  if (Array.isArray(artifacts)) {
    return pieces(
      artifacts.filter((each) => isObject(each) && each.finishReason === "SUCCESS").length,
    );
  }
  return typeof image === "string" && typeof ended === "string"
    ? pieces(ended === "SUCCESS" ? 1 : 0)
    : undefined;
}

/**
 * Cohere: the tokens that the model read and wrote, and separately the billed units, where those
 * differ. Embeddings have no output. Images of the older models are counted by the piece: unknown
 * here.
 */
function readBilledUnits(
  units: JsonObject,
  { tokens, cached_tokens: cached }: JsonObject,
): Usage | undefined {
  const texts = count(units.input_tokens);
  const images = count(units.image_tokens);
  if (texts === undefined && images === undefined) return undefined;
  const billed = {
    promptTokens: (texts ?? 0) + (images ?? 0),
    completionTokens: count(units.output_tokens) ?? 0,
  };
  const own = isObject(tokens) ? tokens : {};
  const promptTokens = count(own.input_tokens) ?? billed.promptTokens;
  const completionTokens = count(own.output_tokens) ?? billed.completionTokens;
  const cachedTokens = count(cached);
  const isSame =
    billed.promptTokens === promptTokens && billed.completionTokens === completionTokens;
  return made(promptTokens, completionTokens, {
    imagePromptTokens: images,
    cachedTokens:
      cachedTokens !== undefined && cachedTokens <= promptTokens ? cachedTokens : undefined,
    billed: isSame ? undefined : billed,
  });
}

/**
 * Joins the usages of one stream: Anthropic reports the prompt at the start and the completion at
 * the end, and Gemini repeats a growing total. A later count wins.
 */
export function joinUsage(first: Usage | undefined, second: Usage): Usage {
  if (first === undefined) return second;
  const promptTokens = Math.max(first.promptTokens, second.promptTokens);
  const completionTokens = Math.max(first.completionTokens, second.completionTokens);
  const totalTokens = promptTokens + completionTokens;
  const joined = { ...first, ...second, promptTokens, completionTokens, totalTokens };
  if (first.toolUses === undefined || second.toolUses === undefined) return joined;
  return { ...joined, toolUses: { ...first.toolUses, ...second.toolUses } };
}

/**
 * `{input_tokens, output_tokens}`: Anthropic counts cached tokens beside the input, OpenAI's
 * responses within it. Only Anthropic's usage has the `cache_…_input_tokens` fields.
 */
function readInputOutput(usage: JsonObject, serviceTier: JsonValue | undefined): Usage | undefined {
  const input = count(usage.input_tokens);
  const output = count(usage.output_tokens);
  if (input === undefined && output === undefined) return undefined;
  const cacheRead = count(usage.cache_read_input_tokens);
  const { cacheWriteTokens, cacheWrite1hTokens } = readCacheWrites(usage);
  const inside = isObject(usage.input_tokens_details)
    ? count(usage.input_tokens_details.cached_tokens)
    : undefined;
  const details = isObject(usage.output_tokens_details) ? usage.output_tokens_details : {};
  const promptTokens = (input ?? 0) + (cacheRead ?? 0) + (cacheWriteTokens ?? 0);
  return made(promptTokens, output ?? 0, {
    cachedTokens: cacheRead ?? inside,
    cacheWriteTokens,
    cacheWrite1hTokens,
    // Anthropic's name, and OpenAI's.
    reasoningTokens: count(details.thinking_tokens) ?? count(details.reasoning_tokens),
    // Fast mode has prices of its own (platform.claude.com/docs/en/build-with-claude/fast-mode).
    serviceTier: usage.speed === "fast" ? "fast" : (word(usage.service_tier) ?? word(serviceTier)),
  });
}

/**
 * Bedrock's Converse: cached tokens are counted beside the input (`TokenUsage` of
 * @aws-sdk/client-bedrock-runtime 3.1162.0).
 */
function readConverse(usage: JsonObject, tier: JsonValue | undefined): Usage | undefined {
  const output = count(usage.outputTokens);
  if (output === undefined) return undefined;
  const byLife = Array.isArray(usage.cacheDetails) ? usage.cacheDetails : [];
  const hour = byLife.find((detail) => isObject(detail) && detail.ttl === "1h");
  return besideCache(
    count(usage.inputTokens),
    output,
    count(usage.cacheReadInputTokens),
    count(usage.cacheWriteInputTokens),
    {
      cacheWrite1hTokens: isObject(hour) ? count(hour.inputTokens) : undefined,
      serviceTier: isObject(tier) ? word(tier.type) : undefined,
    },
  );
}

function readMetrics(metrics: JsonObject): Usage | undefined {
  const { inputTokenCount, outputTokenCount, cacheReadInputTokenCount, cacheWriteInputTokenCount } =
    metrics;
  return besideCache(
    count(inputTokenCount),
    count(outputTokenCount),
    count(cacheReadInputTokenCount),
    count(cacheWriteInputTokenCount),
  );
}

/**
 * Adds cached tokens to the input. An embedding has no output; a usage without an input is
 * `undefined`.
 */
function besideCache(
  input: number | undefined,
  output = 0,
  cachedTokens?: number,
  cacheWriteTokens?: number,
  rest: Parts = {},
): Usage | undefined {
  if (input === undefined) return undefined;
  return made(input + (cachedTokens ?? 0) + (cacheWriteTokens ?? 0), output, {
    cachedTokens,
    cacheWriteTokens,
    ...rest,
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

/** Vertex' names and the tiers of its price lists (`TrafficType` of @google/genai 2.32.0). */
const TRAFFIC = table<string>({
  ON_DEMAND: "standard",
  ON_DEMAND_PRIORITY: "priority",
  ON_DEMAND_FLEX: "flex",
  PROVISIONED_THROUGHPUT: "provisioned_throughput",
});

/** Gemini lists the parts of a count by modality: `[{ modality: "AUDIO", tokenCount: 12 }]`. */
function ofModality(details: JsonValue | undefined, modality: string): number | undefined {
  if (!Array.isArray(details)) return undefined;
  const part = details.find((detail) => isObject(detail) && detail.modality === modality);
  return isObject(part) ? count(part.tokenCount) : undefined;
}

type Parts = { -readonly [K in keyof Usage]?: Usage[K] | undefined };

function made(promptTokens: number, completionTokens: number, parts: Parts): Usage {
  const totalTokens = promptTokens + completionTokens;
  const usage: Usage & Parts = { promptTokens, completionTokens, totalTokens };
  for (const name in parts) copyKnown(parts, name as keyof Usage, usage);
  return usage;
}

function copyKnown<K extends keyof Usage>(from: Parts, name: K, to: Parts): void {
  const value = from[name];
  if (value !== undefined) to[name] = value;
}

function word(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
