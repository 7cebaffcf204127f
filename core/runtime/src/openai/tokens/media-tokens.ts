/**
 * Tokens of content other than text: images by the reference API's documentation, sounds and files
 * by their size.
 */

import type { JsonObject, JsonValue, TokenCount } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { type ImageSize, imageSizeOf } from "@sluice/kit/internals";

const LOW_DETAIL = 85;
const TILE = 170;
/** An image of unknown size: four tiles, the size of a photograph. */
const UNKNOWN_HIGH = LOW_DETAIL + 4 * TILE;
const LONG_SIDE = 2_048;
const SHORT_SIDE = 768;
const TILE_SIDE = 512;

const AUDIO_TOKENS_PER_SECOND = 10;
/** 24 kHz, 16 bits, one channel. */
const WAV_BYTES_PER_SECOND = 48_000;
const MP3_BYTES_PER_SECOND = 16_000;
const TEXT_BYTES_PER_TOKEN = 4;
/** Estimate: a document page has 50 KB and a thousand tokens. */
const DOCUMENT_BYTES_PER_TOKEN = 50;

/**
 * The tokens of an image: 85, and in high detail 170 for each tile after fitting into 2048 × 2048
 * with a short side of 768.
 */
export function imageTokens(size: ImageSize, detail: string | undefined): number {
  if (detail === "low") return LOW_DETAIL;
  const fit = Math.min(1, LONG_SIDE / Math.max(size.width, size.height));
  const shrink = Math.min(1, SHORT_SIDE / (Math.min(size.width, size.height) * fit));
  const tiles = (side: number): number =>
    Math.max(1, Math.ceil(Math.round(side * fit * shrink) / TILE_SIDE));
  return LOW_DETAIL + TILE * tiles(size.width) * tiles(size.height);
}

/**
 * The tokens of a content block other than text. Content that is not in the request (a file's id, a
 * URL) counts zero, and the result is not exact.
 */
export function mediaTokens(block: JsonObject): TokenCount {
  switch (block.type) {
    case "image_url":
      return imageBlock(block.image_url);
    case "input_audio":
      return audioBlock(block.input_audio);
    default:
      return fileBlock(
        isObject(block.file) ? block.file : isObject(block.document) ? block.document : block,
      );
  }
}

function imageBlock(value: JsonValue | undefined): TokenCount {
  const image = isObject(value) ? value : { url: value };
  const detail = typeof image.detail === "string" ? image.detail : undefined;
  if (detail === "low") return { tokens: LOW_DETAIL, exact: true };
  const size = typeof image.url === "string" ? imageSizeOf(image.url) : undefined;
  return size === undefined
    ? { tokens: UNKNOWN_HIGH, exact: false }
    : { tokens: imageTokens(size, detail), exact: true };
}

function audioBlock(value: JsonValue | undefined): TokenCount {
  const audio = isObject(value) ? value : {};
  const perSecond = audio.format === "wav" ? WAV_BYTES_PER_SECOND : MP3_BYTES_PER_SECOND;
  return {
    tokens: Math.ceil((base64Bytes(audio.data) / perSecond) * AUDIO_TOKENS_PER_SECOND),
    exact: false,
  };
}

function fileBlock(file: JsonObject): TokenCount {
  const source = isObject(file.source) ? file.source : file;
  const data = source.file_data ?? source.data ?? source.url;
  const type =
    typeof source.media_type === "string"
      ? source.media_type
      : typeof data === "string"
        ? data.slice(0, 64)
        : "";
  const perToken = /(?:^|data:)text\//.test(type) ? TEXT_BYTES_PER_TOKEN : DOCUMENT_BYTES_PER_TOKEN;
  const bytes =
    source.type === "text" && typeof data === "string"
      ? Buffer.byteLength(data)
      : base64Bytes(data);
  return { tokens: Math.ceil(bytes / perToken), exact: false };
}

/** Bytes of a base64 text, bare or in a data URL; 0 for any other value. */
function base64Bytes(value: JsonValue | undefined): number {
  if (typeof value !== "string" || /^https?:/.test(value)) return 0;
  const start = value.startsWith("data:") ? value.indexOf(",") + 1 : 0;
  return Math.floor(((value.length - start) * 3) / 4);
}
