/** Native requests: the bytes as they are, and a look at them for the model and the stream switch. */

import { isUtf8 } from "node:buffer";
import type { GatewayRequest, JsonObject } from "@sluice/spec";
import { isObject, readMembers, writtenDocument } from "@sluice/kit";
import { refuseCaseVariants } from "./case-variants.ts";
import { LIMITS } from "./json.ts";

/** A JSON body larger than this is forwarded without a look: it then names no model. */
const MAX_LOOK_BYTES = 8 * 1024 * 1024;

/**
 * The request of a native body. What the body means is the upstream's business; one whose names parsers read differently is refused with
 * `invalid_field`.
 */
export function receiveNative(bytes: Buffer, contentType: string | undefined): GatewayRequest {
  const value = contentType?.includes("json") === true && bytes.length <= MAX_LOOK_BYTES ? parse(bytes) : {};
  refuseCaseVariants(value);
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
  // Decoders differ in what they make of other bytes: such a body is not read, and no guardrail lets it pass.
  if (!isUtf8(bytes)) return {};
  const text = bytes.toString("utf8");
  if (readMembers(text, LIMITS).fault !== undefined) return {};
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
