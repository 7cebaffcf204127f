/**
 * Streams of the native lane, below the front door: whatever the grouping of the upstream's bytes,
 * the client gets every event as it came but for the name of the model, and the translation beside
 * it is the one of a stream that is not relayed.
 */

import { describe, expect, it } from "vitest";
import { FrameBatch, Relay } from "@sluice/kit/internals";
import { createFormedReader, StreamOutput } from "@sluice/runtime/internals";
import { fakeAttempt, fakeClock, makeProvider, requestOf } from "@sluice/testing";
import type { Provider, ProviderDefinition } from "@sluice/contract";
import anthropic from "@sluice/provider-anthropic";
import google from "@sluice/provider-google";
import openai from "@sluice/provider-openai";
import messagesFace from "@sluice/face-messages";
import responsesFace from "@sluice/face-responses";
import { gemini as geminiFace } from "@sluice/face-gemini";
import { fixturesOf } from "../support/fixtures.ts";
import { amount } from "../support/proof.ts";

const CLIENT_MODEL = "the client's ü";
const WORDS = Array.from({ length: 30 }, (_, index) => ` word${index}`);

const event = (type: string, rest: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
const text = (piece: string, index = 0): string =>
  event("content_block_delta", { index, delta: { type: "text_delta", text: piece } });

/** Events of next year in the middle of runs, names of models in texts, other ends of lines. */
const MESSAGES = [
  event("message_start", {
    message: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "claude-upstream",
      content: [],
      of_next_year: { model: "claude-upstream" },
      usage: { input_tokens: 3, output_tokens: 1 },
    },
  }),
  event("ping", {}),
  event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
  ...WORDS.map((word) => text(word)),
  text('"model":"claude-upstream"'),
  text("ä€😀"),
  event("of_next_year", { value: [1, { a: 2 }] }),
  ...WORDS.map((word) => text(word)),
  event("content_block_stop", { index: 0 }),
  event("content_block_start", {
    index: 1,
    content_block: { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} },
  }),
  event("content_block_delta", {
    index: 1,
    delta: { type: "input_json_delta", partial_json: '{"query":"a"}' },
  }),
  event("content_block_stop", { index: 1 }),
  event("message_delta", {
    delta: { stop_reason: "end_turn", stop_sequence: null, of_next_year: 1 },
    usage: { output_tokens: 70 },
  }),
].join("");
const STOP = event("message_stop", { of_next_year: true });

const geminiEvent = (piece: string, index: number, more: object = {}): string =>
  `data: ${JSON.stringify({
    candidates: [{ content: { parts: [{ text: piece }], role: "model" }, index: 0, ...more }],
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: index, totalTokenCount: index + 5 },
    modelVersion: "gemini-upstream",
    responseId: "r",
  })}\r\n\r\n`;
const GEMINI = [
  ...WORDS.map((word, index) => geminiEvent(word, index)),
  geminiEvent('"modelVersion":"gemini-upstream"', 31),
  geminiEvent("ä€😀", 32, { ofNextYear: 1 }),
  ...WORDS.map((word, index) => geminiEvent(word, index + 33)),
  `data: ${JSON.stringify({ ofNextYear: { modelVersion: "gemini-upstream" } })}\r\n\r\n`,
  geminiEvent("", 69, { ofNextYear: { finishReason: "STOP" } }),
  geminiEvent("", 70, { finishReason: "STOP" }),
].join("");

/** Numbers in each event, padding, an event of next year, an item of a server's tool. */
const RESPONSES = (() => {
  let number = 0;
  const next = (type: string, rest: object): string =>
    event(type, { sequence_number: number++, ...rest });
  const piece = (delta: string, index: number): string =>
    next("response.output_text.delta", {
      item_id: "msg_1",
      output_index: 2,
      content_index: 0,
      delta,
      logprobs: [],
      obfuscation: "x".repeat((index % 5) + 1),
    });
  const response = { id: "resp_1", object: "response", model: "gpt-upstream", of_next_year: 1 };
  const sealed = { id: "rs_1", type: "reasoning", summary: [], encrypted_content: "sealed" };
  const search = { id: "ws_1", type: "web_search_call", status: "completed", action: {} };
  const call = { id: "ctc_1", type: "custom_tool_call", call_id: "call_1", name: "patch" };
  const usage = { input_tokens: 3, output_tokens: 70, total_tokens: 73 };
  return [
    next("response.created", { response: { ...response, status: "in_progress", output: [] } }),
    next("response.output_item.added", { output_index: 0, item: sealed }),
    next("response.output_item.done", { output_index: 0, item: sealed }),
    next("response.output_item.added", { output_index: 1, item: search }),
    next("response.output_item.done", { output_index: 1, item: search }),
    next("response.output_item.added", { output_index: 2, item: { id: "msg_1", type: "message" } }),
    ...WORDS.map(piece),
    piece('"model":"gpt-upstream"', 3),
    piece("ä€😀", 4),
    next("response.of_next_year", { value: [1, { a: 2 }] }),
    ...WORDS.map(piece),
    next("response.output_item.done", { output_index: 2, item: { id: "msg_1", type: "message" } }),
    next("response.output_item.added", { output_index: 3, item: { ...call, input: "" } }),
    ...WORDS.map((delta) =>
      next("response.custom_tool_call_input.delta", { item_id: "ctc_1", output_index: 3, delta }),
    ),
    next("response.output_item.done", { output_index: 3, item: { ...call, input: "x" } }),
    next("response.completed", { response: { ...response, status: "completed", usage } }),
  ].join("");
})();

interface Case {
  readonly provider: Provider;
  readonly dialect: string;
  readonly replies: ConstructorParameters<typeof Relay>[0];
  readonly stream: string;
}

function caseOf(definition: unknown, face: unknown, stream: string): Case {
  const made = (face as { create(config: object, host: unknown): unknown }).create({}, {});
  const { dialect, nativeReplies } = made as {
    dialect: string;
    nativeReplies: { modelAt: string[][] };
  };
  return {
    provider: makeProvider(definition as ProviderDefinition<never>),
    dialect,
    replies: { ...nativeReplies, dialect, model: CLIENT_MODEL },
    stream,
  };
}

const [geminiProvider] = [google].flat();
const fixture = (path: string): string =>
  fixturesOf("provider-anthropic").text(path).replace(/\n*$/, "\n\n");
const CASES: Readonly<Record<string, Case>> = {
  messages: caseOf(anthropic, messagesFace, MESSAGES + STOP),
  "messages with CR LF": caseOf(
    anthropic,
    messagesFace,
    (MESSAGES + STOP).replaceAll("\n", "\r\n"),
  ),
  "server tools": caseOf(anthropic, messagesFace, fixture("server-tools/stream")),
  thinking: caseOf(anthropic, messagesFace, fixture("thinking/stream")),
  gemini: caseOf(geminiProvider, geminiFace, GEMINI),
  responses: caseOf(openai, responsesFace, RESPONSES),
};

interface Read {
  /** What the client gets: the events' names and data. */
  readonly relayed: readonly string[];
  /** Those of them that are held back until the reply has ended. */
  readonly last: readonly string[];
  /** The frames of the reference dialect. */
  readonly frames: readonly unknown[];
  readonly runs: number;
}

function read(
  { provider, dialect, replies }: Case,
  chunks: readonly Uint8Array[],
  relays = true,
): Read {
  const asked = requestOf(
    { model: CLIENT_MODEL, messages: [] },
    { provider: "p", model: "m", operation: "chat", stream: true },
  );
  const native = { dialect, document: asked.document, headers: {} };
  const request = { ...asked, native };
  const relay = relays ? new Relay(replies) : undefined;
  const translator = provider.stream(request);
  const output = new StreamOutput({
    translator,
    attempt: fakeAttempt(),
    replyId: "own",
    includeUsage: true,
    clock: fakeClock(),
    startedMs: 0,
    relay,
  });
  const reader = createFormedReader("text/event-stream", undefined, output)!;
  let wire = "";
  let end = "";
  let runs = 0;
  const frames: unknown[] = [];
  const take = (): void => {
    const batch = output.takeBatch();
    if (batch === undefined) return;
    expect(relays ? undefined : batch.relayed).toBeUndefined();
    wire += batch.relayed?.text ?? "";
    end += batch.relayed?.end ?? "";
    const ascii = batch.relayed?.isAscii === true ? batch.relayed.text : "";
    expect(ascii).toMatch(/^[\0-\x7f]*$/);
    runs += batch.items.filter((item) => "count" in item).length;
    // The text of runs is the same as that of their frames.
    expect(batch.text()).toBe(new FrameBatch(batch.frames).text());
    frames.push(...batch.frames.map((frame) => frame.chunk()));
  };
  for (const chunk of chunks) {
    reader.push(chunk);
    take();
  }
  reader.end();
  if (!output.isDone) {
    // As the reader of the transport does at the end of the body.
    translator.end?.(output);
    output.done();
  }
  take();
  return { relayed: eventsOf(wire + end), last: eventsOf(end), frames, runs };
}

function eventsOf(wire: string): string[] {
  return wire
    .replaceAll("\r\n", "\n")
    .split("\n\n")
    .filter((each) => each !== "");
}

/** The events of the stream with the client's name of the model where the dialect has it. */
function expected({ stream }: Case): string[] {
  return eventsOf(stream).map((each) => {
    const [head = "", data = ""] = each.split(/(?<=data: )/);
    const value = JSON.parse(data) as Record<string, unknown>;
    const message = (value.message ?? value.response) as Record<string, unknown> | undefined;
    const holder = message?.model === undefined ? value : message;
    for (const name of ["model", "modelVersion"])
      if (holder[name] !== undefined) holder[name] = CLIENT_MODEL;
    return head + JSON.stringify(value);
  });
}

function grouped(bytes: Buffer, sizes: (at: number) => number): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const size = sizes(at);
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return chunks;
}

/** A linear congruential generator: the same sizes in every run. */
function chance(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
}

describe.each(Object.entries(CASES))("a relayed stream: %s", (_name, one) => {
  const bytes = Buffer.from(one.stream);
  const wanted = expected(one);
  const alone = read(one, [bytes], false);

  it("is the upstream's, whole or byte by byte", () => {
    for (const size of [bytes.length, 1, 2, 3, 7, 64, 1_000]) {
      const { relayed, frames } = read(
        one,
        grouped(bytes, () => size),
      );
      expect(relayed).toEqual(wanted);
      expect(frames).toEqual(alone.frames);
    }
  });

  it("is the upstream's, cut at any byte", () => {
    for (let at = 1; at < bytes.length; at += amount(7, 1)) {
      const { relayed } = read(one, [bytes.subarray(0, at), bytes.subarray(at)]);
      expect(relayed.join("\n\n") === wanted.join("\n\n"), `cut at ${at}`).toBe(true);
    }
  });

  it("is the upstream's in chunks of any sizes", () => {
    for (let seed = 1; seed <= amount(30, 1_000); seed += 1) {
      const next = chance(seed);
      const chunks = grouped(bytes, () => 1 + Math.floor(next() * next() * 2_000));
      expect(read(one, chunks).relayed, `seed ${seed}`).toEqual(wanted);
    }
  });
});

it("holds back the last event of a dialect without an end mark alone", () => {
  const one = CASES.gemini!;
  expect(read(one, [Buffer.from(one.stream)]).last).toEqual(expected(one).slice(-1));
});

it("reads most of a long stream in runs", () => {
  for (const name of ["messages", "gemini", "responses"]) {
    const one = CASES[name]!;
    const { runs } = read(one, [Buffer.from(one.stream)]);
    expect(runs).toBeGreaterThan(0);
  }
});
