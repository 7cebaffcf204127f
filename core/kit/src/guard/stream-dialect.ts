/** Where the texts stand in the events of a streamed reply, dialect by dialect. */

import type { JsonObject, JsonValue, TextPart } from "@sluice/spec";
import { isObject } from "../json/narrow.ts";
import { type JsonPath, setAt } from "./at-path.ts";
import { bodyTexts } from "./texts.ts";

/** A text in an event. */
export interface StreamPiece {
  /** Texts of one channel belong together, in order. */
  readonly channel: string;
  readonly part: TextPart;
  readonly path: JsonPath;
  readonly text: string;
  /** Whether the text is JSON itself. */
  readonly isJson?: boolean;
  /** A short text that is judged as it comes, together with what came before it, and never held. */
  readonly isName?: boolean;
}

/** What an event holds. */
export interface StreamTexts {
  readonly pieces: readonly StreamPiece[];
  /** Channels that begin with this end with the event; an empty text means all. */
  readonly ends?: string;
  /** The event belongs to the end of the stream: it may not come before texts that are still held. */
  readonly isLast?: boolean;
}

/** A dialect of streamed replies. */
export interface StreamDialect {
  read(event: JsonObject): StreamTexts;
  /** The event with other texts in the places of its pieces. What would tell the old ones goes. */
  write(event: JsonObject, pieces: readonly StreamPiece[], texts: readonly string[]): JsonObject;
  /** The event as one for each piece, in order. */
  split(event: JsonObject, pieces: readonly StreamPiece[]): readonly JsonObject[];
}

const NOTHING: StreamTexts = Object.freeze({ pieces: Object.freeze([]) as readonly StreamPiece[] });

/** Members of a delta that are running text, and what they are. */
const DELTA_PARTS: readonly (readonly [string, TextPart])[] = [
  ["content", "content"],
  ["reasoning_content", "reasoning"],
  ["reasoning", "reasoning"],
  ["refusal", "refusal"],
];

/** The reference dialect: chunks of a chat completion. */
export const chatStream: StreamDialect = {
  read(chunk) {
    const { choices } = chunk;
    if (!Array.isArray(choices)) return NOTHING;
    if (choices.length === 0) return { pieces: [], isLast: true };
    const pieces: StreamPiece[] = [];
    let ends: string | undefined;
    for (const [at, choice] of (choices as readonly JsonValue[]).entries()) {
      if (!isObject(choice)) continue;
      const index = String(choice.index ?? 0);
      if (isObject(choice.delta)) readDelta(choice.delta, `${index}/`, ["choices", at, "delta"], pieces);
      if (typeof choice.text === "string" && choice.text !== "")
        pieces.push({ channel: `${index}/content`, part: "content", path: ["choices", at, "text"], text: choice.text });
      if (typeof choice.finish_reason === "string") ends = ends === undefined && choices.length === 1 ? `${index}/` : "";
    }
    return ends === undefined ? { pieces } : { pieces, ends };
  },
  write(chunk, pieces, texts) {
    let changed = chunk;
    for (const [index, piece] of pieces.entries()) {
      changed = setAt(changed, piece.path, texts[index] ?? "");
      const at = piece.path[1];
      const choice = Array.isArray(changed.choices) ? (changed.choices as readonly JsonValue[])[at as number] : undefined;
      // Token by token they say what stood there.
      if (isObject(choice) && choice.logprobs !== undefined && choice.logprobs !== null)
        changed = setAt(changed, ["choices", at as number, "logprobs"], null);
    }
    return changed;
  },
  split(chunk, pieces) {
    return pieces.map((piece, index) => {
      const choices = (chunk.choices as readonly JsonValue[])[piece.path[1] as number] as JsonObject;
      const isFirstOfChoice = pieces.findIndex((other) => other.path[1] === piece.path[1]) === index;
      const isLastOfChoice = pieces.findLastIndex((other) => other.path[1] === piece.path[1]) === index;
      const delta = deltaOf(choices, piece, isFirstOfChoice);
      const { usage, ...rest } = chunk;
      const one: JsonObject = {
        ...choices,
        ...(choices.delta === undefined ? {} : { delta }),
        ...(isLastOfChoice ? {} : { finish_reason: null, logprobs: null }),
      };
      return { ...rest, choices: [one], ...(usage !== undefined && index === pieces.length - 1 ? { usage } : {}) };
    });
  },
};

/** A delta with one of its texts, and with what else it holds when it is the first of its choice. */
function deltaOf(choice: JsonObject, piece: StreamPiece, isFirst: boolean): JsonObject {
  const delta = isObject(choice.delta) ? choice.delta : {};
  const name = piece.path[3];
  const others = isFirst
    ? Object.fromEntries(
        Object.entries(delta).filter(([key]) => key !== "tool_calls" && !DELTA_PARTS.some(([part]) => part === key)),
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
    if (typeof text === "string" && text !== "") pieces.push({ channel: prefix + name, part, path: [...base, name], text });
    else if (Array.isArray(text)) readBlocks(text, `${prefix}${name}`, part, [...base, name], pieces);
  }
  if (isObject(delta.audio) && typeof delta.audio.transcript === "string" && delta.audio.transcript !== "") {
    const path = [...base, "audio", "transcript"];
    pieces.push({ channel: `${prefix}audio`, part: "content", path, text: delta.audio.transcript });
  }
  if (isObject(delta.function_call)) readCall(delta.function_call, `${prefix}function`, [...base, "function_call"], pieces);
  if (!Array.isArray(delta.tool_calls)) return;
  for (const [at, call] of (delta.tool_calls as readonly JsonValue[]).entries()) {
    if (!isObject(call) || !isObject(call.function)) continue;
    const channel = `${prefix}call${String(call.index ?? at)}`;
    readCall(call.function, channel, [...base, "tool_calls", at, "function"], pieces);
  }
}

/** Some upstreams send a content in blocks. */
function readBlocks(blocks: readonly JsonValue[], channel: string, part: TextPart, base: JsonPath, pieces: StreamPiece[]): void {
  for (const [at, block] of blocks.entries()) {
    if (isObject(block) && typeof block.text === "string" && block.text !== "")
      pieces.push({ channel, part, path: [...base, at, "text"], text: block.text });
  }
}

function readCall(call: JsonObject, channel: string, base: JsonPath, pieces: StreamPiece[]): void {
  if (typeof call.name === "string" && call.name !== "")
    pieces.push({ channel: `${channel}/name`, part: "names", path: [...base, "name"], text: call.name, isName: true });
  if (typeof call.arguments === "string" && call.arguments !== "")
    pieces.push({ channel, part: "arguments", path: [...base, "arguments"], text: call.arguments, isJson: true });
}

/** Anthropic's events: blocks by index (docs.anthropic.com, messages streaming). */
export const anthropicStream: StreamDialect = {
  read(event) {
    const index = String(event.index ?? 0);
    switch (event.type) {
      case "content_block_start":
        return { pieces: isObject(event.content_block) ? anthropicBlock(event.content_block, index) : [] };
      case "content_block_delta":
        return { pieces: isObject(event.delta) ? anthropicDelta(event.delta, index) : [] };
      case "content_block_stop":
        return { pieces: [], ends: `${index}/` };
      case "message_delta":
      case "message_stop":
        return { pieces: [], ends: "" };
      default:
        return NOTHING;
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
    pieces.push({ channel: `${index}/${name}`, part, path: ["content_block", name], text, ...(isName ? { isName } : {}) });
  };
  add("text", "content", false);
  add("thinking", "reasoning", false);
  add("name", "names", true);
  return pieces;
}

function anthropicDelta(delta: JsonObject, index: string): StreamPiece[] {
  const { text, thinking, partial_json: json } = delta;
  if (typeof text === "string" && text !== "")
    return [{ channel: `${index}/text`, part: "content", path: ["delta", "text"], text }];
  if (typeof thinking === "string" && thinking !== "")
    return [{ channel: `${index}/thinking`, part: "reasoning", path: ["delta", "thinking"], text: thinking }];
  if (typeof json === "string" && json !== "")
    return [{ channel: `${index}/json`, part: "arguments", path: ["delta", "partial_json"], text: json, isJson: true }];
  return [];
}

function writePieces(event: JsonObject, pieces: readonly StreamPiece[], texts: readonly string[]): JsonObject {
  let changed = event;
  for (const [index, piece] of pieces.entries()) changed = setAt(changed, piece.path, texts[index] ?? "");
  return changed;
}

function splitPieces(event: JsonObject, pieces: readonly StreamPiece[]): readonly JsonObject[] {
  return pieces.map((piece) =>
    writePieces(
      event,
      pieces,
      pieces.map((other) => (other === piece ? piece.text : "")),
    ),
  );
}

/** Where the text of a `response.….delta` event belongs (platform.openai.com, responses streaming). */
const RESPONSE_DELTAS: Readonly<Record<string, TextPart>> = {
  "response.output_text.delta": "content",
  "response.refusal.delta": "refusal",
  "response.function_call_arguments.delta": "arguments",
  "response.custom_tool_call_input.delta": "arguments",
  "response.reasoning_text.delta": "reasoning",
  "response.reasoning_summary_text.delta": "reasoning",
};

/** OpenAI's own streams: chunks of chat completions, and the events of responses, whose later events repeat the texts whole. */
export const openaiStream: StreamDialect = {
  read(event) {
    if (typeof event.type !== "string" || !event.type.startsWith("response.")) return chatStream.read(event);
    const { type, item_id: item, content_index: content, summary_index: summary, delta } = event;
    const channel = `${String(item)}/${String(content ?? summary ?? 0)}/`;
    const part = RESPONSE_DELTAS[type];
    if (part !== undefined && typeof delta === "string")
      return delta === "" ? NOTHING : { pieces: [{ channel, part, path: ["delta"], text: delta, isJson: part === "arguments" }] };
    const pieces = bodyTexts({ output: event }, "passthrough").texts.map(({ path, part: said, text }, index) => {
      const place = `whole/${String(event.sequence_number ?? type)}/${index}`;
      return { channel: place, part: said, path: path.slice(1), text, isName: true };
    });
    const ends = type.endsWith(".done") && typeof item === "string" ? `${item}/` : undefined;
    return ends === undefined && pieces.length === 0
      ? NOTHING
      : { pieces, ends: ends ?? (type === "response.completed" ? "" : "none/") };
  },
  write(event, pieces, texts) {
    return typeof event.type === "string" ? writePieces(event, pieces, texts) : chatStream.write(event, pieces, texts);
  },
  split(event, pieces) {
    return typeof event.type === "string" ? splitPieces(event, pieces) : chatStream.split(event, pieces);
  },
};
