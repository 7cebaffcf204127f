/**
 * Chat calls of an upstream that speaks the reference dialect. Requests are the client's own text
 * with minimal edits; the bytes of a reply without changes are passed on.
 */

import {
  type DecodedReply,
  GatewayError,
  type JsonDocument,
  type JsonObject,
  type ProviderRequest,
} from "@sluice/contract";
import { parsedDocument, replaceMember } from "../json/document.ts";
import { isObject } from "../json/narrow.ts";
import { parseBytes } from "../json/prepared.ts";
import type { ReplyIdentity } from "./repair/chunk-repair.ts";
import { readEmbeddedError } from "./errors.ts";
import { adaptHistory, type HistoryRules } from "./history.ts";
import { readUsage } from "./usage.ts";

/**
 * The document to send: the target's model, on every stream a usage chunk, and messages changed by
 * `history`. Every other byte is the client's.
 */
export function encodeChat(request: ProviderRequest, history: HistoryRules = {}): JsonDocument {
  const changes: Record<string, JsonObject[string]> = { model: request.target.model };
  if (request.stream) {
    const options = request.document.value.stream_options;
    if (!isObject(options) || options.include_usage !== true) {
      changes.stream_options = { ...(isObject(options) ? options : {}), include_usage: true };
    }
  }
  return adaptHistory(request.document, history).with(changes);
}

/**
 * The reply of a chat call. Throws `upstream_invalid_response` for a body that is not a chat
 * completion, and the error inside a 200. `identity` supplies a missing id and time.
 */
export function decodeChat(
  body: Uint8Array,
  replyModel: string,
  identity?: ReplyIdentity,
): DecodedReply {
  const { text, value } = parseReply(body);
  if (!Array.isArray(value.choices) || value.choices.length === 0) {
    if (isObject(value.error)) throw readEmbeddedError(value.error);
    if (typeof value.error === "string") throw readEmbeddedError({ message: value.error });
    throw new GatewayError("upstream_invalid_response", "The upstream's reply has no choices.");
  }
  const odd = value.choices.findIndex(
    (choice: unknown) => !isObject(choice) || !isObject(choice.message),
  );
  if (odd >= 0)
    throw new GatewayError(
      "upstream_invalid_response",
      `The upstream's reply has no message at choices[${odd}].`,
    );
  const usage = readUsage(value.usage, value.service_tier);
  return {
    document: named(renamed(parsedDocument(text, value, body), text, replyModel), identity),
    usage,
  };
}

/** The reply with the client's name for the model. Every other character stays. */
function renamed(document: JsonDocument, text: string, model: string): JsonDocument {
  const { value } = document;
  if (value.model === model) return document;
  const edited = replaceMember(text, "model", JSON.stringify(model));
  return edited === text ? document.with({ model }) : parsedDocument(edited, { ...value, model });
}

/** The reply with the identity members that it lacks. */
function named(document: JsonDocument, identity: ReplyIdentity | undefined): JsonDocument {
  const { id, object, created } = document.value;
  const hasId = typeof id === "string" && id !== "";
  if (identity === undefined) return document;
  if (hasId && typeof object === "string" && typeof created === "number") return document;
  return document.with({
    id: hasId ? id : identity.replyId,
    object: typeof object === "string" ? object : "chat.completion",
    created: typeof created === "number" ? created : identity.createdSeconds,
  });
}

function parseReply(body: Uint8Array): { text: string; value: JsonObject } {
  let text: string;
  let value: unknown;
  try {
    ({ text, value } = parseBytes(body));
  } catch (cause) {
    throw new GatewayError("upstream_invalid_response", "The upstream's reply is not JSON.", {
      cause,
    });
  }
  if (!isObject(value))
    throw new GatewayError(
      "upstream_invalid_response",
      "The upstream's reply is not a JSON object.",
    );
  return { text, value };
}
