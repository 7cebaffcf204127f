/**
 * Mistral's replies where they differ from the reference dialect: contents in chunks, its own
 * finish reasons, calls, counts.
 */

import { isObject } from "@sluice/kit";
import {
  Failures,
  finishReason,
  type FinishTable,
  Members,
  readFailure,
  readJsonBody,
  Reference,
  type ToolNames,
  upstreamError,
  type UpstreamFailure,
} from "@sluice/kit/dialect";
import { Compatible, createChatTranslator, decodeChat } from "@sluice/kit/openai";
import type {
  DecodedReply,
  ErrorReply,
  GatewayError,
  JsonObject,
  JsonValue,
  ProviderRequest,
  StreamSink,
  StreamTranslator,
} from "@sluice/contract";

/** `ChatCompletionChoiceFinishReason` of the SDK; `error` is a failure. */
const FINISH: FinishTable = {
  stop: "stop",
  length: "length",
  model_length: "length",
  tool_calls: "tool_calls",
};

/** The reply of a chat call. */
export function decodeReply(
  body: Uint8Array,
  request: ProviderRequest,
  names: ToolNames.NameMap,
): DecodedReply {
  const value = readJsonBody(body);
  if (value.object === "error")
    throw upstreamError({ ...failureOf(value), words: Failures.wordsOf(value) });
  if (!Array.isArray(value.choices)) return decodeChat(body, request.replyModel, request);
  const exact = new Members.ExactValues({ value, bytes: body }).of(value.choices);
  const choices = (exact as readonly JsonValue[]).map((choice) => {
    if (!isObject(choice) || !isObject(choice.message)) return choice;
    const { message } = choice;
    const calls = Members.readObjects(message.tool_calls).map((call) => wholeCall(call, names));
    const repaired = {
      ...message,
      ...plainContent(message.content),
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    };
    return { ...choice, message: repaired, ...finish(choice.finish_reason, calls.length > 0) };
  });
  const settled = {
    ...value,
    choices,
    ...(isObject(value.usage) ? { usage: plainUsage(value.usage) } : {}),
  };
  return decodeChat(Buffer.from(JSON.stringify(settled)), request.replyModel, request);
}

/**
 * A translator of one stream. Events of plain text pass as they came; the usage, which rides on the
 * last, gets its own.
 */
export function translateStream(
  request: ProviderRequest,
  makeNames: () => ToolNames.NameMap,
): StreamTranslator {
  const inner = createChatTranslator(request.replyModel, request);
  const calls = new StreamedCalls(makeNames);
  return {
    repeated: (last, count, data) => inner.repeated?.(last, count, data),
    event(event, sink: StreamSink): void {
      const { data } = event;
      const chunk = isPlain(data) ? undefined : Members.parse(data);
      if (chunk === undefined) {
        inner.event(event, sink);
        return;
      }
      if (chunk.object === "error")
        throw upstreamError({ ...failureOf(chunk), words: Failures.wordsOf(chunk) });
      const { usage, ...rest } = chunk;
      const exact = new Members.ExactValues({ value: chunk, bytes: data });
      const choices = Members.objectsOf(exact.of(chunk.choices ?? [])).map((choice) =>
        calls.choice(choice),
      );
      const write = (value: JsonObject): void => {
        Reference.checkChunk(value);
        for (const part of Compatible.splitCalls(value))
          inner.event({ event: event.event, data: JSON.stringify(part) }, sink);
      };
      if (choices.length > 0 || !isObject(usage))
        write(Array.isArray(chunk.choices) ? { ...rest, choices } : rest);
      if (isObject(usage)) write({ ...rest, choices: [], usage: plainUsage(usage) });
    },
  };
}

/**
 * An event that holds a piece of text and nothing else: inside of a string these words would carry
 * backslashes.
 */
function isPlain(data: string): boolean {
  if (data === "[DONE]") return true;
  const isText = data.includes('"content":"') && data.includes('"finish_reason":null');
  return isText && !data.includes('"tool_calls":[') && !data.includes('"usage":{');
}

/** The calls of a stream: their index, their head in the first piece alone. */
class StreamedCalls {
  readonly #makeNames: () => ToolNames.NameMap;
  #names: ToolNames.NameMap | undefined;
  /** Calls seen, by choice: the id (or the API's own index) to our index. */
  readonly #seen = new Map<JsonValue | undefined, Map<string, number>>();
  /** Calls that have no arguments yet, by choice. */
  readonly #bare = new Map<JsonValue | undefined, Set<number>>();

  constructor(makeNames: () => ToolNames.NameMap) {
    this.#makeNames = makeNames;
  }

  choice(choice: JsonObject): JsonObject {
    const delta = isObject(choice.delta) ? choice.delta : {};
    const pieces = Members.objectsOf(delta.tool_calls).map((piece, at) =>
      this.#piece(choice.index, piece, at),
    );
    if (typeof choice.finish_reason === "string") {
      for (const index of this.#bare.get(choice.index) ?? [])
        pieces.push({ index, function: { arguments: "{}" } });
    }
    const repaired = {
      ...delta,
      ...plainContent(delta.content),
      ...(pieces.length > 0 ? { tool_calls: pieces } : {}),
    };
    const hasCalls = (this.#seen.get(choice.index)?.size ?? 0) > 0;
    return { ...choice, delta: repaired, ...finish(choice.finish_reason, hasCalls) };
  }

  #piece(choice: JsonValue | undefined, piece: JsonObject, at: number): JsonObject {
    const seen = this.#seen.get(choice) ?? new Map<string, number>();
    this.#seen.set(choice, seen);
    const { function: called } = piece;
    const id = typeof piece.id === "string" && piece.id !== "null" ? piece.id : undefined;
    // Whole calls may all have the index 0: their ids distinguish them.
    const key = id ?? `#${typeof piece.index === "number" ? piece.index : at}`;
    const known = seen.get(key) ?? (id === undefined && seen.size > 0 ? seen.size - 1 : undefined);
    const text = argumentsOf(isObject(called) ? called.arguments : undefined, "");
    const bare = this.#bare.get(choice) ?? new Set<number>();
    this.#bare.set(choice, bare);
    if (known !== undefined) {
      if (text !== "") bare.delete(known);
      return { index: known, function: { arguments: text } };
    }
    const index = seen.size;
    seen.set(key, index);
    if (text === "") bare.add(index);
    this.#names ??= this.#makeNames();
    return { index, ...wholeCall({ ...piece, id: key }, this.#names, "") };
  }
}

function wholeCall(call: JsonObject, names: ToolNames.NameMap, empty = "{}"): JsonObject {
  const called = isObject(call.function) ? call.function : {};
  const name = typeof called.name === "string" ? names.toClient(called.name) : "";
  return {
    id: String(call.id),
    type: "function",
    function: { name, arguments: argumentsOf(called.arguments, empty) },
  };
}

/** Arguments are a text, or an object (`Arguments` of the SDK). */
function argumentsOf(value: JsonValue | undefined, empty: string): string {
  if (typeof value === "string") return value === "" ? empty : value;
  return value === undefined || value === null ? empty : JSON.stringify(value);
}

/**
 * A content in chunks as a text, its thoughts, and the chunks that a chat completion has no place
 * for.
 */
function plainContent(content: JsonValue | undefined): JsonObject {
  if (!Array.isArray(content)) return {};
  let text = "";
  let reasoning = "";
  const others: JsonObject[] = [];
  for (const chunk of Members.readObjects(content)) {
    if (chunk.type === "text" && typeof chunk.text === "string") text += chunk.text;
    else if (chunk.type === "thinking") reasoning += thoughtOf(chunk.thinking);
    else others.push(chunk);
  }
  return {
    content: text,
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(others.length === 0 ? {} : { provider_blocks: others }),
  };
}

/** A thought is a text, or a list of texts and references. */
function thoughtOf(thinking: JsonValue | undefined): string {
  if (typeof thinking === "string") return thinking;
  return Members.readObjects(thinking)
    .map(({ text }) => (typeof text === "string" ? text : ""))
    .join("");
}

function finish(native: JsonValue | undefined, hasCalls: boolean): JsonObject {
  if (typeof native !== "string") return {};
  if (native === "error")
    throw upstreamError({
      failure: "server",
      message: "The upstream's model failed while it answered.",
    });
  const reason = finishReason(native, FINISH, hasCalls);
  return { finish_reason: reason, ...(reason === native ? {} : { native_finish_reason: native }) };
}

/** Cached tokens are in one of three members; the reference dialect reads the first. */
function plainUsage(usage: JsonObject): JsonObject {
  if (isObject(usage.prompt_tokens_details)) return usage;
  const details = isObject(usage.prompt_token_details) ? usage.prompt_token_details : {};
  const cached = details.cached_tokens ?? usage.num_cached_tokens;
  return typeof cached === "number"
    ? { ...usage, prompt_tokens_details: { cached_tokens: cached } }
    : usage;
}

/** The gateway's error of a reply whose status is not 2xx. */
export function readError(reply: ErrorReply): GatewayError {
  return readFailure(reply, (body) => failureOf(isObject(body.error) ? body.error : body));
}

/**
 * `{object: "error", message, type, param, code}`; of a request that fits no schema `{detail:
 * [{loc, msg, type}]}`.
 */
function failureOf(body: JsonObject): Pick<UpstreamFailure, "message" | "failure"> {
  const { message, detail } = body;
  const faults = isObject(message) ? message.detail : (message ?? detail);
  const text =
    typeof faults === "string" ? faults : Members.objectsOf(faults).map(faultOf).join("; ");
  return { message: text === "" ? undefined : text };
}

function faultOf({ loc, msg }: JsonObject): string {
  const place = Array.isArray(loc) ? loc.filter((step) => step !== "body").join(".") : "";
  return place === "" ? String(msg) : `${place}: ${String(msg)}`;
}
