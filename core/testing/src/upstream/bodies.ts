/** Bodies of the OpenAI chat format: the whole object, the chunks of a stream, the error object. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import type { UpstreamRequest } from "./record.ts";
import type { ErrorAction, ReplyAction, ScriptedToolCall, WireUsage } from "./script.ts";
import { DEFAULT_TEXT } from "./script.ts";

/** 2023-11-14, so that replies are the same on every day. */
const CREATED = 1_700_000_000;
const SNAPSHOT = "-2024-07-18";
const FRAGMENT_LENGTH = 6;

/** One event of a stream, and how many completion tokens have been spoken with it. */
export interface StreamEvent {
  readonly chunk: JsonObject;
  readonly tokens: number;
}

/** The words of a text, each with the white space behind it; joined they are the text again. */
export function words(text: string): string[] {
  return text.match(/\s*\S+\s*/gu) ?? (text === "" ? [] : [text]);
}

/**
 * Usage of a reply: the scripted one, else one token for each word of the messages and of the
 * reply.
 */
export function countUsage(
  request: UpstreamRequest,
  action: ReplyAction,
  spoken = Infinity,
): WireUsage {
  if (typeof action.usage === "object") return action.usage;
  const messages = request.parsed?.["messages"];
  const prompt_tokens = words(textOf(messages)).length;
  const completion_tokens = Math.min(spoken, pieces(action).length * choiceCount(request));
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

/** The body of a whole reply. */
export function wholeBody(request: UpstreamRequest, action: ReplyAction): JsonObject {
  const text = contentOf(action);
  const message = {
    role: "assistant",
    content: text,
    refusal: null,
    annotations: [],
    ...(action.toolCalls && {
      tool_calls: action.toolCalls.map((call, index) => toolCall(request, call, index)),
    }),
  };
  const logprobs = wantsLogprobs(request, action)
    ? { content: words(text ?? "").map(probability), refusal: null }
    : null;
  const choices = Array.from({ length: choiceCount(request) }, (_, index) => ({
    index,
    message,
    logprobs,
    finish_reason: finishReason(action),
  }));
  return {
    ...envelope(request, action, "chat.completion"),
    choices,
    ...(action.usage !== "never" && { usage: { ...countUsage(request, action) } }),
    service_tier: "default",
    ...action.extra,
  };
}

/**
 * The events of a streamed reply, without the end mark. The first delta of each choice carries the
 * role alone.
 */
export function* streamEvents(
  request: UpstreamRequest,
  action: ReplyAction,
): Generator<StreamEvent> {
  const options = request.parsed?.["stream_options"];
  const asked =
    typeof options === "object" &&
    options !== null &&
    "include_usage" in options &&
    options["include_usage"] === true;
  const withUsage = asked && action.usage !== "never";
  let tokens = 0;
  const event = (choices: JsonValue[], usage: JsonValue = null): StreamEvent => ({
    chunk: {
      ...envelope(request, action, "chat.completion.chunk"),
      choices,
      ...(withUsage && { usage }),
      ...action.extra,
    },
    tokens,
  });
  for (let index = 0; index < choiceCount(request); index += 1) {
    const choice = (delta: JsonObject, finish: string | null = null, logprobs: JsonValue = null) =>
      event([{ index, delta, logprobs, finish_reason: finish }]);
    yield choice({ role: "assistant", content: action.toolCalls ? null : "", refusal: null });
    for (const word of words(contentOf(action) ?? "")) {
      tokens += 1;
      const logprobs = wantsLogprobs(request, action)
        ? { content: [probability(word)], refusal: null }
        : null;
      yield choice({ content: word }, null, logprobs);
    }
    for (const [position, call] of (action.toolCalls ?? []).entries()) {
      const opened = toolCall(request, call, position);
      yield choice({
        tool_calls: [{ index: position, ...opened, function: { name: call.name, arguments: "" } }],
      });
      for (const fragment of fragments(call, action)) {
        tokens += 1;
        yield choice({ tool_calls: [{ index: position, function: { arguments: fragment } }] });
      }
    }
    yield choice({}, finishReason(action));
  }
  if (withUsage) yield event([], { ...countUsage(request, action) });
}

const ERROR_WORDS: Record<number, readonly [type: string, code: string | null, message: string]> = {
  400: ["invalid_request_error", "invalid_value", "Invalid value for 'temperature'."],
  401: ["invalid_request_error", "invalid_api_key", "Incorrect API key provided."],
  404: [
    "invalid_request_error",
    "model_not_found",
    "The model does not exist or you do not have access to it.",
  ],
  429: ["requests", "rate_limit_exceeded", "Rate limit reached for requests."],
  500: ["server_error", null, "The server had an error while processing your request."],
  503: ["service_unavailable", null, "The engine is currently overloaded, please try again later."],
};

/** The body of an error. */
export function errorObject(
  action: Partial<ErrorAction> & { readonly status: number },
): JsonObject {
  const [type, code, message] = ERROR_WORDS[action.status] ?? [
    "api_error",
    null,
    "Something went wrong.",
  ];
  return {
    error: {
      message: action.message ?? message,
      type: action.type ?? type,
      param: action.param ?? null,
      code: action.code === undefined ? code : action.code,
    },
  };
}

function envelope(request: UpstreamRequest, action: ReplyAction, object: string): JsonObject {
  const asked = request.parsed?.["model"];
  return {
    id: `chatcmpl-upstream-${request.number}`,
    object,
    created: CREATED + request.number,
    model: action.model ?? `${typeof asked === "string" ? asked : "unknown"}${SNAPSHOT}`,
    system_fingerprint: "fp_upstream",
  };
}

function contentOf(action: ReplyAction): string | null {
  return action.text ?? (action.toolCalls ? null : DEFAULT_TEXT);
}

function pieces(action: ReplyAction): string[] {
  return [
    ...words(contentOf(action) ?? ""),
    ...(action.toolCalls ?? []).flatMap((call) => fragments(call, action)),
  ];
}

function fragments(call: ScriptedToolCall, action: ReplyAction): string[] {
  return (
    call.arguments.match(new RegExp(`.{1,${action.fragmentLength ?? FRAGMENT_LENGTH}}`, "gsu")) ??
    []
  );
}

function toolCall(request: UpstreamRequest, call: ScriptedToolCall, index: number): JsonObject {
  const id = call.id ?? `call_${request.number}_${index}`;
  return { id, type: "function", function: { name: call.name, arguments: call.arguments } };
}

function finishReason(action: ReplyAction): string {
  return action.finishReason ?? (action.toolCalls ? "tool_calls" : "stop");
}

function choiceCount(request: UpstreamRequest): number {
  const count = request.parsed?.["n"];
  return typeof count === "number" && count >= 1 ? Math.min(Math.floor(count), 16) : 1;
}

function wantsLogprobs(request: UpstreamRequest, action: ReplyAction): boolean {
  return action.logprobs ?? request.parsed?.["logprobs"] === true;
}

function probability(token: string): JsonObject {
  return { token, logprob: -0.25, bytes: [...Buffer.from(token)], top_logprobs: [] };
}

/** All text of the messages, content parts included. */
function textOf(messages: unknown): string {
  if (typeof messages === "string") return messages;
  if (Array.isArray(messages)) return messages.map((part) => textOf(part)).join(" ");
  if (typeof messages !== "object" || messages === null) return "";
  if ("content" in messages) return textOf(messages.content);
  return "text" in messages ? textOf(messages.text) : "";
}
