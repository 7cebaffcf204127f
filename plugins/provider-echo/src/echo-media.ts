/**
 * The echo's answers to embeddings and images requests: small vectors derived from the input, and a
 * pixel.
 */

import { isObject } from "@sluice/kit";
import { EmbeddingCalls } from "@sluice/kit/openai";
import type { JsonObject, JsonValue, ProviderRequest } from "@sluice/contract";
import { checkVectors } from "./echo-bounds.ts";
import { wordsOf } from "./echo.ts";

const DEFAULT_DIMENSIONS = 8;
const MAX_DIMENSIONS = 4_096;
const MAX_IMAGES = 10;
/** FNV-1a, 32 bits: mixes the letters of a word. */
const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** A PNG of one blue pixel, in base64. */
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mOQz98EAAHxAUEEqQaTAAAAAElFTkSuQmCC";

/**
 * A vector for each input, in pieces of JSON. Equal texts have equal vectors; texts with common
 * words have near ones. A token is a word or a number. Throws before any work when the inputs
 * exceed the bound.
 */
export function echoEmbeddings({ document, replyModel }: ProviderRequest): Iterable<string> {
  const { input, dimensions, encoding_format: format } = document.value;
  const inputs =
    Array.isArray(input) && typeof input[0] !== "number"
      ? (input as readonly JsonValue[])
      : [input ?? ""];
  const size =
    typeof dimensions === "number" ? Math.min(dimensions, MAX_DIMENSIONS) : DEFAULT_DIMENSIONS;
  const tokens = inputs.map(tokensOf);
  const promptTokens = tokens.reduce((sum, list) => sum + list.length, 0);
  checkVectors(inputs.length, promptTokens, size);
  return vectorPieces(tokens, size, format === "base64", { model: replyModel, promptTokens });
}

function* vectorPieces(
  tokens: readonly (readonly string[])[],
  size: number,
  isBase64: boolean,
  { model, promptTokens }: { readonly model: string; readonly promptTokens: number },
): Generator<string> {
  yield '{"object":"list","data":[';
  for (const [index, list] of tokens.entries()) {
    const vector = vectorOf(list, size);
    const item = {
      object: "embedding",
      index,
      embedding: isBase64 ? EmbeddingCalls.floatsToBase64(vector) : vector,
    };
    yield `${index === 0 ? "" : ","}${JSON.stringify(item)}`;
  }
  yield `],"model":${JSON.stringify(model)},"usage":${JSON.stringify({ prompt_tokens: promptTokens, total_tokens: promptTokens })}}`;
}

/** The pixel, `n` times: in base64, or as a `data:` URL. */
export function echoImages({ document, createdSeconds }: ProviderRequest): JsonObject {
  const { n, prompt, response_format: format } = document.value;
  const image = format === "url" ? { url: `data:image/png;base64,${PIXEL}` } : { b64_json: PIXEL };
  const count = typeof n === "number" ? Math.min(n, MAX_IMAGES) : 1;
  const tokens = tokensOf(prompt ?? "").length;
  return {
    created: createdSeconds,
    data: Array.from({ length: count }, () => image),
    usage: { input_tokens: tokens, output_tokens: count, total_tokens: tokens + count },
  };
}

function tokensOf(input: JsonValue): readonly string[] {
  if (typeof input === "string") return wordsOf(input).map((word) => word.trim().toLowerCase());
  return Array.isArray(input) && !isObject(input) ? input.map(String) : [];
}

/**
 * The sum of the tokens' own directions, of length 1. Float32 values, so that both formats say the
 * same.
 */
function vectorOf(tokens: readonly string[], size: number): number[] {
  const vector = new Float64Array(size);
  for (const token of tokens) {
    let state = hash(token);
    for (let index = 0; index < size; index++) {
      // One step of a linear congruential generator (Numerical Recipes), from 0 to 2^32.
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      vector[index] = (vector[index] ?? 0) + state / 2 ** 31 - 1;
    }
  }
  const length = Math.hypot(...vector);
  return Array.from(vector, (value) => Math.fround(length === 0 ? 0 : value / length));
}

function hash(text: string): number {
  let state = FNV_OFFSET;
  for (const byte of Buffer.from(text)) state = Math.imul(state ^ byte, FNV_PRIME);
  return state >>> 0;
}
