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
import { parsedDocument } from "../json/document.ts";
import { editedBody } from "../json/edits/edited-bytes.ts";
import { findMember, type Member } from "../json/members.ts";
import { isObject } from "../json/narrow.ts";
import { parseBytes, type PreparedObject } from "../json/prepared.ts";
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
  const reply = parseReply(body);
  const { value } = reply;
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
    document: shown(reply, body, replyModel, identity),
    usage,
  };
}

/**
 * The reply with the client's name for the model, and with the identity members that it lacks.
 * Every other character stays.
 */
function shown(
  { text, value, members }: PreparedObject,
  body: Uint8Array,
  model: string,
  identity: ReplyIdentity | undefined,
): JsonDocument {
  const missing = missingMembers(value, identity);
  if (missing !== undefined || value.model === model)
    return parsedDocument(text, value, body, members).with({ model, ...missing });
  const place = typeof text === "string" ? findMember(text, "model") : modelOf(members);
  if (place === undefined) return parsedDocument(text, value, body, members).with({ model });
  const json = JSON.stringify(model);
  const edited = { ...value, model };
  return (
    editedBody(body, text, place, json, edited) ??
    parsedDocument(
      text.slice(0, place.valueStart) + json + text.slice(place.end, text.length),
      edited,
    )
  );
}

function modelOf(members: readonly Member[] | undefined): Member | undefined {
  return members?.find(({ key }) => key === "model");
}

/** The identity members that a reply lacks; `undefined` for one that has them. */
function missingMembers(
  { id, object, created }: JsonObject,
  identity: ReplyIdentity | undefined,
): JsonObject | undefined {
  const hasId = typeof id === "string" && id !== "";
  if (identity === undefined) return undefined;
  if (hasId && typeof object === "string" && typeof created === "number") return undefined;
  return {
    id: hasId ? id : identity.replyId,
    object: typeof object === "string" ? object : "chat.completion",
    created: typeof created === "number" ? created : identity.createdSeconds,
  };
}

function parseReply(body: Uint8Array): PreparedObject {
  let reply;
  try {
    reply = parseBytes(body);
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause;
    throw new GatewayError("upstream_invalid_response", "The upstream's reply is not JSON.", {
      cause,
    });
  }
  const { value } = reply;
  if (!isObject(value))
    throw new GatewayError(
      "upstream_invalid_response",
      "The upstream's reply is not a JSON object.",
    );
  return { ...reply, value };
}
