/** Embeddings: `batchEmbedContents` of the Gemini API, `predict` and `embedContent` of Vertex AI. */

import { invalidField, invalidReply, objectsOf, readJsonBody, refusalsOf, tokenCount, usageOf } from "@sluice/kit/dialect";
import { isObject, writtenDocument } from "@sluice/kit";
import { floatsToBase64 } from "@sluice/kit/openai";
import type { DecodedReply, JsonObject, JsonValue, ProviderRequest } from "@sluice/spec";

/** Parameters of embeddings that the API has a way to say. */
export const EMBEDDING_PARAMETERS = ["encoding_format", "dimensions"] as const;

/** How one model is asked. */
export interface EmbeddingMethod {
  /** The method in the URL. */
  readonly name: "batchEmbedContents" | "predict" | "embedContent";
  readonly maxInputs: number;
}

/** Members that this reader knows; `task_type` and `title` are the API's own. */
const KNOWN = new Set(["model", "input", "user", "metadata", "task_type", "title", ...EMBEDDING_PARAMETERS]);

/** What the Gemini API offers for every model (ai.google.dev/api/embeddings). */
export const BATCH: EmbeddingMethod = { name: "batchEmbedContents", maxInputs: 100 };

/** What Vertex AI offers for a model: `tIsVertexEmbedContentModel` of @google/genai 2.32.0; limits of the embeddings reference. */
export function vertexMethod(model: string): EmbeddingMethod {
  if (model.includes("gemini") && model !== "gemini-embedding-001") return { name: "embedContent", maxInputs: 1 };
  return { name: "predict", maxInputs: model === "gemini-embedding-001" ? 1 : 250 };
}

/** The body to send. */
export function embeddingsBody(request: ProviderRequest, { name, maxInputs }: EmbeddingMethod): JsonObject {
  const { document, target } = request;
  const { input, dimensions, task_type: taskType, title } = document.value;
  const refuse = refusalsOf(request);
  const unknown = Object.keys(document.value).find((each) => !KNOWN.has(each) && document.value[each] !== null);
  if (unknown !== undefined) refuse(unknown, `the parameter ${unknown}`);
  const texts = textsOf(input, refuse);
  if (texts.length > maxInputs) refuse("input", `more than ${maxInputs} ${maxInputs === 1 ? "text" : "texts"} at once`);
  const size: JsonObject = typeof dimensions === "number" ? { outputDimensionality: dimensions } : {};
  const about = present({ taskType, title });
  switch (name) {
    case "batchEmbedContents":
      return {
        requests: texts.map((text) => ({ model: `models/${target.model}`, content: { parts: [{ text }] }, ...about, ...size })),
      };
    case "predict":
      return {
        instances: texts.map((content) => ({ content, ...present({ task_type: taskType, title }) })),
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

function textsOf(input: JsonValue | undefined, refuse: (path: string, what: string) => never): readonly string[] {
  const list: readonly JsonValue[] = Array.isArray(input) ? (input as readonly JsonValue[]) : [input ?? null];
  if (list.length === 0) throw invalidField("input", "a text or a list of texts");
  return list.map((each, index) => {
    if (typeof each === "number" || Array.isArray(each)) return refuse("input", "tokens instead of texts");
    if (typeof each === "string" && each !== "") return each;
    throw invalidField(Array.isArray(input) ? `input[${index}]` : "input", "a text that is not empty");
  });
}

function present(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== null));
}

/** The reply of an embeddings call, whichever method gave it. */
export function decodeEmbeddings(body: Uint8Array, request: ProviderRequest): DecodedReply {
  const reply = readJsonBody(body);
  const found = objectsOf(reply.predictions).map(({ embeddings }) => (isObject(embeddings) ? embeddings : {}));
  const embeddings = isObject(reply.embedding) ? [reply.embedding] : found.length > 0 ? found : objectsOf(reply.embeddings);
  const { input, encoding_format: format } = request.document.value;
  const wanted = Array.isArray(input) ? input.length : 1;
  if (embeddings.length !== wanted) throw invalidReply(`has ${embeddings.length} embeddings for ${wanted} inputs`);
  const tokens = promptTokens(reply, embeddings);
  const usage = usageOf({ promptTokens: tokens, completionTokens: 0 });
  const document = writtenDocument({
    object: "list",
    data: embeddings.map(({ values }, index) => ({ object: "embedding", index, embedding: vectorOf(values, index, format) })),
    model: request.replyModel,
    ...(usage === undefined ? {} : { usage: { prompt_tokens: usage.promptTokens, total_tokens: usage.totalTokens } }),
  });
  return { document, usage };
}

function vectorOf(values: JsonValue | undefined, index: number, format: JsonValue | undefined): JsonValue {
  if (!Array.isArray(values) || values.length === 0 || !values.every((value) => typeof value === "number")) {
    throw invalidReply(`has no vector at data[${index}]`);
  }
  return format === "base64" ? floatsToBase64(values) : values;
}

/** The tokens of all inputs; `undefined` when one of them is not told. */
function promptTokens(reply: JsonObject, embeddings: readonly JsonObject[]): number | undefined {
  const whole = isObject(reply.usageMetadata) ? tokenCount(reply.usageMetadata.promptTokenCount) : undefined;
  if (whole !== undefined) return whole;
  let sum = 0;
  for (const { statistics } of embeddings) {
    const tokens = isObject(statistics) ? tokenCount(statistics.token_count) : undefined;
    if (tokens === undefined) return undefined;
    sum += tokens;
  }
  return sum;
}
