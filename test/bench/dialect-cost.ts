/**
 * What a translated or relayed stream costs beside an untranslated one: the same words as events of
 * the reference dialect, of Anthropic's, of Gemini's and of OpenAI's responses, from the bytes that come to the text that
 * goes, in this process. `node test/bench/dialect-cost.ts`
 */

import { Relay, type RelayRules } from "@sluice/kit/internals";
import { createFormedReader, StreamOutput } from "@sluice/runtime/internals";
import { fakeAttempt, fakeClock, makeProvider, REPLY_MODEL, requestOf } from "@sluice/testing";
import type { Provider, ProviderDefinition } from "@sluice/contract";
import anthropic from "@sluice/provider-anthropic";
import google from "@sluice/provider-google";
import openai from "@sluice/provider-openai";
import { messagesStream } from "./load/upstream-messages.ts";
import { responsesStream } from "./load/upstream-responses.ts";
import { SNAPSHOT_MODEL, STREAM_EVENTS } from "./scenarios.ts";

const PASSES = 20;
const ROUNDS = 40;
const WARM_UP = 6;

const head = {
  id: "chatcmpl-123",
  object: "chat.completion.chunk",
  created: 1_767_225_600,
  model: SNAPSHOT_MODEL,
  service_tier: "default",
  system_fingerprint: "fp_44709d6fcb",
};
const word = (index: number): string => ` word${index}`;
const words = <T>(make: (index: number) => T): T[] =>
  Array.from({ length: STREAM_EVENTS }, (_, index) => make(index));

function openaiStream(): string[] {
  const event = (delta: object, reason: string | null): string =>
    `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }], usage: null })}\n\n`;
  return [
    event({ role: "assistant", content: "" }, null),
    ...words((index) => event({ content: word(index) }, null)),
    event({}, "stop"),
    "data: [DONE]\n\n",
  ];
}

function geminiStream(): string[] {
  return words((index) => {
    const finish = index === STREAM_EVENTS - 1 ? { finishReason: "STOP" } : {};
    const candidate = {
      content: { parts: [{ text: word(index) }], role: "model" },
      ...finish,
      index: 0,
    };
    const usageMetadata = {
      promptTokenCount: 5,
      candidatesTokenCount: index + 1,
      totalTokenCount: index + 6,
    };
    return `data: ${JSON.stringify({ candidates: [candidate], usageMetadata, modelVersion: "gemini", responseId: "r" })}\r\n\r\n`;
  });
}

/** CPU microseconds of one event, over several passes over the stream. */
function measure(
  provider: Provider,
  chunks: readonly Uint8Array[],
  mayRun: boolean,
  rules: RelayRules | undefined,
  isNative: boolean,
): number {
  const asked = requestOf(
    { model: REPLY_MODEL, messages: [] },
    { provider: "p", model: "m", operation: "chat", stream: true },
  );
  const native = { dialect: "own", document: asked.document, headers: {} };
  const request = isNative ? { ...asked, native } : asked;
  const before = process.cpuUsage();
  let written = 0;
  for (let pass = 0; pass < PASSES; pass++) {
    const options = {
      attempt: fakeAttempt(),
      replyId: "own",
      includeUsage: false,
      clock: fakeClock(),
      startedMs: 0,
      relay: rules === undefined ? undefined : new Relay(rules),
    };
    const output = new StreamOutput({ translator: provider.stream(request), ...options });
    output.mayRun = mayRun;
    const reader = createFormedReader("text/event-stream", undefined, output);
    for (const chunk of chunks) {
      reader?.push(chunk);
      const batch = output.takeBatch();
      written += Buffer.from(batch?.relayed?.text ?? batch?.text() ?? "").length;
    }
  }
  const { user, system } = process.cpuUsage(before);
  if (written < PASSES * STREAM_EVENTS * 10) throw new Error("Nothing was written.");
  return (user + system) / PASSES / STREAM_EVENTS;
}

function joined(events: readonly string[], chunks: number): Buffer[] {
  const size = Math.ceil(events.length / chunks);
  return Array.from({ length: chunks }, (_, at) =>
    Buffer.from(events.slice(at * size, (at + 1) * size).join("")),
  );
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const [gemini] = [google].flat();
const relayed = (...modelAt: readonly (readonly string[])[]): RelayRules => ({
  dialect: "own",
  model: REPLY_MODEL,
  modelAt,
});
const streams: readonly (readonly [string, unknown, readonly string[], RelayRules?])[] = [
  ["openai (untranslated)", openai, openaiStream()],
  ["anthropic", anthropic, messagesStream()],
  ["anthropic, relayed", anthropic, messagesStream(), relayed(["message", "model"], ["model"])],
  ["gemini", gemini, geminiStream()],
  ["gemini, relayed", gemini, geminiStream(), relayed(["modelVersion"])],
  ["responses", openai, responsesStream()],
  ["responses, relayed", openai, responsesStream(), relayed(["response", "model"], ["model"])],
];
const subjects = streams.flatMap(([name, definition, events, rules]) => {
  const provider = makeProvider(definition as ProviderDefinition<never>);
  return [4, events.length].flatMap((chunks) =>
    [true, false].map((mayRun) => ({
      name,
      provider,
      rules,
      isNative: name.startsWith("responses"),
      pieces: joined(events, chunks),
      chunks,
      mayRun,
      times: [] as number[],
    })),
  );
});
for (let round = 0; round < ROUNDS + WARM_UP; round++) {
  for (const { provider, pieces, mayRun, rules, isNative, times } of subjects) {
    const cpuUs = measure(provider, pieces, mayRun, rules, isNative);
    if (round >= WARM_UP) times.push(cpuUs);
  }
}
for (const [index, { name, chunks, mayRun, times }] of subjects.entries()) {
  const untranslated = subjects[index % 4]?.times ?? [];
  const figures = `${median(times).toFixed(2)} µs, ${(median(times) / median(untranslated)).toFixed(2)} of untranslated`;
  console.info(`${name}, ${chunks} chunks${mayRun ? "" : ", alone"}: ${figures}`);
}
