/** Embeddings by Cohere's v2 embed (docs.cohere.com/reference/embed; its SDK 5.20, `EmbedByTypeResponse`). */

import { isObject, writtenDocument } from "@sluice/kit";
import {
  invalidField,
  invalidReply,
  readJsonBody,
  readMediaUrl,
  refusalsOf,
  tokenCount,
  usageJson,
  usageOf,
} from "@sluice/kit/dialect";
import { floatsToBase64, inputCount } from "@sluice/kit/openai";
import type { DecodedReply, JsonObject, JsonValue, ProviderRequest, Usage } from "@sluice/spec";

/** Inputs of one call. */
const MAX_INPUTS = 96;
/** What a vector is for, where the client does not say it in a field of its own: what is stored and searched. */
const INPUT_TYPE = "search_document";
/** Members of the API's own that a client may send. */
const NATIVE = ["input_type", "truncate", "max_tokens", "priority"];
const KNOWN = new Set(["model", "input", "encoding_format", "dimensions", "user", "metadata", "embedding_types", ...NATIVE]);
const TYPES = new Set(["float", "base64", "int8", "uint8", "binary", "ubinary"]);

/** The body of an embeddings request. Texts are `texts`; where images (data URLs) are among them, all are `inputs`. */
export function embedBody(request: ProviderRequest): JsonObject {
  const { value } = request.document;
  const refuse = refusalsOf(request);
  const unknown = Object.keys(value).find((name) => !KNOWN.has(name) && value[name] !== null);
  if (unknown !== undefined) refuse(unknown, `the parameter ${unknown}`);
  const inputs = readInputs(value.input);
  if (inputs.length > MAX_INPUTS) refuse("input", `more than ${MAX_INPUTS} inputs`);
  const native = Object.fromEntries(
    NATIVE.flatMap((name) => (value[name] === undefined ? [] : [[name, value[name]]])),
  ) as JsonObject;
  return {
    model: request.target.model,
    input_type: INPUT_TYPE,
    ...(inputs.some(isImage) ? { inputs: inputs.map(contentOf) } : { texts: inputs }),
    embedding_types: [embeddingType(value)],
    ...(value.dimensions === undefined ? {} : { output_dimension: value.dimensions }),
    ...native,
  };
}

function readInputs(input: JsonValue | undefined): readonly string[] {
  const given: readonly JsonValue[] = Array.isArray(input) ? (input as readonly JsonValue[]) : [input ?? null];
  return given.map((each, index) => {
    const path = Array.isArray(input) ? `input[${index}]` : "input";
    if (typeof each !== "string") throw invalidField(path, "a text, or an image in a data: URL: the provider takes no tokens");
    // A data URL that is none would be embedded as a text.
    if (isImage(each)) readMediaUrl(each, path);
    return each;
  });
}

function isImage(input: string): boolean {
  return /^data:image\//i.test(input);
}

function contentOf(input: string): JsonObject {
  return { content: [isImage(input) ? { type: "image_url", image_url: { url: input } } : { type: "text", text: input }] };
}

/** The one type of vectors that is asked for. The gateway makes base64 itself, so that its bytes are the reference API's. */
function embeddingType({ embedding_types: types }: JsonObject): string {
  if (types === undefined || types === null) return "float";
  const [type] = Array.isArray(types) ? (types as readonly JsonValue[]) : [types];
  if (typeof type !== "string" || !TYPES.has(type) || (Array.isArray(types) && types.length > 1)) {
    throw invalidField("embedding_types", "a list of one: float, base64, int8, uint8, binary or ubinary");
  }
  return type;
}

/** The reply of an embeddings call. Throws `upstream_invalid_response` unless there is one vector for each input. */
export function decodeEmbed(body: Uint8Array, request: ProviderRequest): DecodedReply {
  const reply = readJsonBody(body);
  const { value } = request.document;
  const type = embeddingType(value);
  const vectors = isObject(reply.embeddings) ? reply.embeddings[type] : undefined;
  const count = inputCount(value.input);
  if (!Array.isArray(vectors) || vectors.length !== count) {
    throw invalidReply(`has ${Array.isArray(vectors) ? vectors.length : "no"} embeddings for ${count} inputs`);
  }
  const isBase64 = value.encoding_format === "base64";
  const data = vectors.map((vector: JsonValue, index) => ({
    object: "embedding",
    index,
    embedding: written(vector, index, isBase64),
  }));
  const usage = readUsage(reply.meta);
  const { prompt_tokens: prompt, total_tokens: total } = usage === undefined ? {} : usageJson(usage);
  const told = usage === undefined ? {} : { usage: { prompt_tokens: prompt as JsonValue, total_tokens: total as JsonValue } };
  return { document: writtenDocument({ object: "list", data, model: request.replyModel, ...told }), usage };
}

function written(vector: JsonValue, index: number, isBase64: boolean): JsonValue {
  if (typeof vector === "string") return vector;
  if (!Array.isArray(vector) || !vector.every((each: JsonValue) => typeof each === "number")) {
    throw invalidReply(`has no vector at embeddings[${index}]`);
  }
  return isBase64 ? floatsToBase64(vector as readonly number[]) : vector;
}

/** Text and image tokens are billed apart. Images that are billed by the piece (v3 models) are no tokens: unknown. */
function readUsage(meta: JsonValue | undefined): Usage | undefined {
  const billed = isObject(meta) && isObject(meta.billed_units) ? meta.billed_units : {};
  const texts = tokenCount(billed.input_tokens);
  const images = tokenCount(billed.image_tokens);
  if (texts === undefined && images === undefined) return undefined;
  return usageOf({ promptTokens: (texts ?? 0) + (images ?? 0), completionTokens: 0, imagePromptTokens: images });
}
