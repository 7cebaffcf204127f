/**
 * A scripted model behind four upstream APIs, distinguished by the path: chat completions,
 * Anthropic's messages, Gemini's generateContent, Bedrock's converse. It says the same in each of
 * them.
 */

import { setTimeout as pause } from "node:timers/promises";
import type { ServerResponse } from "node:http";
import { eventFrame } from "@sluice/testing";
import {
  createNativeUpstream,
  type NativeRequest,
  type NativeUpstream,
} from "../native-upstream.ts";

/** What the model says, in this order: thought, text, calls. */
export interface Said {
  readonly thought?: string;
  readonly text?: string;
  readonly calls?: readonly SaidCall[];
  /** Characters of a piece of a stream. Default: no text is split. */
  readonly piece?: number;
  /** Tokens of prompt and reply. Default: 20 and 5. */
  readonly usage?: readonly [number, number];
  /** A failure instead. */
  readonly failure?: SaidFailure;
  /** Events after which the connection is destroyed; a whole reply breaks in the middle. */
  readonly cutAfter?: number;
  /** The piece before which the connection is destroyed. */
  readonly cutBefore?: string;
  /** Events after which the stream goes silent until the gateway closes it. */
  readonly silentAfter?: number;
  /** The piece before which the stream goes silent until the gateway closes it. */
  readonly silentBefore?: string;
  /** No reply at all, until the gateway closes the connection. */
  readonly isSilent?: boolean;
  /** Milliseconds before the first byte. */
  readonly delayMs?: number;
  /** A pause of the stream after so many events. */
  readonly pausedAfter?: { readonly events: number; readonly until: Promise<void> };
}

/** A call of a tool. */
export interface SaidCall {
  readonly id: string;
  readonly name: string;
  readonly input: object;
}

/** A reply with an error status. */
export interface SaidFailure {
  readonly status: number;
  readonly message?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A running model. */
export interface ScriptedModel extends NativeUpstream {
  /** The replies from now on, in their order; the last one repeats. */
  says(...replies: readonly Said[]): void;
  /** Says by the request. */
  saysTo(reply: (request: NativeRequest) => Said): void;
  /** Streams that the gateway closed before their end. */
  readonly closed: number;
}

/** Starts a model on a free port. */
export async function createScriptedModel(): Promise<ScriptedModel> {
  const upstream = await createNativeUpstream();
  let choose: (request: NativeRequest) => Said = () => ({ text: "Hello back." });
  let closed = 0;
  upstream.answer((response, request) => {
    response.on("close", () => (closed += response.writableFinished ? 0 : 1));
    void answer(response, request, choose(request));
  });
  return {
    ...upstream,
    requests: upstream.requests,
    get closed() {
      return closed;
    },
    says(...replies) {
      let next = 0;
      choose = () => replies[Math.min(next++, replies.length - 1)] ?? {};
    },
    saysTo: (reply) => (choose = reply),
  };
}

const SSE = "text/event-stream";
const JSON_TYPE = "application/json";

async function answer(response: ServerResponse, request: NativeRequest, said: Said): Promise<void> {
  const { failure, delayMs } = said;
  if (said.isSilent === true) return;
  if (delayMs !== undefined) await pause(delayMs);
  if (failure !== undefined) {
    const { status, message = "It failed.", headers = {} } = failure;
    response
      .writeHead(status, { "content-type": JSON_TYPE, ...headers })
      .end(JSON.stringify({ error: { message, type: "x", code: "x" } }));
    return;
  }
  const api = apiOf(request);
  if (!api.isStreamed(request)) {
    const body = JSON.stringify(api.whole(said));
    response.writeHead(200, {
      "content-type": JSON_TYPE,
      "content-length": Buffer.byteLength(body),
    });
    if (said.cutAfter === undefined) response.end(body);
    else response.write(body.slice(0, body.length / 2), () => response.destroy());
    return;
  }
  response.writeHead(200, { "content-type": api.type });
  const events = api.events(said);
  const count = countOf(events, said);
  response.flushHeaders();
  for (const [index, event] of events.slice(0, count).entries()) {
    // oxlint-disable-next-line no-await-in-loop -- as below.
    if (index === said.pausedAfter?.events) await said.pausedAfter.until;
    response.write(event);
    // Each event in a packet of its own.
    // oxlint-disable-next-line no-await-in-loop -- one after the other is the point.
    await pause(1);
  }
  if (said.cutAfter !== undefined || said.cutBefore !== undefined) response.destroy();
  else if (said.silentAfter === undefined && said.silentBefore === undefined) response.end();
}

/** How many events are sent. */
function countOf(events: readonly (string | Buffer)[], said: Said): number {
  const { cutAfter = Infinity, silentAfter = Infinity } = said;
  const piece = said.cutBefore ?? said.silentBefore;
  const before = piece === undefined ? -1 : events.findIndex((each) => each.includes(piece));
  if (piece !== undefined && before < 0) throw new Error(`No event has the piece ${piece}.`);
  return Math.min(cutAfter, silentAfter, before < 0 ? Infinity : before, events.length);
}

interface Api {
  readonly type: string;
  isStreamed(request: NativeRequest): boolean;
  whole(said: Said): object;
  events(said: Said): readonly (string | Buffer)[];
}

function apiOf({ url }: NativeRequest): Api {
  if (url.includes("/v1/messages")) return ANTHROPIC;
  if (/:(?:stream)?[gG]enerateContent/.test(url)) return GEMINI;
  return /\/converse(?:-stream)?$/.test(url) ? BEDROCK : OPENAI;
}

/** A text in pieces. */
function piecesOf(text: string, { piece = text.length }: Said): readonly string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += piece) pieces.push(text.slice(at, at + piece));
  return pieces;
}

const event = (data: object, name?: string): string =>
  `${name === undefined ? "" : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
const streamMember = ({ body }: NativeRequest): boolean =>
  (JSON.parse(body.toString()) as { readonly stream?: boolean }).stream === true;

const OPENAI: Api = {
  type: SSE,
  isStreamed: streamMember,
  whole(said) {
    const { thought, text, calls = [] } = said;
    const message = {
      role: "assistant",
      content: text ?? null,
      ...(thought === undefined ? {} : { reasoning_content: thought }),
      ...(calls.length === 0 ? {} : { tool_calls: calls.map(openaiCall) }),
    };
    const choices = [
      { index: 0, message, finish_reason: calls.length > 0 ? "tool_calls" : "stop" },
    ];
    return { ...OPENAI_HEAD, object: "chat.completion", choices, usage: openaiUsage(said) };
  },
  events(said) {
    const { thought = "", text = "", calls = [] } = said;
    const chunk = (more: object): string =>
      event({ ...OPENAI_HEAD, object: "chat.completion.chunk", ...more });
    const delta = (members: object, finish: string | null = null): string =>
      chunk({ choices: [{ index: 0, delta: members, finish_reason: finish }] });
    return [
      delta({ role: "assistant", content: "" }),
      ...piecesOf(thought, said).map((reasoning_content) => delta({ reasoning_content })),
      ...piecesOf(text, said).map((content) => delta({ content })),
      ...calls.flatMap((call, index) => {
        const { function: named, ...rest } = openaiCall(call);
        return [
          delta({ tool_calls: [{ index, ...rest, function: { ...named, arguments: "" } }] }),
          ...piecesOf(named.arguments, said).map((piece) =>
            delta({ tool_calls: [{ index, function: { arguments: piece } }] }),
          ),
        ];
      }),
      delta({}, calls.length > 0 ? "tool_calls" : "stop"),
      chunk({ choices: [], usage: openaiUsage(said) }),
      "data: [DONE]\n\n",
    ];
  },
};

const OPENAI_HEAD = { id: "chatcmpl-1", created: 1_767_225_600, model: "scripted" };
const openaiCall = ({ id, name, input }: SaidCall) => ({
  id,
  type: "function",
  function: { name, arguments: JSON.stringify(input) },
});
function openaiUsage({ usage: [input, output] = [20, 5] }: Said): object {
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}

const ANTHROPIC: Api = {
  type: SSE,
  isStreamed: streamMember,
  whole(said) {
    const { thought, text, calls = [], usage: [input, output] = [20, 5] } = said;
    const content = [
      ...(thought === undefined
        ? []
        : [{ type: "thinking", thinking: thought, signature: SIGNED }]),
      ...(text === undefined ? [] : [{ type: "text", text }]),
      ...calls.map((call) => ({ type: "tool_use", ...call })),
    ];
    const stop = { stop_reason: calls.length > 0 ? "tool_use" : "end_turn", stop_sequence: null };
    const usage = { input_tokens: input, output_tokens: output };
    return { ...ANTHROPIC_HEAD, content, ...stop, usage };
  },
  events(said) {
    const { thought, text, calls = [], usage: [input, output] = [20, 5] } = said;
    const blocks: { readonly open: object; readonly deltas: readonly object[] }[] = [];
    if (thought !== undefined) {
      const pieces = piecesOf(thought, said).map((thinking) => ({
        type: "thinking_delta",
        thinking,
      }));
      blocks.push({
        open: { type: "thinking", thinking: "", signature: "" },
        deltas: [...pieces, { type: "signature_delta", signature: SIGNED }],
      });
    }
    if (text !== undefined) {
      const deltas = piecesOf(text, said).map((piece) => ({ type: "text_delta", text: piece }));
      blocks.push({ open: { type: "text", text: "" }, deltas });
    }
    for (const call of calls) {
      const deltas = piecesOf(JSON.stringify(call.input), said).map((partial_json) => ({
        type: "input_json_delta",
        partial_json,
      }));
      blocks.push({ open: { type: "tool_use", ...call, input: {} }, deltas });
    }
    const begun = { stop_reason: null, stop_sequence: null };
    const usage = { input_tokens: input, output_tokens: 1 };
    const stop_reason = calls.length > 0 ? "tool_use" : "end_turn";
    return [
      { type: "message_start", message: { ...ANTHROPIC_HEAD, content: [], ...begun, usage } },
      ...blocks.flatMap(({ open, deltas }, index) => [
        { type: "content_block_start", index, content_block: open },
        ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
        { type: "content_block_stop", index },
      ]),
      {
        type: "message_delta",
        delta: { stop_reason, stop_sequence: null },
        usage: { output_tokens: output },
      },
      { type: "message_stop" },
    ].map((each) => event(each, each.type));
  },
};

const ANTHROPIC_HEAD = { id: "msg_1", type: "message", role: "assistant", model: "scripted" };
/** A signature: base64 that no client and no gateway can read. */
const SIGNED = Buffer.from("a signature of the scripted model").toString("base64");

const GEMINI: Api = {
  type: SSE,
  isStreamed: ({ url }) => url.includes(":streamGenerateContent"),
  whole: (said) =>
    geminiReply(
      geminiParts(said, (text) => [text]),
      said,
    ),
  events(said) {
    const parts = geminiParts(said, (text) => piecesOf(text, said));
    return parts.map((part, index) => {
      const isLast = index === parts.length - 1;
      return event(geminiReply([part], said, isLast)).replaceAll("\n", "\r\n");
    });
  },
};

function geminiParts(
  { thought, text, calls = [] }: Said,
  split: (text: string) => readonly string[],
): readonly object[] {
  return [
    ...(thought === undefined ? [] : split(thought).map((each) => ({ text: each, thought: true }))),
    ...(text === undefined ? [] : split(text).map((each) => ({ text: each }))),
    ...calls.map(({ name, input }) => ({ functionCall: { name, args: input } })),
  ];
}

function geminiReply(parts: readonly object[], said: Said, isLast = true): object {
  const [input, output] = said.usage ?? [20, 5];
  const content = { role: "model", parts };
  return {
    candidates: [{ index: 0, content, ...(isLast ? { finishReason: "STOP" } : {}) }],
    usageMetadata: {
      promptTokenCount: input,
      candidatesTokenCount: output,
      totalTokenCount: input + output,
    },
    modelVersion: "scripted",
    responseId: "r1",
  };
}

const BEDROCK: Api = {
  type: "application/vnd.amazon.eventstream",
  isStreamed: ({ url }) => url.endsWith("/converse-stream"),
  whole(said) {
    const { thought, text, calls = [] } = said;
    const content = [
      ...(thought === undefined
        ? []
        : [{ reasoningContent: { reasoningText: { text: thought, signature: SIGNED } } }]),
      ...(text === undefined ? [] : [{ text }]),
      ...calls.map(({ id, name, input }) => ({ toolUse: { toolUseId: id, name, input } })),
    ];
    const stopReason = calls.length > 0 ? "tool_use" : "end_turn";
    const output = { message: { role: "assistant", content } };
    return { output, stopReason, usage: bedrockUsage(said), metrics: { latencyMs: 1 } };
  },
  events(said) {
    const { thought, text, calls = [] } = said;
    const blocks: { readonly start?: object; readonly deltas: readonly object[] }[] = [];
    if (thought !== undefined) {
      const deltas = piecesOf(thought, said).map((piece) => ({
        reasoningContent: { text: piece },
      }));
      blocks.push({ deltas: [...deltas, { reasoningContent: { signature: SIGNED } }] });
    }
    if (text !== undefined)
      blocks.push({ deltas: piecesOf(text, said).map((piece) => ({ text: piece })) });
    for (const { id, name, input } of calls)
      blocks.push({
        start: { toolUse: { toolUseId: id, name } },
        deltas: piecesOf(JSON.stringify(input), said).map((piece) => ({
          toolUse: { input: piece },
        })),
      });
    return [
      frame("messageStart", { role: "assistant" }),
      ...blocks.flatMap(({ start, deltas }, contentBlockIndex) => [
        ...(start === undefined ? [] : [frame("contentBlockStart", { contentBlockIndex, start })]),
        ...deltas.map((delta) => frame("contentBlockDelta", { contentBlockIndex, delta })),
        frame("contentBlockStop", { contentBlockIndex }),
      ]),
      frame("messageStop", { stopReason: calls.length > 0 ? "tool_use" : "end_turn" }),
      frame("metadata", { usage: bedrockUsage(said), metrics: { latencyMs: 1 } }),
    ];
  },
};

function bedrockUsage({ usage: [input, output] = [20, 5] }: Said): object {
  return { inputTokens: input, outputTokens: output, totalTokens: input + output };
}

function frame(type: string, payload: object): Buffer {
  const headers = { ":message-type": "event", ":event-type": type, ":content-type": JSON_TYPE };
  return eventFrame(headers, JSON.stringify(payload));
}
