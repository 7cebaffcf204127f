/** Decodes whole replies of the reference dialect. Bytes that need no change are handed on. */

import { type DecodedReply, GatewayError, type JsonObject } from "@sluice/spec";
import { parsedDocument, replaceMember } from "../json/document.ts";
import { isObject } from "../json/narrow.ts";
import { readEmbeddedError } from "./errors.ts";
import { readUsage } from "./usage.ts";

/**
 * The reply of a chat call. Throws `upstream_invalid_response` for a body that is no chat completion, and the error that
 * a 200 carries inside.
 */
export function decodeChat(body: Uint8Array, replyModel: string): DecodedReply {
  const { text, value } = parseReply(body);
  if (!Array.isArray(value.choices) || value.choices.length === 0) {
    if (isObject(value.error)) throw readEmbeddedError(value.error);
    throw new GatewayError("upstream_invalid_response", "The upstream's reply has no choices.");
  }
  const usage = readUsage(value.usage, value.service_tier);
  if (value.model === replyModel) return { document: parsedDocument(text, value, body), usage };
  const renamed = { ...value, model: replyModel };
  const edited = replaceMember(text, "model", JSON.stringify(replyModel));
  if (edited === text) return { document: parsedDocument(text, value).with({ model: replyModel }), usage };
  return { document: parsedDocument(edited, renamed), usage };
}

function parseReply(body: Uint8Array): { text: string; value: JsonObject } {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
    .toString("utf8")
    .replace(/^\uFEFF/, "");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new GatewayError("upstream_invalid_response", "The upstream's reply is not JSON.", { cause });
  }
  if (!isObject(value)) throw new GatewayError("upstream_invalid_response", "The upstream's reply is no JSON object.");
  return { text, value };
}
