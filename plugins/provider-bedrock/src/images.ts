/**
 * Images by InvokeModel: Nova Canvas and Titan (several a call), Stability (one). Sources:
 * docs.aws.amazon.com/nova/latest/userguide/image-gen-req-resp-structure.html,
 * docs.aws.amazon.com/bedrock/latest/userguide/ model-parameters-titan-image.html,
 * model-parameters-diffusion-stable-ultra-text-image-request-response.html.
 */

import { isObject } from "@sluice/kit";
import {
  Fields,
  Images,
  invalidField,
  invalidReply,
  Members,
  readJsonBody,
  upstreamError,
} from "@sluice/kit/dialect";
import type { DecodedReply, JsonObject, JsonValue, ProviderRequest } from "@sluice/contract";
import { baseModel } from "./models.ts";

/** Parameters of the reference dialect's images. */
export const IMAGE_PARAMETERS = [
  "n",
  "size",
  "quality",
  "response_format",
  "output_format",
] as const;

interface ImageFamily {
  readonly imagesPerCall: number;
  readonly native: readonly string[];
  body(prompt: string, asked: Fields.RequestFields): JsonObject;
}

const QUALITIES = Members.table<string>({
  standard: "standard",
  medium: "standard",
  hd: "premium",
  high: "premium",
  premium: "premium",
});
const RATIOS = ["16:9", "1:1", "21:9", "2:3", "3:2", "4:5", "5:4", "9:16", "9:21"];

const amazon: ImageFamily = {
  imagesPerCall: 5,
  native: ["textToImageParams", "imageGenerationConfig"],
  body(prompt, asked) {
    if ((asked.get("output_format") ?? "png") !== "png")
      asked.refuse("output_format", "another format than png");
    const size = Images.readSize(asked.get("size"));
    const config = {
      ...Members.present({
        numberOfImages: asked.get("n"),
        width: size?.width,
        height: size?.height,
      }),
      ...quality(asked),
      ...object(asked, "imageGenerationConfig"),
    };
    return {
      taskType: "TEXT_IMAGE",
      textToImageParams: { text: prompt, ...object(asked, "textToImageParams") },
      ...(Object.keys(config).length === 0 ? {} : { imageGenerationConfig: config }),
    };
  },
};

const STABILITY_NATIVE = ["negative_prompt", "seed", "aspect_ratio"];

const stability: ImageFamily = {
  imagesPerCall: 1,
  native: STABILITY_NATIVE,
  body(prompt, asked) {
    const format = asked.get("output_format");
    if (format !== undefined && format !== "png" && format !== "jpeg") {
      asked.refuse("output_format", `the format ${String(format).slice(0, 16)}`);
    }
    if ((asked.get("quality") ?? "auto") !== "auto") asked.refuse("quality", "a quality");
    const size = Images.readSize(asked.get("size"));
    return {
      prompt,
      ...Members.present({
        aspect_ratio: size && Images.aspectRatioOf(size, RATIOS, asked.refuse),
        output_format: format,
      }),
      ...asked.pick(STABILITY_NATIVE),
    };
  },
};

const FAMILIES: readonly (readonly [RegExp, ImageFamily])[] = [
  [/^amazon\.(?:nova-canvas|titan-image-generator)/, amazon],
  [/^stability\.(?:sd3|stable-image-(?:core|ultra))/, stability],
];

function familyOf(model: string): ImageFamily | undefined {
  const base = baseModel(model);
  return FAMILIES.find(([pattern]) => pattern.test(base))?.[1];
}

/** Maximum images of one call. */
export function imagesPerCall(model: string): number {
  return familyOf(model)?.imagesPerCall ?? Infinity;
}

/**
 * The model's own body. Throws `unsupported_parameter` for a model that makes no images, and for
 * what it cannot take.
 */
export function imagesBody(request: ProviderRequest): JsonObject {
  const family = familyOf(request.target.model);
  const asked = Fields.read(request, ["prompt", ...IMAGE_PARAMETERS, ...(family?.native ?? [])]);
  if (family === undefined) return asked.refuse("model", "images");
  const { prompt } = asked.body;
  if (typeof prompt !== "string" || prompt === "") throw invalidField("prompt", "a text");
  if (asked.get("response_format") === "url")
    asked.refuse("response_format", "images by URL (it answers with b64_json)");
  return family.body(prompt, asked);
}

function quality(asked: Fields.RequestFields): JsonObject {
  const wanted = asked.get("quality") ?? "auto";
  if (wanted === "auto") return {};
  const known = typeof wanted === "string" ? QUALITIES[wanted] : undefined;
  return {
    quality: known ?? asked.refuse("quality", `the quality ${String(wanted).slice(0, 16)}`),
  };
}

function object(asked: Fields.RequestFields, name: string): JsonObject {
  const value = asked.get(name);
  if (value === undefined) return {};
  return isObject(value) ? value : asked.refuse(name, "what is no object");
}

/**
 * The reply in the reference dialect, and images by the piece. Throws `content_policy_violation`
 * when the model's filters let none through.
 */
export function decodeImage(body: Uint8Array, request: ProviderRequest): DecodedReply {
  const reply = readJsonBody(body);
  const images = strings(reply.images);
  // A reply of Stability has a reason for each image; null means that the image is present.
  const reason =
    strings(reply.finish_reasons)[0] ?? (typeof reply.error === "string" ? reply.error : undefined);
  if (images.length === 0)
    throw reason === undefined ? invalidReply("has no images") : refusal(reason);
  const { size, quality: wanted } = request.document.value;
  return Images.reply(
    request,
    images.map((image) => ({ b64_json: image })),
    { size, quality: wanted },
  );
}

function refusal(reason: string): Error {
  const isPolicy = /filter|policy|moderat/i.test(reason);
  return upstreamError({ message: reason, failure: isPolicy ? "content_policy" : "server" });
}

function strings(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((each: JsonValue) => typeof each === "string") : [];
}
