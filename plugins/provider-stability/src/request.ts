/** Image requests as Stability's: JSON for engines (v1), forms for the services since (v2beta). */

import { formBody, type FormFile, isObject } from "@sluice/kit";
import { invalidField, readMediaUrl, type Refuse, refusalsOf } from "@sluice/kit/dialect";
import type { JsonObject, JsonValue, ProviderRequest } from "@sluice/spec";
import { aspectRatioOf, readSize } from "./size.ts";
import { type Service, serviceOf } from "./models.ts";

/** Parameters of the reference dialect that the API has a way to say. */
export const PARAMETERS = ["n", "size", "quality", "style", "response_format", "output_format"] as const;

/** The path and the body of a call. */
export interface StabilityCall {
  readonly path: string;
  readonly contentType: string;
  readonly body: Uint8Array | string;
}

/** Members that every image request may have; `user` and `metadata` are the gateway's. */
const KNOWN = new Set(["model", "prompt", "user", "metadata", ...PARAMETERS]);
/** The API's own members, by service. */
const NATIVE: Readonly<Record<Service, readonly string[]>> = {
  core: ["negative_prompt", "aspect_ratio", "seed", "style_preset"],
  ultra: ["negative_prompt", "aspect_ratio", "seed", "style_preset", "image", "strength"],
  sd3: ["negative_prompt", "aspect_ratio", "seed", "style_preset", "cfg_scale", "image", "strength"],
  engine: ["negative_prompt", "style_preset", "cfg_scale", "clip_guidance_preset", "sampler", "seed", "steps", "extras"],
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

/** The call of an image request. Throws `unsupported_parameter` for what the model's service has no way to say. */
export function encodeImage(request: ProviderRequest): StabilityCall {
  const { value } = request.document;
  const refuse = refusalsOf(request);
  const service = serviceOf(request.target.model);
  const native = NATIVE[service];
  const unknown = Object.keys(value).find((name) => isAsked(value[name]) && !KNOWN.has(name) && !native.includes(name));
  if (unknown !== undefined) refuse(unknown, `the parameter ${unknown}`);
  if (value.response_format === "url") refuse("response_format", "a request for URLs (it answers with b64_json)");
  if (typeof value.prompt !== "string") throw invalidField("prompt", "a text");
  return service === "engine" ? engineCall(request, value.prompt, refuse) : serviceCall(request, value.prompt, service, refuse);
}

function engineCall({ document, target }: ProviderRequest, prompt: string, refuse: Refuse): StabilityCall {
  const { value } = document;
  const format = value.output_format;
  if (isAsked(format) && format !== "png") refuse("output_format", `the format ${String(format).slice(0, 32)}`);
  const size = readSize(value.size);
  if (size !== undefined && (size.width % 64 !== 0 || size.height % 64 !== 0)) refuse("size", "a size that is no multiple of 64");
  const { negative_prompt: avoided, style_preset: preset, ...native } = pick(value, NATIVE.engine);
  const style = styleOf(value.style, refuse) ?? preset;
  const steps = stepsOf(value.quality, refuse);
  const body: JsonObject = {
    text_prompts: [{ text: prompt, weight: 1 }, ...(typeof avoided === "string" ? [{ text: avoided, weight: -1 }] : [])],
    ...(typeof value.n === "number" ? { samples: value.n } : {}),
    ...(size === undefined ? {} : { width: size.width, height: size.height }),
    ...(steps === undefined ? {} : { steps }),
    ...(style === undefined ? {} : { style_preset: style }),
    ...native,
  };
  const path = `v1/generation/${encodeURIComponent(target.model)}/text-to-image`;
  return { path, contentType: "application/json", body: JSON.stringify(body) };
}

function serviceCall({ document, target }: ProviderRequest, prompt: string, service: Service, refuse: Refuse): StabilityCall {
  const { value } = document;
  if (isAsked(value.quality) && value.quality !== "auto") refuse("quality", "a quality (which the model decides)");
  const { image: pictured, aspect_ratio: ratio, ...native } = pick(value, NATIVE[service]);
  const image = pictured === undefined ? undefined : imageOf(pictured);
  const style = styleOf(value.style, refuse);
  const size = readSize(value.size);
  const format = value.output_format;
  if (format === "webp" && service === "sd3") refuse("output_format", "the format webp");
  const fields: Record<string, string | FormFile | undefined> = {
    prompt,
    // `sd3` alone means the service's own default.
    ...(service === "sd3" && target.model !== "sd3" ? { model: target.model } : {}),
    ...(service === "sd3" && image !== undefined ? { mode: "image-to-image" } : {}),
    // The shape of an image that is made from another is that one's.
    ...(image === undefined
      ? { aspect_ratio: textOf(ratio) ?? (size === undefined ? undefined : aspectRatioOf(size, refuse)) }
      : {}),
    output_format: textOf(format),
    style_preset: style,
    ...Object.fromEntries(Object.entries(native).map(([name, member]) => [name, textOf(member)])),
    image,
  };
  if (image !== undefined && (isAsked(ratio) || size !== undefined))
    refuse(size === undefined ? "aspect_ratio" : "size", "a size beside an image");
  return { path: `v2beta/stable-image/generate/${service}`, ...formBody(fields) };
}

function isAsked(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null;
}

function pick(value: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.flatMap((name) => (isAsked(value[name]) ? [[name, value[name] as JsonValue]] : [])));
}

function textOf(value: JsonValue | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** A style of the API's own; `vivid` and `natural` are another provider's. */
function styleOf(style: JsonValue | undefined, refuse: Refuse): string | undefined {
  if (!isAsked(style)) return undefined;
  const name = String(style);
  return STYLES.has(name) ? name : refuse("style", `the style ${name.slice(0, 32)} (known are ${[...STYLES].join(", ")})`);
}

function stepsOf(quality: JsonValue | undefined, refuse: Refuse): number | undefined {
  if (!isAsked(quality)) return undefined;
  const name = String(quality);
  return Object.hasOwn(STEPS, name) ? STEPS[name] : refuse("quality", `the quality ${name.slice(0, 32)}`);
}

function imageOf(value: JsonValue): FormFile {
  const source = readMediaUrl(isObject(value) ? value.url : value, "image");
  if (source.kind !== "data" || !source.mimeType.startsWith("image/")) {
    throw invalidField("image", "a data: URL of an image: the gateway fetches nothing");
  }
  return { fileName: "image", mimeType: source.mimeType, bytes: Buffer.from(source.data, "base64") };
}
