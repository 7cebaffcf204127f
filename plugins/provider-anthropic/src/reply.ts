/** Anthropic's messages as chat completions: whole, and as streams of events. */

import {
  chatReply,
  type ChunkWriter,
  createStreamTranslator,
  type FailureClass,
  Failures,
  type FinishTable,
  invalidReply,
  Members,
  readFailure,
  readJsonBody,
  readJsonEvent,
  Reference,
  tokenCount,
  type ToolNames,
  upstreamError,
  type UpstreamFailure,
} from "@sluice/kit/dialect";
import { isObject } from "@sluice/kit";
import { Native } from "@sluice/kit/passthrough";
import type {
  DecodedReply,
  ErrorReply,
  EventForm,
  GatewayError,
  JsonObject,
  JsonValue,
  ProviderRequest,
  StreamTranslator,
  Usage,
} from "@sluice/contract";

const FINISH: FinishTable = {
  end_turn: "stop",
  stop_sequence: "stop",
  pause_turn: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool_calls",
  refusal: "content_filter",
};

/** Kinds of errors (`ErrorType` of the SDK) that are more precise than the status. */
const FAILURES = Members.table<FailureClass>({
  authentication_error: "auth",
  permission_error: "auth",
  billing_error: "auth",
  rate_limit_error: "rate_limit",
  overloaded_error: "overloaded",
  timeout_error: "timeout",
  api_error: "server",
});

/** The reply to a messages request. */
export function decodeMessage(
  body: Uint8Array,
  request: ProviderRequest,
  names: ToolNames.NameMap,
): DecodedReply {
  const message = readJsonBody(body);
  if (message.type === "error" && isObject(message.error)) throw embeddedError(message.error);
  if (!Array.isArray(message.content)) throw invalidReply("has no content");
  const blocks = Members.readObjects(message.content);
  const exact = new Members.ExactValues({ value: message, bytes: body });
  const texts = (type: string, member: string): string =>
    blocks
      .flatMap((block) =>
        block.type === type && typeof block[member] === "string" ? [block[member]] : [],
      )
      .join("");
  const citations = blocks.flatMap((block) => Members.readObjects(block.citations));
  return chatReply(request, {
    text: texts("text", "text"),
    reasoning: texts("thinking", "thinking"),
    thinkingBlocks: blocks.filter(
      ({ type }) => type === "thinking" || type === "redacted_thinking",
    ),
    calls: blocks.flatMap((block) =>
      block.type === "tool_use" && typeof block.id === "string" && typeof block.name === "string"
        ? [
            {
              id: block.id,
              name: names.toClient(block.name),
              arguments: exact.written(block.input ?? {}),
            },
          ]
        : [],
    ),
    nativeFinish: Members.textIn(message.stop_reason),
    finishTable: FINISH,
    usage: readUsage(isObject(message.usage) ? message.usage : {}),
    message: {
      ...(citations.length === 0 ? {} : { citations }),
      ...Reference.contentOrder(blocks.map(partOf)),
      ...serverBlocks(blocks, exact),
    },
    choice: stopSequence(message.stop_sequence),
  });
}

function partOf({ type, text }: JsonObject): Reference.ReplyPart {
  if (type === "text") return { type, length: Members.textIn(text)?.length ?? 0 };
  if (type === "tool_use") return { type };
  const isThought = type === "thinking" || type === "redacted_thinking";
  return { type: isThought ? "thinking" : "provider" };
}

/** Blocks of tools that the provider runs itself: no chat completion has a place for them. */
function serverBlocks(blocks: readonly JsonObject[], exact: Members.ExactValues): JsonObject {
  const others = blocks
    .filter(({ type }) => typeof type === "string" && !KNOWN_BLOCKS.has(type))
    .map((block) => exact.of(block));
  return others.length === 0 ? {} : { provider_blocks: others };
}

const KNOWN_BLOCKS = new Set(["text", "thinking", "redacted_thinking", "tool_use"]);

function stopSequence(value: JsonValue | undefined): JsonObject {
  return typeof value === "string" ? { stop_sequence: value } : {};
}

/**
 * The usage of a message, read as that of a native reply is; `undefined` where one of the totals is
 * missing.
 */
function readUsage(usage: JsonObject): Usage | undefined {
  const { input_tokens: input, output_tokens: output } = usage;
  const isWhole = tokenCount(input) !== undefined && tokenCount(output) !== undefined;
  return isWhole ? Native.readUsage({ usage }) : undefined;
}

/** A translator of one stream of events. `names` is called once, when a tool call begins. */
export function translateStream(
  request: ProviderRequest,
  names: () => ToolNames.NameMap,
): StreamTranslator {
  return createStreamTranslator(request, (writer) => {
    const blocks: Blocks = new Map();
    // The last word on each count wins; the end of a stream repeats some of them as null. The
    // output grows: a smaller count is of a part.
    let usage: JsonObject = {};
    const merge = (later: JsonValue | undefined): void => {
      if (!isObject(later)) return;
      const output = Math.max(
        tokenCount(usage.output_tokens) ?? 0,
        tokenCount(later.output_tokens) ?? 0,
      );
      usage = {
        ...usage,
        ...Object.fromEntries(Object.entries(later).filter(([, value]) => value !== null)),
        ...(output === 0 ? {} : { output_tokens: output }),
      };
    };
    const report = (later: JsonValue | undefined): void => {
      merge(later);
      writer.usageSoFar(Native.readUsage({ usage }));
    };
    return ({ data }) => {
      const event = readJsonEvent(data);
      switch (event.type) {
        case "content_block_delta":
          delta(event, blocks, writer);
          break;
        case "content_block_start":
          start(event, { blocks, writer, names, data });
          break;
        case "content_block_stop":
          stop(event, blocks, writer);
          break;
        case "message_start":
          report(isObject(event.message) ? event.message.usage : undefined);
          writer.begin();
          break;
        case "message_delta": {
          report(event.usage);
          const said = isObject(event.delta) ? event.delta : {};
          if (typeof said.stop_reason === "string")
            writer.finish(said.stop_reason, FINISH, stopSequence(said.stop_sequence));
          break;
        }
        case "message_stop":
          writer.usage(readUsage(usage));
          writer.done();
          break;
        case "error":
          throw embeddedError(isObject(event.error) ? event.error : {});
        default:
        // `ping`, and future events, which the API announces for its streams.
      }
    };
  });
}

/** What a block began with, and the arguments of a tool that the provider runs itself. */
interface Begun {
  readonly value: JsonObject;
  json: string;
}

/** The blocks of a stream, by their indices. */
type Blocks = Map<JsonValue | undefined, Begun>;

/** What a block begins in. */
interface Beginning {
  readonly blocks: Blocks;
  readonly writer: ChunkWriter;
  readonly names: () => ToolNames.NameMap;
  /** The text of the event. */
  readonly data: string;
}

function start(event: JsonObject, { blocks, writer, names, data }: Beginning): void {
  const exact = new Members.ExactValues({ value: event, bytes: data });
  const begun = exact.of(event.content_block ?? {});
  const value = isObject(begun) ? begun : {};
  const key = String(event.index);
  blocks.set(event.index, { value, json: "" });
  if (value.type === "tool_use")
    writer.callStart(key, { id: String(value.id), name: names().toClient(String(value.name)) });
  else if (value.type === "text") writer.text(Members.textIn(value.text) ?? "");
  else if (value.type === "thinking") {
    writer.thought(key, {
      text: Members.textIn(value.thinking) ?? "",
      signature: Members.textIn(value.signature) ?? "",
    });
  }
}

/** An event with a piece of a text, or of a call's arguments, has nothing else. */
const TEXT_FORM: EventForm = { texts: [["delta", "text"]] };
const ARGUMENTS_FORM: EventForm = { texts: [["delta", "partial_json"]] };

function delta(event: JsonObject, blocks: Blocks, writer: ChunkWriter): void {
  const piece = isObject(event.delta) ? event.delta : {};
  if (typeof piece.text === "string") {
    writer.text(piece.text, TEXT_FORM);
    return;
  }
  const block = blocks.get(event.index);
  if (block === undefined) throw invalidReply("goes on with a block that never began");
  const key = String(event.index);
  if (typeof piece.partial_json === "string") {
    if (block.value.type === "tool_use")
      writer.callArguments(key, piece.partial_json, ARGUMENTS_FORM);
    else block.json += writer.keep(piece.partial_json);
  } else if (typeof piece.thinking === "string") writer.thought(key, { text: piece.thinking });
  else if (typeof piece.signature === "string") writer.thought(key, { signature: piece.signature });
  else if (isObject(piece.citation)) writer.delta({ citations: [piece.citation] });
}

function stop(event: JsonObject, blocks: Blocks, writer: ChunkWriter): void {
  const block = blocks.get(event.index);
  if (block === undefined) return;
  const { value, json } = block;
  const key = String(event.index);
  // A compatible server may send the whole input with the beginning of the block.
  if (value.type === "tool_use") writer.callEnd(key, JSON.stringify(value.input ?? {}));
  else if (value.type === "thinking") writer.thoughtEnd(key);
  else if (value.type === "redacted_thinking") writer.thinkingBlock(value);
  else if (value.type !== "text") {
    const input = Members.parseExact(json);
    writer.delta({ provider_blocks: [input === undefined ? value : { ...value, input }] });
  }
}

/** The gateway's error of a reply whose status is not 2xx. */
export function readError(reply: ErrorReply): GatewayError {
  return readFailure(reply, (body) => failureOf(isObject(body.error) ? body.error : body));
}

/** The error of a 200 or of a stream. */
function embeddedError(error: JsonObject): GatewayError {
  return upstreamError({ ...failureOf(error), words: Failures.wordsOf(error) });
}

function failureOf({ type, message }: JsonObject): Pick<UpstreamFailure, "message" | "failure"> {
  const said = Members.textIn(message);
  if (type === "invalid_request_error" || type === "request_too_large") {
    // The operator's account, not the client's request.
    if (said !== undefined && /credit balance is too low/i.test(said))
      return { message: said, failure: "auth" };
    return { message: said, failure: Failures.refusalOf(said) ?? "bad_request" };
  }
  return { message: said, failure: typeof type === "string" ? FAILURES[type] : undefined };
}
