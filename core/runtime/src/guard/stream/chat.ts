/** Texts in the chunks of a chat completion: the reference dialect. */

import type { JsonObject, JsonValue, TextPart } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import type { JsonPath } from "@sluice/kit/internals";
import {
  divided,
  NOTHING,
  otherMembers,
  otherPieces,
  type StreamDialect,
  type StreamPiece,
} from "./dialect.ts";
import { splitPieces, type SplitObject, writePieces } from "./pieces.ts";

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
  divide: (chunk) => divided(chunk, "choices", DIVISION),
  read(chunk) {
    const { choices } = chunk;
    const pieces = otherMembers(chunk, [], CHUNK_MEMBERS);
    if (!Array.isArray(choices)) return pieces.length === 0 ? NOTHING : { pieces };
    if (choices.length === 0) return { pieces, isLast: true };
    let ends: string | undefined;
    const follows: string[] = [];
    for (const [at, choice] of (choices as readonly JsonValue[]).entries()) {
      if (!isObject(choice)) {
        pieces.push(...otherPieces(choice, ["choices", at]));
        continue;
      }
      const index = String(choice.index ?? 0);
      if (isObject(choice.delta)) {
        readDelta(choice.delta, `${index}/`, ["choices", at, "delta"], pieces);
        if (beginsPart(choice.delta)) for (const name of TEXTS) follows.push(`${index}/${name}`);
      }
      if (typeof choice.text === "string" && choice.text !== "")
        pieces.push({
          channel: `${index}/content`,
          part: "content",
          path: ["choices", at, "text"],
          text: choice.text,
        });
      pieces.push(...otherMembers(choice, ["choices", at], CHOICE_MEMBERS));
      if (typeof choice.finish_reason === "string") ends = `${index}/`;
    }
    return {
      pieces,
      ...(ends === undefined ? {} : { ends }),
      ...(follows.length === 0 ? {} : { follows }),
    };
  },
  write(chunk, pieces, texts) {
    const changed = writePieces(chunk, pieces, texts);
    if (!Array.isArray(changed.choices)) return changed;
    const edited = new Set(pieces.map(({ path }) => (path[0] === "choices" ? path[1] : undefined)));
    const choices = (changed.choices as readonly JsonValue[]).map((choice, at) =>
      // Log probabilities would reveal the original text token by token.
      edited.has(at) && isObject(choice) && (choice.logprobs ?? null) !== null
        ? { ...choice, logprobs: null }
        : choice,
    );
    return { ...changed, choices };
  },
  split: (chunk, pieces) => splitPieces(withIndexes(chunk), pieces, splitMember),
};

/** The chunk with an index in each call. A call without one has its index by its position. */
function withIndexes(chunk: JsonObject): JsonObject {
  const choices = (chunk.choices as readonly JsonValue[]).map((choice) => {
    if (!isObject(choice) || !isObject(choice.delta)) return choice;
    const { delta } = choice;
    if (!Array.isArray(delta.tool_calls)) return choice;
    const calls = (delta.tool_calls as readonly JsonValue[]).map((call, index) =>
      isObject(call) && (call.index ?? null) === null ? { ...call, index } : call,
    );
    return { ...choice, delta: { ...delta, tool_calls: calls } };
  });
  return { ...chunk, choices };
}

/** The members of a chunk that each part of it has. */
const SHARED_MEMBERS = new Set([
  "id",
  "object",
  "created",
  "model",
  "system_fingerprint",
  "service_tier",
  "provider",
]);
/** The members of a chunk that its last part has. */
const LAST_MEMBERS = new Set(["usage", "x_groq", "time_info"]);
const DIVISION = { shared: SHARED_MEMBERS, last: LAST_MEMBERS };

/** The member of a chunk, of a choice or of an object in its delta, in one part of the chunk. */
function splitMember(
  name: string,
  value: JsonValue | undefined,
  { depth, isFirst, isLast }: SplitObject,
): JsonValue | undefined {
  const first = isFirst ? value : undefined;
  const last = isLast ? value : undefined;
  if (depth === 0) return SHARED_MEMBERS.has(name) ? value : LAST_MEMBERS.has(name) ? last : first;
  if (name === "index") return value;
  if (depth > CHOICE_DEPTH) return name === "type" ? value : first;
  if (name === "finish_reason") return isLast ? value : null;
  // Log probabilities would reveal the original text of the other parts token by token.
  if (name === "logprobs") return isFirst && isLast ? value : null;
  return CHOICE_MEMBERS.has(name) ? last : first;
}

/** The beginnings of the channels of texts that no call has. */
const TEXTS = ["content", "reasoning", "refusal", "audio"] as const;

/** Whether a delta begins a call, or has a block of a tool that the provider ran. */
function beginsPart({
  tool_calls: calls,
  function_call: call,
  provider_blocks,
}: JsonObject): boolean {
  if (Array.isArray(provider_blocks) || isNamed(call)) return true;
  return (
    Array.isArray(calls) &&
    (calls as readonly JsonValue[]).some(
      (each) => isObject(each) && (isNamed(each.function) || isNamed(each.custom)),
    )
  );
}

function isNamed(call: JsonValue | undefined): boolean {
  return isObject(call) && typeof call.name === "string" && call.name !== "";
}

/** The depth of a choice in a chunk. */
const CHOICE_DEPTH = 2;

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
