/**
 * Embeddings: `batchEmbedContents` of the Gemini API, `predict` and `embedContent` of Vertex AI.
 */

import {
  Embeddings,
  Fields,
  Members,
  readJsonBody,
  tokenCount,
  usageOf,
} from "@sluice/kit/dialect";
import { isObject } from "@sluice/kit";
import type { DecodedReply, JsonObject, ProviderRequest } from "@sluice/contract";

/** Parameters of embeddings that the API has a way to say. */
export const EMBEDDING_PARAMETERS = ["encoding_format", "dimensions"] as const;

/** The form in which one model takes its inputs. */
export interface EmbeddingMethod {
  /** The method in the URL. */
  readonly name: "batchEmbedContents" | "predict" | "embedContent";
  readonly inputsPerCall: number;
}

/** Members that this reader knows; `task_type` and `title` are the API's own. */
const KNOWN = ["input", "task_type", "title", ...EMBEDDING_PARAMETERS];

/** The Gemini API's method for every model (ai.google.dev/api/embeddings). */
export const BATCH: EmbeddingMethod = { name: "batchEmbedContents", inputsPerCall: 100 };

/**
 * Vertex AI's method for a model: `tIsVertexEmbedContentModel` of @google/genai 2.32.0; limits of
 * the embeddings reference.
 */
export function vertexMethod(model: string): EmbeddingMethod {
  if (model.includes("gemini") && model !== "gemini-embedding-001")
    return { name: "embedContent", inputsPerCall: 1 };
  return { name: "predict", inputsPerCall: model === "gemini-embedding-001" ? 1 : 250 };
}

/** The body to send. */
export function embeddingsBody(
  request: ProviderRequest,
  name: EmbeddingMethod["name"],
): JsonObject {
  const { target } = request;
  const fields = Fields.read(request, KNOWN);
  const texts = Embeddings.texts(fields);
  const size = fields.pick({ dimensions: "outputDimensionality" });
  const about = fields.pick({ task_type: "taskType", title: "title" });
  switch (name) {
    case "batchEmbedContents":
      return {
        requests: texts.map((text) => ({
          model: `models/${target.model}`,
          content: { parts: [{ text }] },
          ...about,
          ...size,
        })),
      };
    case "predict":
      return {
        instances: texts.map((content) => ({ content, ...fields.pick(["task_type", "title"]) })),
        ...(Object.keys(size).length === 0 ? {} : { parameters: size }),
      };
    case "embedContent": {
      const config = { ...about, ...size };
      return {
        content: { parts: texts.map((text) => ({ text })) },
        ...(Object.keys(config).length === 0 ? {} : { embedContentConfig: config }),
      };
    }
    default:
      return name satisfies never;
  }
}

/** The reply of an embeddings call, whichever method gave it. */
export function decodeEmbeddings(body: Uint8Array, request: ProviderRequest): DecodedReply {
  const reply = readJsonBody(body);
  const found = Members.objectsOf(reply.predictions).map(({ embeddings }) =>
    isObject(embeddings) ? embeddings : {},
  );
  const embeddings = isObject(reply.embedding)
    ? [reply.embedding]
    : found.length > 0
      ? found
      : Members.objectsOf(reply.embeddings);
  const usage = usageOf({ promptTokens: promptTokens(reply, embeddings), completionTokens: 0 });
  return Embeddings.reply(
    request,
    embeddings.map(({ values }) => values),
    usage,
  );
}

/** The tokens of all inputs; `undefined` when the number of one of them is missing. */
function promptTokens(reply: JsonObject, embeddings: readonly JsonObject[]): number | undefined {
  const whole = isObject(reply.usageMetadata)
    ? tokenCount(reply.usageMetadata.promptTokenCount)
    : undefined;
  if (whole !== undefined) return whole;
  let sum = 0;
  for (const { statistics } of embeddings) {
    const tokens = isObject(statistics) ? tokenCount(statistics.token_count) : undefined;
    if (tokens === undefined) return undefined;
    sum += tokens;
  }
  return sum;
}
