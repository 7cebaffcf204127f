/** Images for other dialects: sizes, the aspect ratios for them, and a reply made of images. */

import type {
  DecodedReply,
  ImageUsage,
  JsonObject,
  JsonValue,
  ProviderRequest,
} from "@sluice/contract";
import { writtenDocument } from "../json/document.ts";
import type { ImageSize } from "../openai/tokens/image-size.ts";
import { invalidField, type Refuse } from "./refusal.ts";

/**
 * The maximum relative difference between equal aspect ratios. 1792x1024 differs from 16:9 by 1.6
 * per cent.
 */
const MAX_DIFFERENCE = 0.05;

/** The requested size; `undefined` for `auto` and for none. Throws `invalid_field`. */
export function readSize(value: JsonValue | undefined): ImageSize | undefined {
  if (value === undefined || value === null || value === "auto") return undefined;
  const [, width, height] =
    typeof value === "string" ? (/^([1-9]\d{0,4})x([1-9]\d{0,4})$/.exec(value) ?? []) : [];
  if (width === undefined || height === undefined)
    throw invalidField("size", "auto, or a width and a height: 1024x1024");
  return { width: Number(width), height: Number(height) };
}

/**
 * The nearest aspect ratio that a provider supports: `16:9`. Refuses a size that matches none of
 * them.
 */
export function aspectRatioOf(
  { width, height }: ImageSize,
  ratios: readonly string[],
  refuse: Refuse,
): string {
  const wanted = width / height;
  const differences = ratios.map((name) => {
    const [across = 1, down = 1] = name.split(":").map(Number);
    return { name, difference: Math.abs(wanted / (across / down) - 1) };
  });
  const nearest = differences.toSorted((a, b) => a.difference - b.difference)[0];
  if (nearest === undefined || nearest.difference > MAX_DIFFERENCE) {
    return refuse(
      "size",
      `a size of the shape ${width}:${height} (known are ${ratios.join(", ")})`,
    );
  }
  return nearest.name;
}

/** Zero tokens, which differs from an unknown number: the image is billed by the piece. */
const NO_TOKENS = { promptTokens: 0, completionTokens: 0, totalTokens: 0 };

/**
 * The reply of an image call, with the number of images. `made` holds the properties that determine
 * their price.
 */
export function imagesReply(
  { createdSeconds }: ProviderRequest,
  images: readonly JsonObject[],
  made: { readonly size?: JsonValue | undefined; readonly quality?: JsonValue | undefined } = {},
): DecodedReply & { readonly usage: NonNullable<DecodedReply["usage"]> } {
  const { size, quality } = made;
  const counted: ImageUsage = {
    count: images.length,
    ...(typeof size === "string" ? { size } : {}),
    ...(typeof quality === "string" ? { quality } : {}),
  };
  return {
    document: writtenDocument({ created: createdSeconds, data: images }),
    usage: { ...NO_TOKENS, images: counted },
  };
}
