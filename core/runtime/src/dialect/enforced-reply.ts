/**
 * Replies that must keep a rule that the upstream does not support: only one call, or one JSON
 * object as the text.
 */

import {
  type DecodedReply,
  type Frame,
  type FrameRole,
  GatewayError,
  type JsonObject,
  type JsonValue,
  type Provider,
  type StreamSink,
  type StreamTranslator,
} from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { chunkFrame } from "@sluice/kit/internals";
import { Members } from "@sluice/kit/dialect";
import { JsonObjectText } from "./json-object-text.ts";

/** The rules for a reply. */
export interface ReplyRules {
  /** Calls after the first are left out. */
  readonly firstCallOnly?: true;
  /**
   * The text is one JSON object: text around it is left out, and a reply without one is an error.
   */
  readonly jsonObject?: true;
}

/**
 * A provider whose chat replies keep the rules. Throws `upstream_invalid_response` for a text that
 * is not a JSON object.
 */
export function enforcedReplies(provider: Provider, rules: ReplyRules): Provider {
  const { decode, stream } = provider;
  return Object.create(provider, {
    decode: {
      value: (...[body, request, headers]: Parameters<Provider["decode"]>): DecodedReply =>
        enforceWhole(decode.call(provider, body, request, headers), rules),
    },
    stream: {
      value: (request: Parameters<Provider["stream"]>[0]): StreamTranslator =>
        enforceStream(stream.call(provider, request), rules),
    },
  }) as Provider;
}

function enforceWhole(reply: DecodedReply, rules: ReplyRules): DecodedReply {
  const choices = reply.document.value.choices;
  if (!Array.isArray(choices)) return reply;
  const kept = choices.map((choice: JsonValue) =>
    isObject(choice) ? enforceChoice(choice, rules) : choice,
  );
  if (kept.every((choice, index) => choice === choices[index])) return reply;
  return { ...reply, document: reply.document.with({ choices: kept }) };
}

function enforceChoice(choice: JsonObject, rules: ReplyRules): JsonObject {
  if (!isObject(choice.message)) return choice;
  let { message } = choice;
  const { tool_calls: calls, content } = message;
  if (rules.firstCallOnly === true && Array.isArray(calls) && calls.length > 1) {
    message = { ...message, tool_calls: calls.slice(0, 1) };
  }
  if (rules.jsonObject === true && typeof content === "string") {
    const text = new JsonObjectText();
    const kept = text.push(content);
    if (choice.finish_reason === "stop") checkWhole(text);
    if (kept !== content) message = { ...message, content: kept };
  }
  return message === choice.message ? choice : { ...choice, message };
}

function enforceStream(translator: StreamTranslator, rules: ReplyRules): StreamTranslator {
  const texts = new Map<JsonValue | undefined, JsonObjectText>();
  const through = (sink: StreamSink): StreamSink => ({
    get committed() {
      return sink.committed;
    },
    frame(frame, role) {
      const kept = enforceFrame(frame, role, rules, texts);
      if (kept !== undefined) sink.frame(kept, role);
    },
    usage: (usage) => sink.usage(usage),
    done: () => sink.done(),
  });
  const { end } = translator;
  return {
    event: (event, sink) => translator.event(event, through(sink)),
    ...(end === undefined
      ? {}
      : { end: (sink: StreamSink) => end.call(translator, through(sink)) }),
  };
}

/** A frame that follows the rules; `undefined` for one that becomes empty. */
function enforceFrame(
  frame: Frame,
  role: FrameRole,
  rules: ReplyRules,
  texts: Map<JsonValue | undefined, JsonObjectText>,
): Frame | undefined {
  const isOfCalls = rules.firstCallOnly === true && frame.raw?.includes('"tool_calls"') !== false;
  if (role === "usage" || (!isOfCalls && rules.jsonObject !== true)) return frame;
  const chunk = frame.chunk();
  const choices = Members.objectsOf(chunk.choices);
  const kept = choices.map((choice) => enforceDelta(choice, rules, texts));
  if (kept.every((choice, index) => choice === choices[index])) return frame;
  if (kept.every(saysNothing)) return undefined;
  return chunkFrame({ ...chunk, choices: kept });
}

function enforceDelta(
  choice: JsonObject,
  rules: ReplyRules,
  texts: Map<JsonValue | undefined, JsonObjectText>,
): JsonObject {
  const delta = isObject(choice.delta) ? choice.delta : {};
  let kept = delta;
  if (rules.firstCallOnly === true && Array.isArray(delta.tool_calls)) {
    const calls = Members.objectsOf(delta.tool_calls);
    const first = calls.filter(({ index }) => index === 0 || index === undefined);
    const { tool_calls: _calls, ...rest } = kept;
    if (first.length < calls.length)
      kept = first.length === 0 ? rest : { ...rest, tool_calls: first };
  }
  if (rules.jsonObject === true) {
    const text = texts.get(choice.index) ?? new JsonObjectText();
    texts.set(choice.index, text);
    if (typeof delta.content === "string" && delta.content !== "") {
      const { content: _content, ...rest } = kept;
      const said = text.push(delta.content);
      if (said !== delta.content) kept = said === "" ? rest : { ...rest, content: said };
    }
    if (choice.finish_reason === "stop") checkWhole(text);
  }
  return kept === delta ? choice : { ...choice, delta: kept };
}

function saysNothing({ delta, finish_reason: finish }: JsonObject): boolean {
  return (
    (finish === null || finish === undefined) && isObject(delta) && Object.keys(delta).length === 0
  );
}

function checkWhole(text: JsonObjectText): void {
  if (text.isObject()) return;
  throw new GatewayError(
    "upstream_invalid_response",
    "The request asks for one JSON object (response_format json_object), and the model's reply is not one.",
  );
}
