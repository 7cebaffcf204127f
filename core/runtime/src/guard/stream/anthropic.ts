/** Texts in the events of Anthropic's messages. */

import type { JsonObject, TextPart } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { NOTHING, otherMembers, type StreamDialect, type StreamPiece } from "./dialect.ts";
import { splitPieces, writePieces } from "./pieces.ts";

/** Members with the text of a channel, or without text. */
const EVENT_MEMBERS = new Set(["type", "index", "usage"]);
const BLOCK_MEMBERS = new Set([
  "type",
  "id",
  "text",
  "thinking",
  "name",
  "signature",
  "encrypted_content",
]);
const DELTA_MEMBERS = new Set(["type", "text", "thinking", "partial_json", "signature"]);

/** Anthropic's events: blocks by index (docs.anthropic.com, messages streaming). */
export const anthropicStream: StreamDialect = {
  read(event) {
    const index = String(event.index ?? 0);
    switch (event.type) {
      case "content_block_start":
        return {
          pieces: isObject(event.content_block) ? anthropicBlock(event.content_block, index) : [],
        };
      case "content_block_delta":
        return { pieces: isObject(event.delta) ? anthropicDelta(event.delta, index) : [] };
      case "content_block_stop":
        return { pieces: [], ends: `${index}/` };
      case "message_delta":
      case "message_stop":
        return { pieces: otherMembers(event, [], EVENT_MEMBERS), ends: "" };
      default: {
        const pieces = otherMembers(event, [], EVENT_MEMBERS);
        return pieces.length === 0 ? NOTHING : { pieces };
      }
    }
  },
  write: writePieces,
  split: splitPieces,
};

function anthropicBlock(block: JsonObject, index: string): StreamPiece[] {
  const pieces: StreamPiece[] = [];
  const add = (name: string, part: TextPart, isName: boolean): void => {
    const text = block[name];
    if (typeof text !== "string" || text === "") return;
    pieces.push({
      channel: `${index}/${name}`,
      part,
      path: ["content_block", name],
      text,
      ...(isName ? { isName } : {}),
    });
  };
  add("text", "content", false);
  add("thinking", "reasoning", false);
  add("name", "names", true);
  pieces.push(...otherMembers(block, ["content_block"], BLOCK_MEMBERS));
  return pieces;
}

function anthropicDelta(delta: JsonObject, index: string): StreamPiece[] {
  const { text, thinking, partial_json: json } = delta;
  if (typeof text === "string" && text !== "")
    return [{ channel: `${index}/text`, part: "content", path: ["delta", "text"], text }];
  if (typeof thinking === "string" && thinking !== "")
    return [
      {
        channel: `${index}/thinking`,
        part: "reasoning",
        path: ["delta", "thinking"],
        text: thinking,
      },
    ];
  if (typeof json === "string" && json !== "")
    return [
      {
        channel: `${index}/json`,
        part: "arguments",
        path: ["delta", "partial_json"],
        text: json,
        isJson: true,
      },
    ];
  return otherMembers(delta, ["delta"], DELTA_MEMBERS);
}
