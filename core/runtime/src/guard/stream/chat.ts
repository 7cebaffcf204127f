/** Texts in the chunks of a chat completion: the reference dialect. */

import type { JsonObject, JsonValue, TextPart } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { type JsonPath, setAt } from "@sluice/kit/internals";
import {
  NOTHING,
  otherMembers,
  otherPieces,
  type StreamDialect,
  type StreamPiece,
} from "./dialect.ts";

/** Members of a delta with running text, and their parts. */
const DELTA_PARTS: readonly (readonly [string, TextPart])[] = [
  ["content", "content"],
  ["reasoning_content", "reasoning"],
  ["reasoning", "reasoning"],
  ["refusal", "refusal"],
];

/**
 * Members with the text of a channel, or without text. All others are checked in each event by
 * themselves.
 */
const CHUNK_MEMBERS = new Set([
  "id",
  "object",
  "created",
  "model",
  "choices",
  "usage",
  "system_fingerprint",
  "service_tier",
  "obfuscation",
  "prompt_filter_results",
  "x_groq",
  "time_info",
  "provider",
]);
const CHOICE_MEMBERS = new Set([
  "index",
  "delta",
  "text",
  "finish_reason",
  "native_finish_reason",
  "stop_reason",
  "logprobs",
  "content_filter_results",
  "content_filter_offsets",
]);
const DELTA_MEMBERS = new Set([
  "role",
  "content",
  "reasoning_content",
  "reasoning",
  "refusal",
  "audio",
  "function_call",
  "tool_calls",
]);

/** The reference dialect: chunks of a chat completion. */
export const chatStream: StreamDialect = {
  read(chunk) {
    const { choices } = chunk;
    const pieces = otherMembers(chunk, [], CHUNK_MEMBERS);
    if (!Array.isArray(choices)) return pieces.length === 0 ? NOTHING : { pieces };
    if (choices.length === 0) return { pieces, isLast: true };
    let ends: string | undefined;
    for (const [at, choice] of (choices as readonly JsonValue[]).entries()) {
      if (!isObject(choice)) {
        pieces.push(...otherPieces(choice, ["choices", at]));
        continue;
      }
      const index = String(choice.index ?? 0);
      if (isObject(choice.delta))
        readDelta(choice.delta, `${index}/`, ["choices", at, "delta"], pieces);
      if (typeof choice.text === "string" && choice.text !== "")
        pieces.push({
          channel: `${index}/content`,
          part: "content",
          path: ["choices", at, "text"],
          text: choice.text,
        });
      pieces.push(...otherMembers(choice, ["choices", at], CHOICE_MEMBERS));
      if (typeof choice.finish_reason === "string")
        ends = ends === undefined && choices.length === 1 ? `${index}/` : "";
    }
    return ends === undefined ? { pieces } : { pieces, ends };
  },
  write(chunk, pieces, texts) {
    let changed = chunk;
    for (const [index, piece] of pieces.entries()) {
      changed = setAt(changed, piece.path, texts[index] ?? "");
      const at = piece.path[1];
      const choice = Array.isArray(changed.choices)
        ? (changed.choices as readonly JsonValue[])[at as number]
        : undefined;
      // Log probabilities would reveal the original text token by token.
      if (isObject(choice) && choice.logprobs !== undefined && choice.logprobs !== null)
        changed = setAt(changed, ["choices", at as number, "logprobs"], null);
    }
    return changed;
  },
  split(chunk, pieces) {
    return pieces.map((piece, index) => {
      const choices = (chunk.choices as readonly JsonValue[])[
        piece.path[1] as number
      ] as JsonObject;
      const isFirstOfChoice =
        pieces.findIndex((other) => other.path[1] === piece.path[1]) === index;
      const isLastOfChoice =
        pieces.findLastIndex((other) => other.path[1] === piece.path[1]) === index;
      const delta = deltaOf(choices, piece, isFirstOfChoice);
      const { usage, ...rest } = chunk;
      const one: JsonObject = {
        ...choices,
        ...(choices.delta === undefined ? {} : { delta }),
        ...(isLastOfChoice ? {} : { finish_reason: null, logprobs: null }),
      };
      return {
        ...rest,
        choices: [one],
        ...(usage !== undefined && index === pieces.length - 1 ? { usage } : {}),
      };
    });
  },
};

/** A delta with one of its texts. The first of its choice also has the other members. */
function deltaOf(choice: JsonObject, piece: StreamPiece, isFirst: boolean): JsonObject {
  const delta = isObject(choice.delta) ? choice.delta : {};
  const name = piece.path[3];
  const others = isFirst
    ? Object.fromEntries(
        Object.entries(delta).filter(
          ([key]) => key !== "tool_calls" && !DELTA_PARTS.some(([part]) => part === key),
        ),
      )
    : {};
  if (name === "tool_calls") {
    const call = (delta.tool_calls as readonly JsonValue[])[piece.path[4] as number];
    return { ...others, tool_calls: [call as JsonValue] };
  }
  return { ...others, ...(typeof name === "string" ? { [name]: delta[name] } : {}) };
}

function readDelta(delta: JsonObject, prefix: string, base: JsonPath, pieces: StreamPiece[]): void {
  for (const [name, part] of DELTA_PARTS) {
    const text = delta[name];
    if (typeof text === "string" && text !== "")
      pieces.push({ channel: prefix + name, part, path: [...base, name], text });
    else if (Array.isArray(text))
      readBlocks(text, `${prefix}${name}`, part, [...base, name], pieces);
  }
  pieces.push(...otherMembers(delta, base, DELTA_MEMBERS));
  if (
    isObject(delta.audio) &&
    typeof delta.audio.transcript === "string" &&
    delta.audio.transcript !== ""
  ) {
    const path = [...base, "audio", "transcript"];
    pieces.push({ channel: `${prefix}audio`, part: "content", path, text: delta.audio.transcript });
  }
  if (isObject(delta.audio))
    pieces.push(...otherMembers(delta.audio, [...base, "audio"], AUDIO_MEMBERS));
  if (isObject(delta.function_call))
    readCall(delta.function_call, `${prefix}function`, [...base, "function_call"], pieces);
  if (!Array.isArray(delta.tool_calls)) return;
  for (const [at, call] of (delta.tool_calls as readonly JsonValue[]).entries()) {
    if (!isObject(call)) {
      pieces.push(...otherPieces(call, [...base, "tool_calls", at]));
      continue;
    }
    const channel = `${prefix}call${String(call.index ?? at)}`;
    pieces.push(...otherMembers(call, [...base, "tool_calls", at], CALL_MEMBERS));
    if (isObject(call.function))
      readCall(call.function, channel, [...base, "tool_calls", at, "function"], pieces);
    if (isObject(call.custom))
      readCustom(call.custom, channel, [...base, "tool_calls", at, "custom"], pieces);
  }
}

const BLOCK_MEMBERS = new Set(["type", "text", "thinking"]);
const CALL_MEMBERS = new Set(["index", "id", "type", "function", "custom"]);
const FUNCTION_MEMBERS = new Set(["name", "arguments"]);
const CUSTOM_MEMBERS = new Set(["name", "input"]);
const AUDIO_MEMBERS = new Set(["id", "data", "transcript", "expires_at"]);

/** Some upstreams send a content in blocks, and thoughts in nested blocks. */
function readBlocks(
  blocks: readonly JsonValue[],
  channel: string,
  part: TextPart,
  base: JsonPath,
  pieces: StreamPiece[],
): void {
  for (const [at, block] of blocks.entries()) {
    if (!isObject(block)) {
      pieces.push(...otherPieces(block, [...base, at]));
      continue;
    }
    if (typeof block.text === "string" && block.text !== "")
      pieces.push({ channel, part, path: [...base, at, "text"], text: block.text });
    if (typeof block.thinking === "string" && block.thinking !== "")
      pieces.push({
        channel: `${channel}/thinking`,
        part: "reasoning",
        path: [...base, at, "thinking"],
        text: block.thinking,
      });
    if (Array.isArray(block.thinking))
      readBlocks(
        block.thinking as readonly JsonValue[],
        `${channel}/thinking`,
        "reasoning",
        [...base, at, "thinking"],
        pieces,
      );
    pieces.push(...otherMembers(block, [...base, at], BLOCK_MEMBERS));
  }
}

function readName(
  { name }: JsonObject,
  channel: string,
  base: JsonPath,
  pieces: StreamPiece[],
): void {
  if (typeof name !== "string" || name === "") return;
  pieces.push({
    channel: `${channel}/name`,
    part: "names",
    path: [...base, "name"],
    text: name,
    isName: true,
  });
}

/** A call of a tool whose input is a text and not JSON. */
function readCustom(
  call: JsonObject,
  channel: string,
  base: JsonPath,
  pieces: StreamPiece[],
): void {
  readName(call, channel, base, pieces);
  if (typeof call.input === "string" && call.input !== "")
    pieces.push({
      channel: `${channel}/input`,
      part: "arguments",
      path: [...base, "input"],
      text: call.input,
    });
  pieces.push(...otherMembers(call, base, CUSTOM_MEMBERS));
}

function readCall(call: JsonObject, channel: string, base: JsonPath, pieces: StreamPiece[]): void {
  readName(call, channel, base, pieces);
  if (typeof call.arguments === "string" && call.arguments !== "")
    pieces.push({
      channel,
      part: "arguments",
      path: [...base, "arguments"],
      text: call.arguments,
      isJson: true,
    });
  pieces.push(...otherMembers(call, base, FUNCTION_MEMBERS));
}
