/** Images: Imagen by `predict`, image models of Gemini by `generateContent`. */

import { invalidField, invalidReply, objectsOf, readJsonBody, type Refuse, refusalsOf, upstreamError } from "@sluice/kit/dialect";
import { isObject, writtenDocument } from "@sluice/kit";
import { readNativeUsage } from "@sluice/kit/passthrough";
import type { DecodedReply, ImageUsage, JsonObject, JsonValue, ProviderRequest, Usage } from "@sluice/spec";
import { embeddedError } from "./errors.ts";
import { isImagen } from "./models.ts";

/** Parameters of images that the API has a way to say. */
export const IMAGE_PARAMETERS = ["n", "size", "quality", "response_format", "output_format", "output_compression"] as const;

/** Members of the API's own: the same in a request of Imagen and in `imageConfig`. */
const NATIVE: Readonly<Record<string, string>> = { aspect_ratio: "aspectRatio", person_generation: "personGeneration" };
/** And of Imagen alone. */
const NATIVE_IMAGEN: Readonly<Record<string, string>> = {
  ...NATIVE,
  negative_prompt: "negativePrompt",
  image_size: "sampleImageSize",
  seed: "seed",
};
const NATIVE_GEMINI: Readonly<Record<string, string>> = { ...NATIVE, image_size: "imageSize" };
const GENERAL = new Set(["model", "prompt", "user", "metadata"]);

/** Ratios of width to height (ai.google.dev/gemini-api/docs/imagen, ai.google.dev/gemini-api/docs/image-generation). */
const IMAGEN_RATIOS = ["1:1", "3:4", "4:3", "9:16", "16:9"];
const GEMINI_RATIOS = [...IMAGEN_RATIOS, "2:3", "3:2", "4:5", "5:4", "21:9"];
/** A size is taken for a ratio that it misses by this part: 1792x1024 means 16:9. */
const RATIO_TOLERANCE = 0.03;
const MIME: Readonly<Record<string, string>> = { png: "image/png", jpeg: "image/jpeg" };

/** The body to send. */
export function imageBody(request: ProviderRequest, isVertex: boolean): JsonObject {
  const { document, target } = request;
  const body = document.value;
  const refuse = refusalsOf(request);
  const isOfImagen = isImagen(target.model);
  const native = isOfImagen ? NATIVE_IMAGEN : NATIVE_GEMINI;
  const known = new Set<string>([...GENERAL, ...IMAGE_PARAMETERS, ...Object.keys(native)]);
  const unknown = Object.keys(body).find((name) => !known.has(name) && body[name] !== null);
  if (unknown !== undefined) refuse(unknown, `the parameter ${unknown}`);
  if (typeof body.prompt !== "string" || body.prompt === "") throw invalidField("prompt", "a text");
  if (isAsked(body.response_format, "b64_json")) refuse("response_format", "an image by URL: it answers with b64_json");
  if (isAsked(body.quality, "auto")) refuse("quality", "a quality");
  const shape = { ...sizeOf(body.size, isOfImagen, refuse), ...chosen(body, native) };
  const output = outputOf(body, isVertex, refuse);
  if (isOfImagen) {
    const parameters = {
      sampleCount: typeof body.n === "number" ? body.n : 1,
      ...shape,
      ...(output === undefined ? {} : { outputOptions: output }),
      // Else a filtered image is left out without a word.
      ...(isVertex ? { includeRaiReason: true } : {}),
    };
    return { instances: [{ prompt: body.prompt }], parameters };
  }
  const imageConfig = { ...shape, ...(output === undefined ? {} : { imageOutputOptions: output }) };
  return {
    contents: [{ role: "user", parts: [{ text: body.prompt }] }],
    generationConfig: {
      responseModalities: ["IMAGE"],
      ...(Object.keys(imageConfig).length === 0 ? {} : { imageConfig }),
    },
  };
}

function isAsked(value: JsonValue | undefined, usual: string): boolean {
  return value !== undefined && value !== null && value !== usual;
}

function chosen(body: JsonObject, names: Readonly<Record<string, string>>): JsonObject {
  return Object.fromEntries(
    Object.entries(names).flatMap(([from, to]) => (body[from] === undefined || body[from] === null ? [] : [[to, body[from]]])),
  );
}

/** A size in pixels as a ratio, and as the API's word for large ones. */
function sizeOf(size: JsonValue | undefined, isOfImagen: boolean, refuse: Refuse): JsonObject {
  if (!isAsked(size, "auto")) return {};
  const match = typeof size === "string" ? /^(\d{2,5})x(\d{2,5})$/.exec(size) : null;
  if (match === null) throw invalidField("size", "auto or a width and a height: 1024x1024");
  const [width, height] = [Number(match[1]), Number(match[2])];
  const ratios = isOfImagen ? IMAGEN_RATIOS : GEMINI_RATIOS;
  const ratio = ratios.find((each) => {
    const [w = 1, h = 1] = each.split(":").map(Number);
    return Math.abs((width * h) / (height * w) - 1) <= RATIO_TOLERANCE;
  });
  if (ratio === undefined) return refuse("size", `the size ${match[0]}, whose ratio is none of ${ratios.join(", ")}`);
  const longest = Math.max(width, height);
  const word = longest >= 3_840 && !isOfImagen ? "4K" : longest >= 2_000 ? "2K" : undefined;
  return { aspectRatio: ratio, ...(word === undefined ? {} : { [isOfImagen ? "sampleImageSize" : "imageSize"]: word }) };
}

/** The format of the files. The Gemini API alone decides it (`outputMimeType` of the SDK's `ImageConfig`). */
function outputOf(body: JsonObject, isVertex: boolean, refuse: Refuse): JsonObject | undefined {
  const { output_format: format, output_compression: compression } = body;
  if (!isAsked(format, "") && !isAsked(compression, "")) return undefined;
  if (!isVertex) refuse(isAsked(format, "") ? "output_format" : "output_compression", "a format of the image");
  const mimeType =
    typeof format === "string" ? (MIME[format] ?? refuse("output_format", `the format ${format.slice(0, 16)}`)) : undefined;
  return {
    ...(mimeType === undefined ? {} : { mimeType }),
    ...(typeof compression === "number" ? { compressionQuality: compression } : {}),
  };
}

/** The reply of an image call. Throws `content_policy_violation` when every image was filtered. */
export function decodeImages(body: Uint8Array, request: ProviderRequest): DecodedReply {
  const reply = readJsonBody(body);
  if (isObject(reply.error)) throw embeddedError(reply.error);
  const data = isImagen(request.target.model) ? imagenData(reply) : geminiData(reply);
  const images: ImageUsage = { count: data.length, ...sizeAsked(request) };
  const tokens = readNativeUsage(reply);
  // A model that is billed by the piece reports no tokens: there are none then, which is not the same as unknown.
  const usage: Usage = { ...(tokens ?? { promptTokens: 0, completionTokens: 0, totalTokens: 0 }), images };
  const document = writtenDocument({
    created: request.createdSeconds,
    data,
    ...(tokens === undefined ? {} : { usage: imageUsage(tokens) }),
  });
  return { document, usage };
}

function sizeAsked({ document }: ProviderRequest): { readonly size?: string } {
  const { size } = document.value;
  return typeof size === "string" ? { size } : {};
}

function imagenData(reply: JsonObject): readonly JsonObject[] {
  const predictions = objectsOf(reply.predictions);
  const data = predictions.flatMap(({ bytesBase64Encoded: bytes, prompt }) =>
    typeof bytes === "string"
      ? [{ b64_json: bytes, ...(typeof prompt === "string" && prompt !== "" ? { revised_prompt: prompt } : {}) }]
      : [],
  );
  if (data.length > 0) return data;
  const reason = predictions.find(({ raiFilteredReason }) => typeof raiFilteredReason === "string")?.raiFilteredReason;
  if (typeof reason === "string") throw filtered(reason);
  throw invalidReply("has no images");
}

function geminiData(reply: JsonObject): readonly JsonObject[] {
  const candidates = objectsOf(reply.candidates);
  const parts = candidates.flatMap(({ content }) => (isObject(content) ? objectsOf(content.parts) : []));
  const data = parts.flatMap(({ inlineData, thought }) =>
    isObject(inlineData) && typeof inlineData.data === "string" && thought !== true ? [{ b64_json: inlineData.data }] : [],
  );
  if (data.length > 0) return data;
  const feedback = isObject(reply.promptFeedback) ? reply.promptFeedback : {};
  const { finishReason, finishMessage } = candidates[0] ?? {};
  const reason = [feedback.blockReason, finishReason].find((each) => typeof each === "string" && POLICY.test(each));
  if (typeof reason === "string") throw filtered(typeof finishMessage === "string" ? `${reason}. ${finishMessage}` : reason);
  throw invalidReply("has no images");
}

const POLICY = /SAFETY|PROHIBITED|BLOCKLIST|RECITATION|SPII|MODEL_ARMOR|JAILBREAK|^OTHER$/;

function filtered(reason: string): Error {
  return upstreamError({ failure: "content_policy", message: `The upstream's content policy refused the images: ${reason}` });
}

function imageUsage({ promptTokens, completionTokens, totalTokens, imagePromptTokens }: Usage): JsonObject {
  return {
    input_tokens: promptTokens,
    output_tokens: completionTokens,
    total_tokens: totalTokens,
    ...(imagePromptTokens === undefined
      ? {}
      : { input_tokens_details: { image_tokens: imagePromptTokens, text_tokens: promptTokens - imagePromptTokens } }),
  };
}
