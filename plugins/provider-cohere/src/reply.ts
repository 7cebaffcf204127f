/**
 * Cohere's v2 chat as chat completions: whole, and as streams of events (its SDK 5.20,
 * `V2ChatResponse`, `V2ChatStreamResponse`).
 */

import { isObject } from "@sluice/kit";
import {
  chatReply,
  type ChunkWriter,
  createStreamTranslator,
  type FinishTable,
  invalidReply,
  Members,
  readJsonBody,
  readJsonEvent,
  tokenCount,
  type ToolNames,
  upstreamError,
  usageOf,
} from "@sluice/kit/dialect";
import type {
  DecodedReply,
  JsonObject,
  JsonValue,
  ProviderRequest,
  StreamTranslator,
  Usage,
} from "@sluice/contract";

const FINISH: FinishTable = {
  COMPLETE: "stop",
  STOP_SEQUENCE: "stop",
  MAX_TOKENS: "length",
  ERROR_LIMIT: "length",
  TOOL_CALL: "tool_calls",
  ERROR_TOXIC: "content_filter",
};

/** The reply to a chat request. */
export function decodeChat(
  body: Uint8Array,
  request: ProviderRequest,
  names: ToolNames.NameMap,
): DecodedReply {
  const reply = readJsonBody(body);
  const { message } = reply;
  if (!isObject(message)) throw invalidReply("has no message");
  const nativeFinish = Members.textIn(reply.finish_reason);
  checkFinish(nativeFinish, undefined);
  const blocks = Members.readObjects(message.content);
  const citations = Members.readObjects(message.citations);
  const exact = new Members.ExactValues({ value: reply, bytes: body });
  const others = blocks
    .filter(({ type }) => type !== "text" && type !== "thinking")
    .map((block) => exact.of(block));
  return chatReply(request, {
    text: blocks
      .map((block) => (block.type === "text" ? (Members.textIn(block.text) ?? "") : ""))
      .join(""),
    // The plan of calls is a thought: the model's text before it acts.
    reasoning:
      (Members.textIn(message.tool_plan) ?? "") +
      blocks.map((block) => Members.textIn(block.thinking) ?? "").join(""),
    calls: Members.readObjects(message.tool_calls).map(({ id, function: called }) => {
      const { name, arguments: given } = isObject(called) ? called : {};
      return {
        id: String(id),
        name: names.toClient(String(name)),
        arguments: Members.textIn(given) ?? "",
      };
    }),
    nativeFinish,
    finishTable: FINISH,
    usage: readUsage(reply.usage),
    message: {
      ...(citations.length === 0 ? {} : { citations }),
      ...(others.length === 0 ? {} : { provider_blocks: others }),
    },
  });
}

/**
 * The usage. Its counts are `tokens`: the tokens that the model read and wrote, cached ones
 * included. Where the API bills other counts (`billed_units`), cost depends on those. Without
 * `tokens`, they are the counts.
 */
export function readUsage(value: JsonValue | undefined): Usage | undefined {
  if (!isObject(value)) return undefined;
  const units = isObject(value.billed_units) ? value.billed_units : {};
  const tokens = isObject(value.tokens) ? value.tokens : {};
  const billedPrompt = tokenCount(units.input_tokens);
  const billedCompletion = tokenCount(units.output_tokens);
  const promptTokens = tokenCount(tokens.input_tokens) ?? billedPrompt;
  const completionTokens = tokenCount(tokens.output_tokens) ?? billedCompletion;
  const cached = tokenCount(value.cached_tokens);
  const billed = {
    promptTokens: billedPrompt ?? promptTokens ?? 0,
    completionTokens: billedCompletion ?? completionTokens ?? 0,
  };
  return usageOf({
    promptTokens,
    completionTokens,
    cachedTokens:
      cached !== undefined && promptTokens !== undefined && cached <= promptTokens
        ? cached
        : undefined,
    billed:
      billed.promptTokens === promptTokens && billed.completionTokens === completionTokens
        ? undefined
        : billed,
  });
}

/** Ends that are failures. Throws. */
function checkFinish(native: string | undefined, said: string | undefined): void {
  if (native === "TIMEOUT") throw upstreamError({ failure: "timeout", message: said });
  if (native === "ERROR")
    throw upstreamError({
      failure: "server",
      message: said ?? "The upstream's model failed while it answered.",
    });
}

/** A translator of one stream of events. `names` is called once, when a tool call begins. */
export function translateStream(
  request: ProviderRequest,
  names: () => ToolNames.NameMap,
): StreamTranslator {
  return createStreamTranslator(request, (writer) => {
    let map: ToolNames.NameMap | undefined;
    return ({ data }) => {
      if (data === "[DONE]") return;
      const event = readJsonEvent(data);
      const delta = isObject(event.delta) ? event.delta : {};
      const message = isObject(delta.message) ? delta.message : {};
      const key = String(event.index);
      switch (event.type) {
        case "content-delta":
        case "content-start":
          writeContent(message.content, writer);
          break;
        case "tool-plan-delta":
          writer.reasoning(Members.textIn(message.tool_plan) ?? "");
          break;
        case "tool-call-start": {
          const call = isObject(message.tool_calls) ? message.tool_calls : {};
          const { name, arguments: given } = isObject(call.function) ? call.function : {};
          map ??= names();
          writer.callStart(key, { id: String(call.id), name: map.toClient(String(name)) });
          writer.callArguments(key, Members.textIn(given) ?? "");
          break;
        }
        case "tool-call-delta": {
          const call = isObject(message.tool_calls) ? message.tool_calls : {};
          const given = isObject(call.function)
            ? Members.textIn(call.function.arguments)
            : undefined;
          writer.callArguments(key, given ?? "");
          break;
        }
        case "tool-call-end":
          writer.callEnd(key);
          break;
        case "citation-start":
          if (isObject(message.citations)) writer.delta({ citations: [message.citations] });
          break;
        case "message-start":
          writer.begin();
          break;
        case "message-end":
          end(delta, writer);
          break;
        default:
          // `content-end`, `citation-end`, `debug`, and what the API may add; an error has no type
          // of its own.
          if (event.type === undefined)
            throw upstreamError({ failure: "server", message: Members.textIn(event.message) });
      }
    };
  });
}

function writeContent(content: JsonValue | undefined, writer: ChunkWriter): void {
  if (!isObject(content)) return;
  writer.reasoning(Members.textIn(content.thinking) ?? "");
  writer.text(Members.textIn(content.text) ?? "");
}

function end(delta: JsonObject, writer: ChunkWriter): void {
  const native = Members.textIn(delta.finish_reason);
  const said = Members.textIn(delta.error);
  checkFinish(native, said);
  if (said !== undefined) throw upstreamError({ failure: "server", message: said });
  writer.finish(native, FINISH);
  writer.usage(readUsage(delta.usage));
  writer.done();
}
