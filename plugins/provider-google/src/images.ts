/** Images: Imagen by `predict`, image models of Gemini by `generateContent`. */

import {
  Fields,
  Images,
  invalidField,
  invalidReply,
  Members,
  readJsonBody,
  upstreamError,
} from "@sluice/kit/dialect";
import { isObject } from "@sluice/kit";
import { Native } from "@sluice/kit/passthrough";
import type { DecodedReply, JsonObject, ProviderRequest, Usage } from "@sluice/contract";
import { embeddedError } from "./errors.ts";
import { isImagen } from "./models.ts";

/** Parameters of images that the API has a way to say. */
export const IMAGE_PARAMETERS = [
  "n",
  "size",
  "quality",
  "response_format",
  "output_format",
  "output_compression",
] as const;

/** Members of the API's own: the same in a request of Imagen and in `imageConfig`. */
const NATIVE: Readonly<Record<string, string>> = {
  aspect_ratio: "aspectRatio",
  person_generation: "personGeneration",
};
/** And of Imagen alone. */
const NATIVE_IMAGEN: Readonly<Record<string, string>> = {
  ...NATIVE,
  negative_prompt: "negativePrompt",
  image_size: "sampleImageSize",
  seed: "seed",
};
const NATIVE_GEMINI: Readonly<Record<string, string>> = { ...NATIVE, image_size: "imageSize" };

/**
 * Ratios of width to height (ai.google.dev/gemini-api/docs/imagen,
 * ai.google.dev/gemini-api/docs/image-generation).
 */
const IMAGEN_RATIOS = ["1:1", "3:4", "4:3", "9:16", "16:9"];
const GEMINI_RATIOS = [...IMAGEN_RATIOS, "2:3", "3:2", "4:5", "5:4", "21:9"];
const MIME = Members.table<string>({ png: "image/png", jpeg: "image/jpeg" });

/** The body to send. */
export function imageBody(request: ProviderRequest, isVertex: boolean): JsonObject {
  const isOfImagen = isImagen(request.target.model);
  const native = isOfImagen ? NATIVE_IMAGEN : NATIVE_GEMINI;
  const fields = Fields.read(request, ["prompt", ...IMAGE_PARAMETERS, ...Object.keys(native)]);
  const { refuse } = fields;
  const prompt = Members.textIn(fields.get("prompt"));
  if (prompt === undefined) throw invalidField("prompt", "a text");
  if ((fields.get("response_format") ?? "b64_json") !== "b64_json")
    refuse("response_format", "an image by URL: it answers with b64_json");
  if ((fields.get("quality") ?? "auto") !== "auto") refuse("quality", "a quality");
  const shape = { ...sizeOf(fields, isOfImagen), ...fields.pick(native) };
  const output = outputOf(fields, isVertex);
  if (isOfImagen) {
    const parameters = {
      sampleCount: fields.get("n") ?? 1,
      ...shape,
      ...(output === undefined ? {} : { outputOptions: output }),
      // Else a filtered image is left out without a word.
      ...(isVertex ? { includeRaiReason: true } : {}),
    };
    return { instances: [{ prompt }], parameters };
  }
  const imageConfig = { ...shape, ...(output === undefined ? {} : { imageOutputOptions: output }) };
  return {
    contents: [{ role: "user", parts: [{ text: prompt }] }],
    generationConfig: {
      responseModalities: ["IMAGE"],
      ...(Object.keys(imageConfig).length === 0 ? {} : { imageConfig }),
    },
  };
}

/** A size in pixels as a ratio, and as the API's word for large ones. */
function sizeOf(fields: Fields.RequestFields, isOfImagen: boolean): JsonObject {
  const size = Images.readSize(fields.get("size"));
  if (size === undefined) return {};
  const ratio = Images.aspectRatioOf(
    size,
    isOfImagen ? IMAGEN_RATIOS : GEMINI_RATIOS,
    fields.refuse,
  );
  const longest = Math.max(size.width, size.height);
  const word = longest >= 3_840 && !isOfImagen ? "4K" : longest >= 2_000 ? "2K" : undefined;
  return {
    aspectRatio: ratio,
    ...(word === undefined ? {} : { [isOfImagen ? "sampleImageSize" : "imageSize"]: word }),
  };
}

/**
 * The format of the files. The Gemini API alone decides it (`outputMimeType` of the SDK's
 * `ImageConfig`).
 */
function outputOf(
  { get, refuse }: Fields.RequestFields,
  isVertex: boolean,
): JsonObject | undefined {
  const format = get("output_format");
  const compression = get("output_compression");
  if (format === undefined && compression === undefined) return undefined;
  if (!isVertex)
    refuse(format === undefined ? "output_compression" : "output_format", "a format of the image");
  const known = typeof format === "string" ? MIME[format] : undefined;
  if (format !== undefined && known === undefined)
    refuse("output_format", `the format ${String(format).slice(0, 16)}`);
  return Members.present({ mimeType: known, compressionQuality: compression });
}

/** The reply of an image call. Throws `content_policy_violation` when every image was filtered. */
export function decodeImages(body: Uint8Array, request: ProviderRequest): DecodedReply {
  const reply = readJsonBody(body);
  if (isObject(reply.error)) throw embeddedError(reply.error);
  const isOfImagen = isImagen(request.target.model);
  const data = isOfImagen ? imagenData(reply) : geminiData(reply);
  const { size } = request.document.value;
  const { document, usage } = Images.reply(request, data, { size });
  // Imagen reports no tokens.
  const tokens = isOfImagen ? undefined : Native.readUsage(reply);
  return tokens === undefined
    ? { document, usage }
    : { document: document.with({ usage: imageUsage(tokens) }), usage: { ...usage, ...tokens } };
}

function imagenData(reply: JsonObject): readonly JsonObject[] {
  const predictions = Members.objectsOf(reply.predictions);
  const data = predictions.flatMap(({ bytesBase64Encoded: bytes, prompt }) =>
    typeof bytes === "string"
      ? [
          {
            b64_json: bytes,
            ...(typeof prompt === "string" && prompt !== "" ? { revised_prompt: prompt } : {}),
          },
        ]
      : [],
  );
  if (data.length > 0) return data;
  const reason = predictions.find(
    ({ raiFilteredReason }) => typeof raiFilteredReason === "string",
  )?.raiFilteredReason;
  if (typeof reason === "string") throw filtered(reason);
  throw invalidReply("has no images");
}

function geminiData(reply: JsonObject): readonly JsonObject[] {
  const candidates = Members.objectsOf(reply.candidates);
  const parts = candidates.flatMap(({ content }) =>
    isObject(content) ? Members.objectsOf(content.parts) : [],
  );
  const data = parts.flatMap(({ inlineData, thought }) =>
    isObject(inlineData) && typeof inlineData.data === "string" && thought !== true
      ? [{ b64_json: inlineData.data }]
      : [],
  );
  if (data.length > 0) return data;
  const feedback = isObject(reply.promptFeedback) ? reply.promptFeedback : {};
  const { finishReason, finishMessage } = candidates[0] ?? {};
  const reason = [feedback.blockReason, finishReason].find(
    (each) => typeof each === "string" && POLICY.test(each),
  );
  if (typeof reason === "string")
    throw filtered(typeof finishMessage === "string" ? `${reason}. ${finishMessage}` : reason);
  throw invalidReply("has no images");
}

const POLICY = /SAFETY|PROHIBITED|BLOCKLIST|RECITATION|SPII|MODEL_ARMOR|JAILBREAK|^OTHER$/;

function filtered(reason: string): Error {
  return upstreamError({
    failure: "content_policy",
    message: `The upstream's content policy refused the images: ${reason}`,
  });
}

function imageUsage({
  promptTokens,
  completionTokens,
  totalTokens,
  imagePromptTokens,
}: Usage): JsonObject {
  return {
    input_tokens: promptTokens,
    output_tokens: completionTokens,
    total_tokens: totalTokens,
    ...(imagePromptTokens === undefined
      ? {}
      : {
          input_tokens_details: {
            image_tokens: imagePromptTokens,
            text_tokens: promptTokens - imagePromptTokens,
          },
        }),
  };
}
