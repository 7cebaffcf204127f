/**
 * Embeddings of the reference dialect. Vectors are forwarded as bytes, and read only to change
 * their format.
 */

import type {
  DecodedReply,
  JsonDocument,
  JsonObject,
  JsonValue,
  ProviderRequest,
} from "@sluice/contract";
import { bytesDocument, piecesDocument } from "../../json/bytes-document.ts";
import { writtenDocument } from "../../json/document.ts";
import { isObject } from "../../json/narrow.ts";
import { parseJson } from "../../json/parse.ts";
import { base64ToFloats, floatsToBase64 } from "./format.ts";
import { invalidReply, readSkeletonReply, type SkeletonReply } from "./skeleton-reply.ts";
import { readUsage } from "../usage.ts";

/** How vectors are written: an array of numbers, or base64 of little-endian float32. */
export type EmbeddingFormat = "float" | "base64";

/** The properties of an upstream's embeddings. */
export interface EmbeddingsOptions {
  /**
   * The formats that the upstream supports, the preferred one first. Default: both. A single format
   * is not sent in the request.
   */
  readonly formats?: readonly EmbeddingFormat[];
}

/**
 * The document to send: the target's model, and a format that the upstream supports. Every other
 * byte is the client's.
 */
export function encodeEmbeddings(
  request: ProviderRequest,
  { formats = [] }: EmbeddingsOptions = {},
): JsonDocument {
  const changes: Record<string, JsonValue | undefined> = { model: request.target.model };
  if (formats.length === 1)
    changes.encoding_format = formats[0] === "float" ? undefined : formats[0];
  return request.document.with(changes);
}

/**
 * The reply of an embeddings call: one item for each input, in their order, in the requested
 * format. Bytes without changes are passed on. Throws `upstream_invalid_response` for missing,
 * duplicate or unreadable items, and the error inside a 200.
 */
export function decodeEmbeddings(body: Uint8Array, request: ProviderRequest): DecodedReply {
  const reply = readSkeletonReply(body, "embedding");
  const asked = formatOf(request);
  const isOrdered = checkItems(reply.data, inputCount(request.document.value.input));
  const usage = readUsage(reply.value.usage);
  const isForwarded = isOrdered && reply.data.every((item) => writtenAs(item) === asked);
  const document = isForwarded
    ? renamed(reply, request.replyModel)
    : rebuilt(reply, asked, request.replyModel);
  return { document, usage };
}

/**
 * The number of vectors for an input. Tokens are one input; every other array holds one input an
 * item.
 */
export function inputCount(input: JsonValue | undefined): number {
  return Array.isArray(input) && typeof input[0] !== "number" ? input.length : 1;
}

function formatOf({ document }: ProviderRequest): EmbeddingFormat {
  return document.value.encoding_format === "base64" ? "base64" : "float";
}

function writtenAs(item: JsonValue): EmbeddingFormat | undefined {
  const embedding = isObject(item) ? item.embedding : undefined;
  if (typeof embedding === "string") return "base64";
  return Array.isArray(embedding) ? "float" : undefined;
}

/** Whether the items are in order. Throws unless each input has exactly one. */
function checkItems(data: readonly JsonValue[], count: number): boolean {
  if (data.length !== count)
    throw invalidReply(`has ${data.length} embeddings for ${count} inputs`);
  const seen = new Uint8Array(count);
  let isOrdered = true;
  for (const [place, item] of data.entries()) {
    // The values of valid vectors were cut out: a remaining one holds other values than numbers.
    const isOdd = isObject(item) && Array.isArray(item.embedding) && item.embedding.length > 0;
    if (isOdd || !isObject(item) || writtenAs(item) === undefined)
      throw invalidReply(`has no vector at data[${place}]`);
    // Without an index, the items are in order.
    const { index = place } = item;
    if (typeof index !== "number" || seen[index] !== 0)
      throw invalidReply(`has a wrong or doubled index at data[${place}]`);
    seen[index] = 1;
    isOrdered &&= item.index === place;
  }
  return isOrdered;
}

function renamed({ skeleton, value }: SkeletonReply, model: string): JsonDocument {
  if (value.model === model) return bytesDocument(skeleton.bytes);
  return piecesDocument(skeleton.with("model", JSON.stringify(model)));
}

/** The reply parsed whole, with sorted items and their vectors in `format`. */
function rebuilt(
  { skeleton }: SkeletonReply,
  format: EmbeddingFormat,
  model: string,
): JsonDocument {
  const whole = parseWhole(skeleton.bytes);
  const items = (whole.data as readonly JsonObject[])
    .map((item, place): JsonObject => ({ ...item, index: item.index ?? place }))
    .toSorted((a, b) => Number(a.index) - Number(b.index));
  return writtenDocument({ ...whole, data: items.map((item) => converted(item, format)), model });
}

function parseWhole(bytes: Buffer): JsonObject {
  try {
    return parseJson(bytes.toString("utf8")) as JsonObject;
  } catch (cause) {
    throw invalidReply("is not JSON", cause);
  }
}

function converted(item: JsonObject, format: EmbeddingFormat): JsonObject {
  const { embedding } = item;
  if (writtenAs(item) === format) return item;
  if (typeof embedding === "string") {
    const vector = base64ToFloats(embedding);
    if (vector === undefined)
      throw invalidReply("has a vector that is not base64 of float32 numbers");
    return { ...item, embedding: vector };
  }
  const vector = embedding as readonly JsonValue[];
  if (!vector.every((value) => typeof value === "number"))
    throw invalidReply("has a vector with other values than numbers");
  return { ...item, embedding: floatsToBase64(vector) };
}
