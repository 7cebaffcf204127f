/** Bedrock's converse. */

import { eventFrame } from "@sluice/testing";
import {
  type Api,
  JSON_TYPE,
  piecesOf,
  type Said,
  type SaidStop,
  signatureOf,
  stopOf,
  usageOf,
} from "./said.ts";

const STOPS: Readonly<Record<SaidStop, string>> = {
  end: "end_turn",
  length: "max_tokens",
  filter: "content_filtered",
  sequence: "stop_sequence",
  calls: "tool_use",
};

export const BEDROCK: Api = {
  type: "application/vnd.amazon.eventstream",
  isStreamed: ({ url }) => url.endsWith("/converse-stream"),
  whole(said) {
    const { thought, text, calls = [] } = said;
    const signature = signatureOf(said);
    const content = [
      ...(thought === undefined
        ? []
        : [{ reasoningContent: { reasoningText: { text: thought, signature } } }]),
      ...(text === undefined ? [] : [{ text }]),
      ...calls.map(({ id, name, input }) => ({ toolUse: { toolUseId: id, name, input } })),
    ];
    const output = { message: { role: "assistant", content } };
    const stopReason = STOPS[stopOf(said)];
    return { output, stopReason, usage: usageMembers(said), metrics: { latencyMs: 1 } };
  },
  events(said) {
    return [
      frame("messageStart", { role: "assistant" }),
      ...blocksOf(said).flatMap(({ start, deltas }, contentBlockIndex) => [
        ...(start === undefined ? [] : [frame("contentBlockStart", { contentBlockIndex, start })]),
        ...deltas.map((delta) => frame("contentBlockDelta", { contentBlockIndex, delta })),
        frame("contentBlockStop", { contentBlockIndex }),
      ]),
      frame("messageStop", { stopReason: STOPS[stopOf(said)] }),
      frame("metadata", { usage: usageMembers(said), metrics: { latencyMs: 1 } }),
    ];
  },
};

interface Block {
  readonly start?: object;
  readonly deltas: readonly object[];
}

function blocksOf(said: Said): readonly Block[] {
  const { thought, text, calls = [] } = said;
  const blocks: Block[] = [];
  if (thought !== undefined) {
    const deltas = piecesOf(thought, said).map((piece) => ({ reasoningContent: { text: piece } }));
    blocks.push({ deltas: [...deltas, { reasoningContent: { signature: signatureOf(said) } }] });
  }
  if (text !== undefined)
    blocks.push({ deltas: piecesOf(text, said).map((piece) => ({ text: piece })) });
  for (const { id, name, input } of calls)
    blocks.push({
      start: { toolUse: { toolUseId: id, name } },
      deltas: piecesOf(JSON.stringify(input), said).map((piece) => ({ toolUse: { input: piece } })),
    });
  return blocks;
}

/** The tokens of the cache stand beside the others. */
function usageMembers(said: Said): object {
  const { input, output, cached, written } = usageOf(said);
  return {
    inputTokens: input - (cached ?? 0) - (written ?? 0),
    outputTokens: output,
    totalTokens: input + output,
    ...(cached === undefined ? {} : { cacheReadInputTokens: cached }),
    ...(written === undefined ? {} : { cacheWriteInputTokens: written }),
  };
}

function frame(type: string, payload: object): Buffer {
  const headers = { ":message-type": "event", ":event-type": type, ":content-type": JSON_TYPE };
  return eventFrame(headers, JSON.stringify(payload));
}
