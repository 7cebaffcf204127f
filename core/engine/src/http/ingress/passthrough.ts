/** Native requests: the bytes as they are, and a look at them for the model and the stream switch. */

import type { GatewayRequest, JsonObject } from "@sluice/spec";
import { isObject, writtenDocument } from "@sluice/kit";

/** A JSON body larger than this is forwarded without a look: it then names no model. */
const MAX_LOOK_BYTES = 8 * 1024 * 1024;

/** The request of a native body. Nothing is refused here: what the body means is the upstream's business. */
export function receiveNative(bytes: Buffer, contentType: string | undefined): GatewayRequest {
  const value = contentType?.includes("json") === true && bytes.length <= MAX_LOOK_BYTES ? parse(bytes) : {};
  return {
    document: writtenDocument(value),
    ...(bytes.length > 0 ? { raw: bytes } : {}),
    fields: {},
    model: typeof value.model === "string" ? value.model : "",
    stream: value.stream === true,
    includeUsage: true,
    endUser: typeof value.user === "string" ? value.user : null,
    tags: [],
    metadata: {},
  };
}

function parse(bytes: Buffer): JsonObject {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
