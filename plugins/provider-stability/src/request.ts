/** Image requests as Stability's: JSON for engines (v1), forms for the services since (v2beta). */

import { Form, isObject } from "@sluice/kit";
import {
  Fields,
  Images,
  invalidField,
  Members,
  readMediaUrl,
  type Refuse,
} from "@sluice/kit/dialect";
import type { JsonValue, ProviderRequest } from "@sluice/contract";
import { type Service, serviceOf } from "./models.ts";

/** Parameters of the reference dialect that the API has a way to say. */
export const PARAMETERS = [
  "n",
  "size",
  "quality",
  "style",
  "response_format",
  "output_format",
] as const;

/** The path and the body of a call. */
export interface StabilityCall {
  readonly path: string;
  readonly contentType: string;
  readonly body: Uint8Array | string;
}

/** `aspect_ratio` of the services (platform.stability.ai/docs/api-reference, Stable Image Core). */
const RATIOS = ["16:9", "1:1", "21:9", "2:3", "3:2", "4:5", "5:4", "9:16", "9:21"];
/** The API's own members, by service. */
const NATIVE: Readonly<Record<Service, readonly string[]>> = {
  core: ["negative_prompt", "aspect_ratio", "seed", "style_preset"],
  ultra: ["negative_prompt", "aspect_ratio", "seed", "style_preset", "image", "strength"],
  sd3: [
    "negative_prompt",
    "aspect_ratio",
    "seed",
    "style_preset",
    "cfg_scale",
    "image",
    "strength",
  ],
  engine: [
    "negative_prompt",
    "style_preset",
    "cfg_scale",
    "clip_guidance_preset",
    "sampler",
    "seed",
    "steps",
    "extras",
  ],
};
const STYLES = new Set(
  (
    "3d-model analog-film anime cinematic comic-book digital-art enhance fantasy-art isometric line-art low-poly " +
    "modeling-compound neon-punk origami photographic pixel-art tile-texture"
  ).split(" "),
);
/** Steps of an engine by the reference dialect's qualities; 30 is the API's own default. */
const STEPS: Readonly<Record<string, number | undefined>> = {
  auto: undefined,
  low: 15,
  standard: 30,
  medium: 30,
  high: 50,
  hd: 50,
};

/**
 * The call of an image request. Throws `unsupported_parameter` for what the model's service has no
 * way to say.
 */
export function encodeImage(request: ProviderRequest): StabilityCall {
  const service = serviceOf(request.target.model);
  const fields = Fields.read(request, ["prompt", ...PARAMETERS, ...NATIVE[service]]);
  if (fields.get("response_format") === "url")
    fields.refuse("response_format", "a request for URLs (it answers with b64_json)");
  const { prompt } = fields.body;
  if (typeof prompt !== "string") throw invalidField("prompt", "a text");
  return service === "engine"
    ? engineCall(request.target.model, prompt, fields)
    : serviceCall(request.target.model, prompt, service, fields);
}

function engineCall(
  model: string,
  prompt: string,
  { get, pick, refuse }: Fields.RequestFields,
): StabilityCall {
  const format = get("output_format") ?? "png";
  if (format !== "png") refuse("output_format", `the format ${String(format).slice(0, 32)}`);
  const size = Images.readSize(get("size"));
  if (size !== undefined && (size.width % 64 !== 0 || size.height % 64 !== 0))
    refuse("size", "a size that is no multiple of 64");
  const { negative_prompt: avoided, style_preset: preset, ...native } = pick(NATIVE.engine);
  const body = Members.present({
    text_prompts: [
      { text: prompt, weight: 1 },
      ...(typeof avoided === "string" ? [{ text: avoided, weight: -1 }] : []),
    ],
    samples: get("n"),
    width: size?.width,
    height: size?.height,
    steps: stepsOf(get("quality"), refuse),
    style_preset: styleOf(get("style"), refuse) ?? preset,
    ...native,
  });
  const path = `v1/generation/${encodeURIComponent(model)}/text-to-image`;
  return { path, contentType: "application/json", body: JSON.stringify(body) };
}

function serviceCall(
  model: string,
  prompt: string,
  service: Service,
  { get, pick, refuse }: Fields.RequestFields,
): StabilityCall {
  if ((get("quality") ?? "auto") !== "auto")
    refuse("quality", "a quality (which the model decides)");
  const { image: pictured, aspect_ratio: ratio, ...native } = pick(NATIVE[service]);
  const image = pictured === undefined ? undefined : imageOf(pictured);
  const size = Images.readSize(get("size"));
  const format = get("output_format");
  if (format === "webp" && service === "sd3") refuse("output_format", "the format webp");
  const fields: Record<string, string | Form.File | undefined> = {
    prompt,
    // `sd3` alone means the service's own default.
    ...(service === "sd3" && model !== "sd3" ? { model } : {}),
    ...(service === "sd3" && image !== undefined ? { mode: "image-to-image" } : {}),
    // An image that is made from another has the shape of that one.
    ...(image === undefined
      ? { aspect_ratio: textOf(ratio) ?? (size && Images.aspectRatioOf(size, RATIOS, refuse)) }
      : {}),
    output_format: textOf(format),
    style_preset: styleOf(get("style"), refuse),
    ...Object.fromEntries(Object.entries(native).map(([name, member]) => [name, textOf(member)])),
    image,
  };
  if (image !== undefined && (ratio ?? size) !== undefined)
    refuse(size === undefined ? "aspect_ratio" : "size", "a size beside an image");
  return { path: `v2beta/stable-image/generate/${service}`, ...Form.body(fields) };
}

function textOf(value: JsonValue | undefined): string | undefined {
  if (value === undefined) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** A style of the API's own; `vivid` and `natural` are another provider's. */
function styleOf(style: JsonValue | undefined, refuse: Refuse): string | undefined {
  if (style === undefined) return undefined;
  const name = String(style);
  return STYLES.has(name)
    ? name
    : refuse("style", `the style ${name.slice(0, 32)} (known are ${[...STYLES].join(", ")})`);
}

function stepsOf(quality: JsonValue | undefined, refuse: Refuse): number | undefined {
  if (quality === undefined) return undefined;
  const name = String(quality);
  return Object.hasOwn(STEPS, name)
    ? STEPS[name]
    : refuse("quality", `the quality ${name.slice(0, 32)}`);
}

function imageOf(value: JsonValue): Form.File {
  const source = readMediaUrl(isObject(value) ? value.url : value, "image");
  if (source.kind !== "data" || !source.mimeType.startsWith("image/")) {
    throw invalidField(
      "image",
      "a data: URL of an image, or an https: URL where the operator set fetch_media",
    );
  }
  return {
    fileName: "image",
    mimeType: source.mimeType,
    bytes: Buffer.from(source.data, "base64"),
  };
}
