/**
 * The tokens of a prompt by the reference API's rules: the texts, and the framing around them.
 * Sources: the OpenAI Cookbook, "How to count tokens with tiktoken" (messages), and
 * hmarr.com/blog/counting-openai-tokens (functions).
 */

import type {
  CountOptions,
  JsonObject,
  JsonValue,
  TokenCount,
  TokenCounter,
} from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { mediaTokens } from "./media-tokens.ts";
import { toolNamespace } from "../repair/tool-namespace.ts";

const PER_MESSAGE = 3;
const PER_NAME = 1;
/** A reply begins with `<|start|>assistant<|message|>`. */
const REPLY_START = 3;
const PER_CALL = 3;
/** A message of the role `function` has fewer framing tokens. */
const FUNCTION_ROLE = -2;
const DEFINITIONS = 9;
/** The definitions join an existing system message. */
const DEFINITIONS_IN_SYSTEM = -4;
const CHOICE_NONE = 1;
const CHOICE_NAMED = 7;
const CALL_NAMED = 4;

/** The parts of a prompt: texts to count, and other tokens. */
export interface PromptParts {
  readonly texts: readonly string[];
  /** Tokens of everything except text: framing, images, token arrays. */
  readonly overhead: number;
  /** `false` when a part of the overhead is an estimate. */
  readonly exact: boolean;
}

/** Counts the prompt of a chat request, or the input of an embeddings request. Never rejects. */
export async function countPrompt(
  body: JsonObject,
  counter: TokenCounter,
  options?: CountOptions,
): Promise<TokenCount> {
  const { texts, overhead, exact } = promptParts(body);
  const counted = await counter.count(texts, options);
  return { tokens: counted.tokens + overhead, exact: counted.exact && exact };
}

/** The parts of a request's prompt: of its `messages`, or else of its `input` or `prompt`. */
export function promptParts(body: JsonObject): PromptParts {
  const parts = new Parts();
  if (Array.isArray(body.messages)) chat(body, body.messages, parts);
  else input(body.input ?? body.prompt, parts);
  return parts;
}

/** Characters of a token, roughly. */
const CHARACTERS_PER_TOKEN = 4;

/** A rough count of a request's prompt, without a tokenizer. */
export function roughPromptTokens(body: JsonObject): number {
  const { texts, overhead } = promptParts(body);
  const characters = texts.reduce((total, { length }) => total + length, 0);
  return Math.ceil(characters / CHARACTERS_PER_TOKEN) + overhead;
}

class Parts implements PromptParts {
  readonly texts: string[] = [];
  overhead = 0;
  exact = true;

  text(value: JsonValue | undefined): void {
    if (typeof value === "string" && value !== "") this.texts.push(value);
  }

  add({ tokens, exact }: TokenCount): void {
    this.overhead += tokens;
    this.exact &&= exact;
  }
}

function chat(body: JsonObject, messages: readonly JsonValue[], parts: Parts): void {
  const functions = definitions(body);
  parts.overhead += REPLY_START;
  let isPadded = functions.length === 0;
  for (const message of messages) {
    if (!isObject(message)) continue;
    const isSystem = message.role === "system" || message.role === "developer";
    // With functions, the first system message ends with a line feed.
    framed(message, isSystem && !isPadded ? "\n" : "", parts);
    if (isSystem && !isPadded) {
      isPadded = true;
      parts.overhead += DEFINITIONS_IN_SYSTEM;
    }
  }
  if (functions.length > 0) {
    parts.text(toolNamespace(functions));
    parts.overhead += DEFINITIONS;
  }
  choice(body, parts);
  const format = isObject(body.response_format) ? body.response_format.json_schema : undefined;
  if (format !== undefined) {
    parts.text(JSON.stringify(format));
    parts.exact = false;
  }
}

function framed(message: JsonObject, ending: string, parts: Parts): void {
  parts.overhead += PER_MESSAGE + (message.role === "function" ? FUNCTION_ROLE : 0);
  parts.text(message.role);
  content(message.content, ending, parts);
  if (typeof message.name === "string" && message.name !== "") {
    parts.text(message.name);
    parts.overhead += PER_NAME;
  }
  called(message.function_call, parts);
  if (!Array.isArray(message.tool_calls)) return;
  for (const one of message.tool_calls as readonly JsonValue[])
    if (isObject(one)) called(one.function, parts);
}

function called(call: JsonValue | undefined, parts: Parts): void {
  if (!isObject(call)) return;
  parts.overhead += PER_CALL;
  parts.text(call.name);
  parts.text(call.arguments);
}

function content(value: JsonValue | undefined, ending: string, parts: Parts): void {
  if (typeof value === "string") parts.text(value + ending);
  if (!Array.isArray(value)) return;
  for (const block of value) {
    if (!isObject(block)) parts.text(block);
    else if (block.type === "text" || block.type === "refusal")
      parts.text(block.text ?? block.refusal);
    else parts.add(mediaTokens(block));
  }
}

const NO_DEFINITIONS: readonly JsonObject[] = Object.freeze([]);

function definitions(body: JsonObject): readonly JsonObject[] {
  if (body.tools === undefined && body.functions === undefined) return NO_DEFINITIONS;
  const tools = Array.isArray(body.tools) ? body.tools : [];
  const legacy = Array.isArray(body.functions) ? body.functions : [];
  return [...tools.map((tool) => (isObject(tool) ? tool.function : undefined)), ...legacy].filter(
    isObject,
  );
}

function choice(body: JsonObject, parts: Parts): void {
  const { tool_choice: chosen, function_call: legacy } = body;
  if (chosen === "none" || legacy === "none") parts.overhead += CHOICE_NONE;
  if (isObject(chosen) && isObject(chosen.function)) {
    parts.overhead += CHOICE_NAMED;
    parts.text(chosen.function.name);
  }
  if (isObject(legacy)) {
    parts.overhead += CALL_NAMED;
    parts.text(legacy.name);
  }
}

/** An embeddings input: a text, texts, a token array, token arrays. Tokens need no counting. */
function input(value: JsonValue | undefined, parts: Parts): void {
  if (!Array.isArray(value)) {
    parts.text(value);
    return;
  }
  for (const item of value) {
    if (typeof item === "number") parts.overhead++;
    else if (Array.isArray(item)) parts.overhead += item.length;
    else parts.text(item);
  }
}
