/**
 * Embeddings by InvokeModel: Titan (one text a call), Cohere (96), Nova (one). Sources:
 * docs.aws.amazon.com/bedrock/latest/userguide/ model-parameters-titan-embed-text.html,
 * …-titan-embed-mm.html, model-parameters-embed-v3.html, …-embed-v4.html;
 * docs.aws.amazon.com/nova/latest/userguide/embeddings-schema.html.
 */

import { isObject } from "@sluice/kit";
import {
  Embeddings,
  Fields,
  Members,
  readJsonBody,
  tokenCount,
  usageOf,
} from "@sluice/kit/dialect";
import { Native } from "@sluice/kit/passthrough";
import type {
  DecodedReply,
  ErrorReply,
  JsonObject,
  JsonValue,
  ProviderRequest,
  Usage,
} from "@sluice/contract";
import { baseModel } from "./models.ts";

/** Parameters of the reference dialect's embeddings. */
export const EMBEDDING_PARAMETERS = ["encoding_format", "dimensions"] as const;

/** A family of embedding models. */
interface EmbeddingFamily {
  readonly inputsPerCall: number;
  /** Members of the model's own that a client may send. */
  readonly native: readonly string[];
  body(texts: readonly string[], asked: Fields.RequestFields): JsonObject;
  vectors(reply: JsonObject): readonly (JsonValue | undefined)[];
}

const titan = (
  dimensions: (count: JsonValue) => JsonObject,
  native: readonly string[],
): EmbeddingFamily => ({
  inputsPerCall: 1,
  native,
  body: ([text], asked) => ({
    inputText: text ?? "",
    ...(asked.get("dimensions") === undefined ? {} : dimensions(asked.get("dimensions") ?? 0)),
    ...asked.pick(native),
  }),
  vectors: ({ embedding }) => [embedding],
});

const cohere = (dimensions: boolean): EmbeddingFamily => ({
  inputsPerCall: 96,
  native: ["input_type", "truncate"],
  body: (texts, asked) => ({
    texts,
    // The model requires the purpose of the vectors. The reference API has no field for it.
    input_type: "search_document",
    embedding_types: ["float"],
    ...(asked.get("dimensions") === undefined
      ? {}
      : { output_dimension: sized(asked, dimensions) }),
    ...asked.pick(["input_type", "truncate"]),
  }),
  vectors: ({ embeddings }) => {
    const lists = isObject(embeddings) ? embeddings.float : embeddings;
    return Array.isArray(lists) ? lists : [];
  },
});

const nova: EmbeddingFamily = {
  inputsPerCall: 1,
  native: ["embeddingPurpose"],
  body: ([text], asked) => ({
    taskType: "SINGLE_EMBEDDING",
    singleEmbeddingParams: {
      embeddingPurpose: "GENERIC_INDEX",
      ...asked.pick(["embeddingPurpose"]),
      ...(asked.get("dimensions") === undefined
        ? {}
        : { embeddingDimension: asked.get("dimensions") ?? null }),
      text: { truncationMode: "NONE", value: text ?? "" },
    },
  }),
  vectors: ({ embeddings }) => Members.objectsOf(embeddings).map(({ embedding }) => embedding),
};

const FAMILIES: readonly (readonly [RegExp, EmbeddingFamily])[] = [
  [
    /^amazon\.titan-embed-text-v1/,
    {
      ...titan(() => ({}), []),
      body: ([text], asked) => (sized(asked, false), { inputText: text ?? "" }),
    },
  ],
  [/^amazon\.titan-embed-text/, titan((dimensions) => ({ dimensions }), ["normalize"])],
  [
    /^amazon\.titan-embed-image/,
    titan((count) => ({ embeddingConfig: { outputEmbeddingLength: count } }), []),
  ],
  [/^amazon\.nova-.*embeddings/, nova],
  [/^cohere\.embed-(?:english|multilingual)-v3/, cohere(false)],
  [/^cohere\.embed-/, cohere(true)],
];

function sized(asked: Fields.RequestFields, isTaken: boolean): JsonValue {
  const dimensions = asked.get("dimensions");
  return dimensions === undefined || isTaken
    ? (dimensions ?? null)
    : asked.refuse("dimensions", "a number of dimensions");
}

function familyOf(model: string): EmbeddingFamily | undefined {
  const base = baseModel(model);
  return FAMILIES.find(([pattern]) => pattern.test(base))?.[1];
}

/** Maximum inputs of one call. */
export function inputsPerCall(model: string): number {
  return familyOf(model)?.inputsPerCall ?? Infinity;
}

/**
 * The model's own body. Throws `unsupported_parameter` for a model that embeds nothing, and for
 * what it cannot take.
 */
export function embeddingsBody(request: ProviderRequest): JsonObject {
  const family = familyOf(request.target.model);
  const asked = Fields.read(request, ["input", ...EMBEDDING_PARAMETERS, ...(family?.native ?? [])]);
  if (family === undefined) return asked.refuse("model", "embeddings");
  return family.body(Embeddings.texts(asked), asked);
}

/** The reply in the reference dialect. The tokens are in the body, or in a header. */
export function decodeEmbedding(
  body: Uint8Array,
  request: ProviderRequest,
  headers: ErrorReply["headers"] = {},
): DecodedReply {
  const reply = readJsonBody(body);
  const vectors = familyOf(request.target.model)?.vectors(reply);
  return Embeddings.reply(request, vectors, usageIn(reply) ?? Native.readHeaderUsage(headers));
}

function usageIn({ inputTextTokenCount: count }: JsonObject): Usage | undefined {
  return usageOf({ promptTokens: tokenCount(count), completionTokens: 0 });
}
