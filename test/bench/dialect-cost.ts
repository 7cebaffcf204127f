/**
 * What a translated stream costs beside an untranslated one: the same words as events of the reference dialect and of Anthropic's,
 * through event reader, translator and writing, in this process. `node test/bench/dialect-cost.ts`
 */

import { createEventReader } from "../../core/kit/src/stream/events.ts";
import { makeProvider, REPLY_MODEL, requestOf } from "@sluice/testing";
import type { Frame, ProviderDefinition, StreamSink } from "@sluice/contract";
import anthropic from "@sluice/provider-anthropic";
import openai from "@sluice/provider-openai";

const EVENTS = 2_000;
const CHUNK_BYTES = 4_096;
const ROUNDS = 40;
const WARM_UP = 10;

const head = { id: "chatcmpl-123", object: "chat.completion.chunk", created: 1_767_225_600, model: "gpt-4o-mini-2024-07-18" };
const word = (index: number): string => ` word${index % 100}`;

function openaiStream(): string {
  const event = (delta: object, reason: string | null): string =>
    `data: ${JSON.stringify({ ...head, service_tier: "default", system_fingerprint: "fp_44709d6fcb", choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }] })}\n\n`;
  const words = Array.from({ length: EVENTS }, (_, index) => event({ content: word(index) }, null));
  return `${event({ role: "assistant", content: "" }, null)}${words.join("")}${event({}, "stop")}data: [DONE]\n\n`;
}

function anthropicStream(): string {
  const event = (type: string, rest: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
  const words = Array.from({ length: EVENTS }, (_, index) =>
    event("content_block_delta", { index: 0, delta: { type: "text_delta", text: word(index) } }),
  );
  return [
    event("message_start", { message: { role: "assistant", usage: { input_tokens: 5, output_tokens: 1 } } }),
    event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    ...words,
    event("content_block_stop", { index: 0 }),
    event("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: EVENTS } }),
    event("message_stop", {}),
  ].join("");
}

/** CPU microseconds of one pass over the stream. */
function pass(definition: ProviderDefinition<never>, bytes: Uint8Array): number {
  const provider = makeProvider(definition);
  const request = requestOf({ model: REPLY_MODEL, messages: [] }, { provider: "p", model: "m", operation: "chat", stream: true });
  let written = 0;
  const sink: StreamSink = {
    committed: true,
    // As the writer does: the text as it is, else the object as text; then bytes.
    frame: (frame: Frame) => void (written += Buffer.byteLength(`data: ${frame.raw ?? JSON.stringify(frame.chunk())}\n\n`)),
    usage: () => undefined,
    done: () => undefined,
  };
  const before = process.cpuUsage();
  const translator = provider.stream(request);
  const reader = createEventReader((event) => translator.event(event, sink));
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) reader.push(bytes.subarray(at, at + CHUNK_BYTES));
  reader.end();
  const { user, system } = process.cpuUsage(before);
  if (written < EVENTS) throw new Error("Nothing was written.");
  return user + system;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const subjects = [
  {
    name: "openai (untranslated)",
    definition: openai as ProviderDefinition<never>,
    bytes: Buffer.from(openaiStream()),
    times: [] as number[],
  },
  {
    name: "anthropic (translated)",
    definition: anthropic as ProviderDefinition<never>,
    bytes: Buffer.from(anthropicStream()),
    times: [] as number[],
  },
];
for (let round = 0; round < ROUNDS + WARM_UP; round++) {
  for (const { definition, bytes, times } of subjects) {
    const cpuUs = pass(definition, bytes);
    if (round >= WARM_UP) times.push(cpuUs);
  }
}
const perEvent = subjects.map(({ times }) => median(times) / EVENTS);
for (const [index, { name }] of subjects.entries())
  console.info(`${name}: ${(perEvent[index] ?? 0).toFixed(2)} µs of CPU per event`);
console.info(`ratio: ${((perEvent[1] ?? 0) / (perEvent[0] ?? 1)).toFixed(2)} (goal: at most 2)`);
