/**
 * What a reply of the reference dialect may hold. Every reader of it takes one turn of the event
 * loop for a choice, a call, a block or a text: no model makes as many as are refused here. See
 * core/decisions/2026-11-29-bounds-of-replies.md.
 */

import { GatewayError, type JsonObject, type JsonValue } from "@sluice/contract";
import { isObject } from "../json/narrow.ts";

/** Maximum calls of one reply. */
export const MAX_CALLS = 4_096;

interface Bounds {
  readonly what: string;
  readonly choices: number;
  /** Items of each list of a message: calls, blocks, annotations. */
  readonly items: number;
  /** Characters of all texts of a choice's message, arguments included. */
  readonly characters: number;
}

const REPLY: Bounds = {
  what: "reply",
  choices: 128,
  items: MAX_CALLS,
  characters: 16 * 1024 * 1024,
};
const EVENT: Bounds = {
  what: "event",
  choices: 128,
  items: 1_024,
  characters: 1_048_576,
};

/** Throws `upstream_invalid_response` for a whole reply with too much of something. */
export function checkWholeReply(reply: JsonObject): void {
  check(reply, "message", REPLY);
}

/** The same for a chunk of a stream. */
export function checkChunk(chunk: JsonObject): void {
  check(chunk, "delta", EVENT);
}

function check({ choices }: JsonObject, part: string, bounds: Bounds): void {
  if (!Array.isArray(choices)) return;
  if (choices.length > bounds.choices) throw refused(bounds, `${bounds.choices} choices`);
  for (const choice of choices as readonly JsonValue[])
    if (isObject(choice) && isObject(choice[part])) checkMessage(choice[part], bounds);
}

function checkMessage(message: JsonObject, bounds: Bounds): void {
  let characters = 0;
  for (const [name, value] of Object.entries(message)) {
    if (typeof value === "string") characters += value.length;
    else if (Array.isArray(value)) {
      if (value.length > bounds.items) throw refused(bounds, `${bounds.items} items of ${name}`);
      if (name === "tool_calls") characters += argumentCharacters(value);
    }
  }
  if (characters > bounds.characters)
    throw refused(bounds, `${bounds.characters} characters in a message`);
}

function argumentCharacters(calls: readonly JsonValue[]): number {
  let characters = 0;
  for (const call of calls) {
    const { arguments: text } = isObject(call) && isObject(call.function) ? call.function : {};
    if (typeof text === "string") characters += text.length;
  }
  return characters;
}

/** Maximum pieces that wait for the end of another one. They are written in one turn. */
const MAX_HELD = 16_384;
/** Maximum log probabilities that are kept until the end of a stream. */
const MAX_LOGPROBS = 200_000;

/** Counts what a face keeps of a stream, and writes or parses in one turn. */
export class KeptOfStream {
  #choices = 0;
  #logprobs = 0;
  #calls = 0;
  #held = 0;

  /** Counts a further choice. Throws `upstream_invalid_response` beyond the bound. */
  choice(): void {
    if (++this.#choices > REPLY.choices) throw refusedReply(`${REPLY.choices} choices`);
  }

  /** Counts log probabilities. Throws `upstream_invalid_response` beyond the bound. */
  logprobs(count: number): void {
    this.#logprobs += count;
    if (this.#logprobs > MAX_LOGPROBS) throw refusedReply(`${MAX_LOGPROBS} log probabilities`);
  }

  /** Counts a further call. Throws `upstream_invalid_response` beyond the bound. */
  call(): void {
    if (++this.#calls > MAX_CALLS) throw refusedReply(`${MAX_CALLS} calls`);
  }

  /** Counts a piece that waits. Throws `upstream_invalid_response` beyond the bound. */
  hold(): void {
    if (++this.#held > MAX_HELD) throw refusedReply(`${MAX_HELD} pieces behind an open call`);
  }

  /** Counts pieces that are written. */
  release(pieces: number): void {
    this.#held -= pieces;
  }
}

function refusedReply(most: string): GatewayError {
  return refused(REPLY, most);
}

function refused({ what }: Bounds, most: string): GatewayError {
  return new GatewayError(
    "upstream_invalid_response",
    what === "event"
      ? `An event of the upstream's stream has more than ${most}.`
      : `The upstream's reply has more than ${most}.`,
  );
}
