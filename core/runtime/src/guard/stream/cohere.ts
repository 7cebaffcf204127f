/** Texts in the events of Cohere's chat, version 2 (docs.cohere.com, streaming responses). */

import type { JsonObject } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import type { JsonPath } from "@sluice/kit/internals";
import { NOTHING, otherMembers, type StreamDialect, type StreamPiece } from "./dialect.ts";
import { splitPieces, writePieces } from "./pieces.ts";

/** Members with the text of a channel, or without text. */
const EVENT_MEMBERS = new Set(["type", "id", "index", "delta"]);
const DELTA_MEMBERS = new Set(["message", "finish_reason", "usage"]);
const MESSAGE_MEMBERS = new Set(["role", "content", "tool_plan", "tool_calls"]);
const CONTENT_MEMBERS = new Set(["type", "text", "thinking"]);
const CALL_MEMBERS = new Set(["type", "id", "function"]);
const FUNCTION_MEMBERS = new Set(["name", "arguments"]);

/** Blocks and calls by index; a plan comes before the calls. */
export const cohereStream: StreamDialect = {
  read(event) {
    const index = String(event.index ?? 0);
    const pieces = otherMembers(event, [], EVENT_MEMBERS);
    if (isObject(event.delta)) {
      pieces.push(...otherMembers(event.delta, ["delta"], DELTA_MEMBERS));
      const { message } = event.delta;
      if (isObject(message)) readMessage(message, index, ["delta", "message"], pieces);
    }
    const ends = endsOf(event.type, index);
    if (ends !== undefined) return { pieces, ends };
    return pieces.length === 0 ? NOTHING : { pieces };
  },
  write: writePieces,
  split: splitPieces,
};

function endsOf(type: unknown, index: string): string | undefined {
  switch (type) {
    case "content-end":
      return `${index}/`;
    case "tool-call-start":
      return "plan/";
    case "tool-call-end":
      return `call${index}/`;
    case "message-end":
      return "";
    default:
      return undefined;
  }
}

function readMessage(
  message: JsonObject,
  index: string,
  base: JsonPath,
  pieces: StreamPiece[],
): void {
  const { content, tool_plan: plan, tool_calls: call } = message;
  if (typeof plan === "string" && plan !== "")
    pieces.push({
      channel: "plan/text",
      part: "reasoning",
      path: [...base, "tool_plan"],
      text: plan,
    });
  if (isObject(content)) {
    const path = [...base, "content"];
    add(
      content.text,
      { channel: `${index}/text`, part: "content", path: [...path, "text"] },
      pieces,
    );
    add(
      content.thinking,
      { channel: `${index}/thinking`, part: "reasoning", path: [...path, "thinking"] },
      pieces,
    );
    pieces.push(...otherMembers(content, path, CONTENT_MEMBERS));
  } else pieces.push(...otherMembers({ content: content ?? null }, base, NONE));
  if (isObject(call)) {
    const path = [...base, "tool_calls"];
    pieces.push(...otherMembers(call, path, CALL_MEMBERS));
    if (!isObject(call.function)) return;
    const { name, arguments: args } = call.function;
    const inner = [...path, "function"];
    add(
      name,
      { channel: `call${index}/name`, part: "names", path: [...inner, "name"], isName: true },
      pieces,
    );
    add(
      args,
      {
        channel: `call${index}/json`,
        part: "arguments",
        path: [...inner, "arguments"],
        isJson: true,
      },
      pieces,
    );
    pieces.push(...otherMembers(call.function, inner, FUNCTION_MEMBERS));
  } else pieces.push(...otherMembers({ tool_calls: call ?? null }, base, NONE));
  pieces.push(...otherMembers(message, base, MESSAGE_MEMBERS));
}

const NONE: ReadonlySet<string> = new Set();

function add(text: unknown, piece: Omit<StreamPiece, "text">, pieces: StreamPiece[]): void {
  if (typeof text === "string" && text !== "") pieces.push({ ...piece, text });
}
