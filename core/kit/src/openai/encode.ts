/**
 * Encodes requests for an upstream that speaks the reference dialect: the client's own text with
 * minimal edits.
 */

import type { JsonDocument, JsonObject, ProviderRequest } from "@sluice/contract";
import { isObject } from "../json/narrow.ts";
import { adaptHistory, type HistoryRules } from "./history.ts";

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
