/**
 * Builds a whole chat completion from the chunks of its stream, for a request without streaming
 * whose stored reply is a stream.
 */

import { isObject } from "@sluice/kit";
import type { JsonObject, JsonValue } from "@sluice/contract";

type Fields = Record<string, JsonValue | undefined>;

interface Choice {
  readonly fields: Fields;
  readonly message: Fields;
  readonly calls: Fields[];
}

/** Texts of a delta that arrive in pieces. */
const TEXTS = new Set(["content", "refusal", "reasoning_content", "reasoning"]);
/** Members of a chunk that only the stream needs. */
const WIRE_FIELDS = new Set(["object", "choices", "usage", "obfuscation"]);

/**
 * The completion that the chunks form. Returns `undefined` when a part of them cannot be joined
 * with certainty: such a stream does not answer a request for a whole reply.
 */
export function assembleCompletion(chunks: readonly JsonObject[]): JsonObject | undefined {
  const names: Fields = {};
  const choices = new Map<number, Choice>();
  let usage: JsonValue | undefined;
  for (const chunk of chunks) {
    if (!Array.isArray(chunk.choices)) return undefined;
    for (const [name, value] of Object.entries(chunk)) {
      if (!WIRE_FIELDS.has(name) && !settle(names, name, value)) return undefined;
    }
    if (isObject(chunk.usage)) usage = chunk.usage;
    for (const choice of chunk.choices as readonly JsonValue[]) {
      if (!isObject(choice) || !addChoice(choices, choice)) return undefined;
    }
  }
  const ordered = [...choices].toSorted(([a], [b]) => a - b);
  if (ordered.length === 0) return undefined;
  return {
    ...names,
    object: "chat.completion",
    choices: ordered.map(([index, choice]) => wholeChoice(index, choice)),
    ...(usage !== undefined && { usage }),
  };
}

function wholeChoice(index: number, { fields, message, calls }: Choice): JsonObject {
  return {
    index,
    message: {
      role: "assistant",
      content: null,
      ...message,
      ...(calls.length > 0 && { tool_calls: calls }),
    },
    logprobs: null,
    finish_reason: null,
    ...fields,
  };
}

function addChoice(
  choices: Map<number, Choice>,
  { index = 0, delta, logprobs, ...others }: JsonObject,
): boolean {
  if (typeof index !== "number") return false;
  const choice = choices.get(index) ?? { fields: {}, message: {}, calls: [] };
  choices.set(index, choice);
  for (const [name, value] of Object.entries(others))
    if (!settle(choice.fields, name, value)) return false;
  if (isObject(logprobs) && !addLogprobs(choice.fields, logprobs)) return false;
  if (!isObject(delta)) return delta === undefined || delta === null;
  return Object.entries(delta).every(([name, value]) => addToMessage(choice, name, value));
}

function addToMessage(
  { message, calls }: Choice,
  name: string,
  value: JsonValue | undefined,
): boolean {
  if (TEXTS.has(name)) return addText(message, name, value);
  if (name === "tool_calls")
    return value === null || (Array.isArray(value) && value.every((call) => addCall(calls, call)));
  if (name === "function_call" && isObject(value)) {
    const known: Fields = isObject(message[name]) ? { ...message[name] } : {};
    message[name] = known;
    return addFunction(known, value);
  }
  return settle(message, name, value);
}

function addCall(calls: Fields[], call: JsonValue): boolean {
  if (!isObject(call)) return false;
  const { index, function: named, ...others } = call;
  if (typeof index !== "number" || !Number.isInteger(index)) return false;
  if (index < 0 || index > calls.length) return false;
  const known = (calls[index] ??= {});
  for (const [name, value] of Object.entries(others)) {
    // A repeated empty id adds nothing.
    if (value !== "" && !settle(known, name, value)) return false;
  }
  if (named === undefined) return true;
  if (!isObject(named)) return false;
  const made: Fields = isObject(known.function) ? { ...known.function } : {};
  known.function = made;
  return addFunction(made, named);
}

function addFunction(known: Fields, { arguments: pieces, ...others }: JsonObject): boolean {
  for (const [name, value] of Object.entries(others))
    if (value !== "" && !settle(known, name, value)) return false;
  return pieces === undefined || addText(known, "arguments", pieces);
}

function addText(fields: Fields, name: string, value: JsonValue | undefined): boolean {
  const before = fields[name];
  if (value === null || value === undefined) fields[name] = before ?? null;
  else if (typeof value !== "string") return false;
  else fields[name] = typeof before === "string" ? before + value : value;
  return true;
}

function addLogprobs(fields: Fields, logprobs: JsonObject): boolean {
  const known: Fields = isObject(fields.logprobs) ? fields.logprobs : {};
  for (const [name, value] of Object.entries(logprobs)) {
    if (value === null || value === undefined) {
      known[name] ??= null;
    } else if (Array.isArray(value)) {
      // A list of our own, made with the first piece.
      const list = (known[name] ??= []) as JsonValue[];
      for (const item of value as readonly JsonValue[]) list.push(item);
    } else {
      return false;
    }
  }
  fields.logprobs = known;
  return true;
}

/** Records a value that may be repeated. Returns whether it equals the recorded one. */
function settle(fields: Fields, name: string, value: JsonValue | undefined): boolean {
  const before = fields[name];
  if (value === null || value === undefined) {
    fields[name] = before ?? null;
    return true;
  }
  if (before === undefined || before === null) {
    fields[name] = value;
    return true;
  }
  return before === value || JSON.stringify(before) === JSON.stringify(value);
}
