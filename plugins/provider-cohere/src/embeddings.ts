/**
 * Embeddings by Cohere's v2 embed (docs.cohere.com/reference/embed; its SDK 5.20,
 * `EmbedByTypeResponse`).
 */

import { isObject } from "@sluice/kit";
import {
  Embeddings,
  Fields,
  invalidField,
  Members,
  readJsonBody,
  readMediaUrl,
  tokenCount,
  usageOf,
} from "@sluice/kit/dialect";
import type { DecodedReply, JsonObject, JsonValue, ProviderRequest, Usage } from "@sluice/contract";

/** Maximum inputs of one call. */
export const INPUTS_PER_CALL = 96;
/** The default purpose of a vector: it is stored and searched. */
const INPUT_TYPE = "search_document";
/** Members of the API's own that a client may send. */
const NATIVE = ["input_type", "truncate", "max_tokens", "priority"];
const KNOWN = ["input", "encoding_format", "dimensions", "embedding_types", ...NATIVE];
const TYPES = new Set(["float", "base64", "int8", "uint8", "binary", "ubinary"]);

/**
 * The body of an embeddings request. Texts are `texts`; where images (data URLs) are among them,
 * all are `inputs`.
 */
export function embedBody(request: ProviderRequest): JsonObject {
  const fields = Fields.read(request, KNOWN);
  const inputs = Embeddings.texts(fields);
  // A data URL that is none would be embedded as a text.
  for (const [index, input] of inputs.entries())
    if (isImage(input)) readMediaUrl(input, `input[${index}]`);
  return {
    model: request.target.model,
    input_type: INPUT_TYPE,
    ...(inputs.some(isImage) ? { inputs: inputs.map(contentOf) } : { texts: inputs }),
    embedding_types: [embeddingType(fields.body)],
    ...Members.present({ output_dimension: fields.get("dimensions") }),
    ...fields.pick(NATIVE),
  };
}

function isImage(input: string): boolean {
  return /^data:image\//i.test(input);
}

function contentOf(input: string): JsonObject {
  return {
    content: [
      isImage(input)
        ? { type: "image_url", image_url: { url: input } }
        : { type: "text", text: input },
    ],
  };
}

/**
 * The requested type of vectors. The gateway encodes base64 itself, so that the bytes are those of
 * the reference API.
 */
function embeddingType({ embedding_types: types }: JsonObject): string {
  if (types === undefined || types === null) return "float";
  const [type] = Array.isArray(types) ? (types as readonly JsonValue[]) : [types];
  if (typeof type !== "string" || !TYPES.has(type) || (Array.isArray(types) && types.length > 1)) {
    throw invalidField(
      "embedding_types",
      "a list of one: float, base64, int8, uint8, binary or ubinary",
    );
  }
  return type;
}

/**
 * The reply of an embeddings call. Throws `upstream_invalid_response` unless there is one vector
 * for each input.
 */
export function decodeEmbed(body: Uint8Array, request: ProviderRequest): DecodedReply {
  const reply = readJsonBody(body);
  const vectors = isObject(reply.embeddings)
    ? reply.embeddings[embeddingType(request.document.value)]
    : undefined;
  return Embeddings.reply(
    request,
    Array.isArray(vectors) ? vectors : undefined,
    readUsage(reply.meta),
  );
}

/**
 * Text and image tokens are billed separately. v3 models bill images by the piece: their tokens are
 * unknown.
 */
function readUsage(meta: JsonValue | undefined): Usage | undefined {
  const billed = isObject(meta) && isObject(meta.billed_units) ? meta.billed_units : {};
  const texts = tokenCount(billed.input_tokens);
  const images = tokenCount(billed.image_tokens);
  if (texts === undefined && images === undefined) return undefined;
  return usageOf({
    promptTokens: (texts ?? 0) + (images ?? 0),
    completionTokens: 0,
    imagePromptTokens: images,
  });
}
