/** Bodies of the embeddings and images formats. Vectors and images follow from the input alone. */

import { createHash } from "node:crypto";
import type { JsonObject, JsonValue } from "@sluice/contract";
import { words } from "./bodies.ts";
import type { UpstreamRequest, WireUsage } from "./record.ts";
import type { ReplyAction } from "./script.ts";

/** 2023-11-14, so that replies are the same on every day. */
const CREATED = 1_700_000_000;
const DEFAULT_DIMENSIONS = 8;

/** A PNG of one red pixel, in base64. */
export const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/**
 * The reply to what is no chat request: its body and what it bills. `undefined` for a chat request.
 */
export function mediaReply(
  request: UpstreamRequest,
  action: ReplyAction,
): { body: JsonObject; usage: WireUsage } | undefined {
  const [path = ""] = request.path.split("?");
  if (path.endsWith("/embeddings")) return embeddingsReply(request, action);
  return path.endsWith("/images/generations") ? imagesReply(request, action) : undefined;
}

/** The vector that the upstream gives to an input: float32 values between -1 and 1. */
export function vectorOf(input: unknown, dimensions = DEFAULT_DIMENSIONS): number[] {
  const vector: number[] = [];
  for (let block = 0; vector.length < dimensions; block += 1) {
    const digest = createHash("sha256")
      .update(`${block} ${JSON.stringify(input)}`)
      .digest();
    for (let at = 0; at < digest.length && vector.length < dimensions; at += 4) {
      vector.push(Math.fround(digest.readInt32LE(at) / 2 ** 31));
    }
  }
  return vector;
}

function embeddingsReply({ parsed = {} }: UpstreamRequest, action: ReplyAction) {
  const { input, dimensions, model } = parsed;
  const inputs = (
    Array.isArray(input) && typeof input[0] !== "number" ? input : [input]
  ) as readonly JsonValue[];
  const isText = (action.embeddingFormat ?? parsed["encoding_format"]) === "base64";
  const data = inputs.map((item, index): JsonObject => {
    const vector = vectorOf(item, typeof dimensions === "number" ? dimensions : DEFAULT_DIMENSIONS);
    return { object: "embedding", index, embedding: isText ? base64(vector) : vector };
  });
  const usage = usageOf(
    action,
    inputs.reduce<number>((tokens, item) => tokens + tokensOf(item), 0),
    0,
  );
  const { prompt_tokens, total_tokens } = usage;
  const body = {
    object: "list",
    data,
    model: action.model ?? model ?? "unknown",
    ...(action.usage !== "never" && { usage: { prompt_tokens, total_tokens } }),
    ...action.extra,
  };
  return { body, usage };
}

/**
 * As gpt-image models answer: base64 and tokens; as dall-e models do: URLs, unless base64 is asked
 * for, and no tokens.
 */
function imagesReply({ parsed = {}, number }: UpstreamRequest, action: ReplyAction) {
  const { model, n, prompt } = parsed;
  const hasTokens = typeof model === "string" && model.startsWith("gpt-image");
  const isText = hasTokens || parsed["response_format"] === "b64_json";
  const count = typeof n === "number" ? n : 1;
  const data = Array.from({ length: count }, (_, index): JsonObject => {
    return isText
      ? { b64_json: PIXEL }
      : { url: `https://images.invalid/${number}/${index}.png`, revised_prompt: prompt ?? null };
  });
  const usage = usageOf(action, hasTokens ? tokensOf(prompt) : 0, hasTokens ? 10 * count : 0);
  const reported = {
    input_tokens: usage.prompt_tokens,
    output_tokens: usage.completion_tokens,
    total_tokens: usage.total_tokens,
  };
  const body = {
    created: CREATED + number,
    data,
    ...(hasTokens && action.usage !== "never" && { usage: reported }),
    ...action.extra,
  };
  return { body, usage };
}

function usageOf(action: ReplyAction, prompt_tokens: number, completion_tokens: number): WireUsage {
  if (typeof action.usage === "object") return action.usage;
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

/** One token a word of a text; tokens are their own count. */
function tokensOf(input: unknown): number {
  if (typeof input === "string") return words(input).length;
  return Array.isArray(input) ? input.length : 0;
}

function base64(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString("base64");
}
