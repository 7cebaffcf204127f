/** The wire forms in which the scripted model is asked and answers. */

import { eventFrame } from "@sluice/testing";
import { RESPONSES } from "../system/support/faces/apis/responses.ts";
import type { Said } from "../system/support/faces/apis/said.ts";
import { itemsOf, membersOf, type ModelAnswer, type ModelTurn } from "./script.ts";

/** A reply of the scripted upstream. */
export interface WireReply {
  readonly type: string;
  readonly body: string | Uint8Array;
}

/** One upstream API. */
export interface WireDialect {
  read(body: unknown, url: string): ModelTurn;
  write(answer: ModelAnswer, turn: ModelTurn): WireReply;
}

const JSON_TYPE = "application/json";
const SSE_TYPE = "text/event-stream";

/** Chat completions: OpenAI, Azure and compatible providers. */
const openai: WireDialect = {
  read(body) {
    const { tools, messages, stream } = membersOf(body);
    return {
      tools: itemsOf(tools).map((tool) => {
        const { name, parameters } = membersOf(tool.function);
        return { name: String(name), schema: parameters };
      }),
      results: itemsOf(messages).filter(({ role }) => role === "tool").length,
      isStreamed: stream === true,
      text: JSON.stringify(body),
    };
  },
  write(answer, { isStreamed }) {
    const head = { id: "chatcmpl-1", created: 1_767_225_600, model: "scripted" };
    const call =
      answer.kind === "call"
        ? [
            {
              index: 0,
              id: answer.id,
              type: "function",
              function: { name: answer.name, arguments: JSON.stringify(answer.input) },
            },
          ]
        : undefined;
    const said = answer.kind === "text" ? { content: answer.text } : { tool_calls: call };
    const finish = answer.kind === "text" ? "stop" : "tool_calls";
    const usage = { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 };
    if (!isStreamed) {
      const message = { role: "assistant", content: null, ...said };
      const choices = [{ index: 0, message, finish_reason: finish }];
      return json({ ...head, object: "chat.completion", choices, usage });
    }
    const chunk = (more: object): string =>
      event({ ...head, object: "chat.completion.chunk", ...more });
    const choice = (delta: object, finish_reason: string | null = null): object => ({
      choices: [{ index: 0, delta, finish_reason }],
    });
    return stream(
      chunk(choice({ role: "assistant", content: "" })) +
        chunk(choice(said)) +
        chunk(choice({}, finish)) +
        chunk({ choices: [], usage }) +
        "data: [DONE]\n\n",
    );
  },
};

/** Anthropic's messages. */
const anthropic: WireDialect = {
  read(body) {
    const { tools, messages, stream } = membersOf(body);
    const blocks = itemsOf(messages).flatMap(({ content }) => itemsOf(content));
    return {
      tools: itemsOf(tools).map(({ name, input_schema: schema }) => ({
        name: String(name),
        schema,
      })),
      results: blocks.filter(({ type }) => type === "tool_result").length,
      isStreamed: stream === true,
      text: JSON.stringify(body),
    };
  },
  write(answer, { isStreamed }) {
    const isText = answer.kind === "text";
    const block = isText
      ? { type: "text", text: answer.text }
      : { type: "tool_use", id: answer.id, name: answer.name, input: answer.input };
    const stop = isText ? "end_turn" : "tool_use";
    const usage = { input_tokens: 20, output_tokens: 5 };
    const head = { id: "msg_1", type: "message", role: "assistant", model: "scripted" };
    if (!isStreamed)
      return json({ ...head, content: [block], stop_reason: stop, stop_sequence: null, usage });
    const open = isText ? { type: "text", text: "" } : { ...block, input: {} };
    const delta = isText
      ? { type: "text_delta", text: answer.text }
      : { type: "input_json_delta", partial_json: JSON.stringify(answer.input) };
    const message = { ...head, content: [], stop_reason: null, stop_sequence: null, usage };
    return stream(
      [
        { type: "message_start", message },
        { type: "content_block_start", index: 0, content_block: open },
        { type: "content_block_delta", index: 0, delta },
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason: stop, stop_sequence: null }, usage },
        { type: "message_stop" },
      ]
        .map((each) => event(each, each.type))
        .join(""),
    );
  },
};

/** OpenAI's responses: the native lane of Codex. */
const responses: WireDialect = {
  read(body) {
    const { tools, input, stream } = membersOf(body);
    const items = itemsOf(input);
    const offered = [...itemsOf(tools), ...items.flatMap((item) => itemsOf(item.tools))];
    return {
      tools: offered.map(({ name, parameters }) => ({ name: String(name), schema: parameters })),
      results: items.filter(({ type }) => String(type).endsWith("_call_output")).length,
      isStreamed: stream === true,
      text: JSON.stringify(body),
    };
  },
  write(answer, { isStreamed }) {
    const { kind: _kind, ...said } = answer;
    const reply: Said = "text" in said ? said : { thought: "A command.", calls: [said] };
    return isStreamed ? stream(RESPONSES.events(reply).join("")) : json(RESPONSES.whole(reply));
  },
};

/** Gemini's generateContent. */
const gemini: WireDialect = {
  read(body, url) {
    const { tools, contents } = membersOf(body);
    const parts = itemsOf(contents).flatMap((content) => itemsOf(content.parts));
    return {
      tools: itemsOf(tools)
        .flatMap((tool) => itemsOf(tool.functionDeclarations))
        .map(({ name, parameters, parametersJsonSchema }) => ({
          name: String(name),
          schema: parametersJsonSchema ?? parameters,
        })),
      results: parts.filter(({ functionResponse }) => functionResponse !== undefined).length,
      isStreamed: url.includes(":streamGenerateContent"),
      text: JSON.stringify(body),
    };
  },
  write(answer, { isStreamed }) {
    const part =
      answer.kind === "text"
        ? { text: answer.text }
        : { functionCall: { name: answer.name, args: answer.input } };
    const reply = {
      candidates: [{ index: 0, content: { role: "model", parts: [part] }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 20, candidatesTokenCount: 5, totalTokenCount: 25 },
      modelVersion: "scripted",
      responseId: "r1",
    };
    return isStreamed ? stream(event(reply)) : json(reply);
  },
};

/** Bedrock's converse. */
const bedrock: WireDialect = {
  read(body, url) {
    const { toolConfig, messages } = membersOf(body);
    const blocks = itemsOf(messages).flatMap(({ content }) => itemsOf(content));
    return {
      tools: itemsOf(membersOf(toolConfig).tools).map((tool) => {
        const { name, inputSchema } = membersOf(tool.toolSpec);
        return { name: String(name), schema: membersOf(inputSchema).json };
      }),
      results: blocks.filter(({ toolResult }) => toolResult !== undefined).length,
      isStreamed: url.endsWith("/converse-stream"),
      text: JSON.stringify(body),
    };
  },
  write(answer, { isStreamed }) {
    const isText = answer.kind === "text";
    const stopReason = isText ? "end_turn" : "tool_use";
    const usage = { inputTokens: 20, outputTokens: 5, totalTokens: 25 };
    if (!isStreamed) {
      const block = isText
        ? { text: answer.text }
        : { toolUse: { toolUseId: answer.id, name: answer.name, input: answer.input } };
      const output = { message: { role: "assistant", content: [block] } };
      return json({ output, stopReason, usage, metrics: { latencyMs: 1 } });
    }
    const start = isText
      ? []
      : [
          frame("contentBlockStart", {
            contentBlockIndex: 0,
            start: { toolUse: { toolUseId: answer.id, name: answer.name } },
          }),
        ];
    const delta = isText
      ? { text: answer.text }
      : { toolUse: { input: JSON.stringify(answer.input) } };
    const frames = [
      frame("messageStart", { role: "assistant" }),
      ...start,
      frame("contentBlockDelta", { contentBlockIndex: 0, delta }),
      frame("contentBlockStop", { contentBlockIndex: 0 }),
      frame("messageStop", { stopReason }),
      frame("metadata", { usage, metrics: { latencyMs: 1 } }),
    ];
    return { type: "application/vnd.amazon.eventstream", body: Buffer.concat(frames) };
  },
};

/** The API of a request by its path. */
export function dialectOf(url: string): WireDialect {
  if (/\/v1\/messages/.test(url)) return anthropic;
  if (/:(?:stream)?[gG]enerateContent/.test(url)) return gemini;
  if (/\/converse(?:-stream)?$/.test(url)) return bedrock;
  return url.endsWith("/responses") ? responses : openai;
}

function json(body: object): WireReply {
  return { type: JSON_TYPE, body: JSON.stringify(body) };
}

function stream(body: string): WireReply {
  return { type: SSE_TYPE, body };
}

function event(data: object, name?: string): string {
  return `${name === undefined ? "" : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
}

function frame(type: string, payload: object): Buffer {
  const headers = {
    ":message-type": "event",
    ":event-type": type,
    ":content-type": "application/json",
  };
  return eventFrame(headers, JSON.stringify(payload));
}
