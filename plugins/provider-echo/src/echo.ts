/**
 * The echo's answers: a chat completion, or the events of one. A word counts as a token in the
 * usage.
 */

import { isObject } from "@sluice/kit";
import type { JsonObject, JsonValue, ProviderRequest } from "@sluice/contract";

/** A whole chat completion that repeats the last user message. */
export function echoReply(request: ProviderRequest): JsonObject {
  const words = wordsOf(lastUserText(request.document.value.messages));
  return {
    ...envelope(request, "chat.completion"),
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: words.join("") },
        logprobs: null,
        finish_reason: "stop",
      },
    ],
    usage: usageOf(request, words.length),
  };
}

/** The same answer as an event stream, one word an event. */
export function* echoEvents(request: ProviderRequest): Generator<string> {
  const words = wordsOf(lastUserText(request.document.value.messages));
  const head = envelope(request, "chat.completion.chunk");
  const event = (delta: JsonObject, finishReason: string | null): string =>
    write({ ...head, choices: [{ index: 0, delta, finish_reason: finishReason }] });
  yield event({ role: "assistant", content: "" }, null);
  for (const word of words) yield event({ content: word }, null);
  yield event({}, "stop");
  yield write({ ...head, choices: [], usage: usageOf(request, words.length) });
  yield "data: [DONE]\n\n";
}

function envelope(request: ProviderRequest, object: string): JsonObject {
  return {
    id: request.replyId,
    object,
    created: request.createdSeconds,
    model: request.replyModel,
  };
}

function write(chunk: JsonObject): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

function usageOf(request: ProviderRequest, completionTokens: number): JsonObject {
  const messages = request.document.value.messages;
  const texts = Array.isArray(messages)
    ? messages.map((message) => (isObject(message) ? textOf(message.content) : ""))
    : [];
  const promptTokens = texts.reduce((sum, text) => sum + wordsOf(text).length, 0);
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}

function lastUserText(messages: JsonValue | undefined): string {
  if (!Array.isArray(messages)) return "";
  const last = messages.findLast((message) => isObject(message) && message.role === "user");
  return isObject(last) ? textOf(last.content) : "";
}

function textOf(content: JsonValue | undefined): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((block) => (isObject(block) && typeof block.text === "string" ? block.text : ""))
    .join("");
}

/** Words with the white space before them, so that joining them gives the text back. */
export function wordsOf(text: string): string[] {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}
