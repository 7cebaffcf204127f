/** Images of the reference dialect. The images are forwarded as bytes and not parsed. */

import {
  type DecodedReply,
  GatewayError,
  type ImageUsage,
  type JsonDocument,
  type JsonObject,
  type JsonValue,
  type ProviderRequest,
  type Usage,
} from "@sluice/contract";
import { piecesDocument } from "../json/bytes-document.ts";
import { isObject } from "../json/narrow.ts";
import { Skeleton } from "../json/skeleton.ts";
import { invalidReply, readSkeletonReply } from "./embeddings/skeleton-reply.ts";
import { readImageUsage } from "./usage.ts";

const KEY = "b64_json";

/**
 * Models that return base64 and refuse `response_format`
 * (platform.openai.com/docs/api-reference/images/create).
 */
const BASE64_ONLY = /^(?:chat)?gpt-image/;

/** Whether a model of the reference API always answers with `b64_json`. */
export function isBase64OnlyModel(model: string): boolean {
  return BASE64_ONLY.test(model);
}

/**
 * The document to send: the target's model. `response_format` is left out for a base64-only model.
 * Throws `unsupported_parameter` for `response_format: url` of such a model.
 */
export function encodeImages(request: ProviderRequest): JsonDocument {
  const { document, target } = request;
  const changes: Record<string, JsonValue | undefined> = { model: target.model };
  if (isBase64OnlyModel(target.model)) {
    if (document.value.response_format === "url") {
      throw new GatewayError(
        "unsupported_parameter",
        `The model ${target.model} returns b64_json only. Leave response_format out, or send drop_params: true.`,
        {
          param: "response_format",
        },
      );
    }
    changes.response_format = undefined;
  }
  return document.with(changes);
}

/**
 * The reply of an image call: the upstream's bytes, with a missing `created` added. Throws
 * `upstream_invalid_response` for a reply without images, and the error inside a 200.
 */
export function decodeImages(body: Uint8Array, request: ProviderRequest): DecodedReply {
  const { skeleton, value, data } = readSkeletonReply(body, KEY);
  if (data.length === 0) throw invalidReply("has no images");
  const wrong = data.findIndex(
    (item) => !isObject(item) || (typeof item.url !== "string" && typeof item[KEY] !== "string"),
  );
  if (wrong >= 0) throw invalidReply(`has neither a url nor b64_json at data[${wrong}]`);
  let whole = skeleton;
  if (typeof value.created !== "number") {
    whole = new Skeleton(Buffer.concat(whole.with("created", String(request.createdSeconds))), KEY);
  }
  const isRenamed = value.model !== undefined && value.model !== request.replyModel;
  const pieces = isRenamed
    ? whole.with("model", JSON.stringify(request.replyModel))
    : [whole.bytes];
  return {
    document: piecesDocument(pieces),
    usage: usageOf(value, data.length, request.document.value),
  };
}

/**
 * Images by the piece, and tokens where the model reports them. Size and quality are the reply's,
 * else the requested ones. A model that is billed by the piece reports no tokens: their number is
 * then zero, not unknown.
 */
function usageOf(reply: JsonObject, count: number, asked: JsonObject): Usage {
  const images: ImageUsage = {
    count,
    ...optional("size", reply.size ?? asked.size),
    ...optional("quality", reply.quality ?? asked.quality),
  };
  return {
    ...(readImageUsage(reply.usage) ?? { promptTokens: 0, completionTokens: 0, totalTokens: 0 }),
    images,
  };
}

function optional<K extends string>(
  name: K,
  value: JsonValue | undefined,
): { [key in K]?: string } {
  return (typeof value === "string" ? { [name]: value } : {}) as { [key in K]?: string };
}
