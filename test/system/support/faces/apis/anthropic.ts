/** Anthropic's messages. */

import {
  type Api,
  eventText,
  hasStreamMember,
  piecesOf,
  type Said,
  type SaidStop,
  SEQUENCE,
  signatureOf,
  SSE,
  stopOf,
  usageOf,
} from "./said.ts";

const HEAD = { id: "msg_1", type: "message", role: "assistant", model: "scripted" };
const STOPS: Readonly<Record<SaidStop, string>> = {
  end: "end_turn",
  length: "max_tokens",
  filter: "refusal",
  sequence: "stop_sequence",
  calls: "tool_use",
};

const stopMembers = (said: Said) => {
  const stop = stopOf(said);
  return { stop_reason: STOPS[stop], stop_sequence: stop === "sequence" ? SEQUENCE : null };
};

/** The tokens of the prompt: those of the cache beside the others. */
function inputMembers(said: Said): object {
  const { input, cached, written } = usageOf(said);
  return {
    input_tokens: input - (cached ?? 0) - (written ?? 0),
    ...(cached === undefined ? {} : { cache_read_input_tokens: cached }),
    ...(written === undefined ? {} : { cache_creation_input_tokens: written }),
  };
}

export const ANTHROPIC: Api = {
  type: SSE,
  isStreamed: hasStreamMember,
  whole(said) {
    const { thought, text, calls = [] } = said;
    const content = [
      ...(thought === undefined
        ? []
        : [{ type: "thinking", thinking: thought, signature: signatureOf(said) }]),
      ...(text === undefined ? [] : [{ type: "text", text }]),
      ...calls.map((call) => ({ type: "tool_use", ...call })),
    ];
    const usage = { ...inputMembers(said), output_tokens: usageOf(said).output };
    return { ...HEAD, content, ...stopMembers(said), usage };
  },
  events(said) {
    const blocks = blocksOf(said);
    const begun = { stop_reason: null, stop_sequence: null };
    const usage = { ...inputMembers(said), output_tokens: 1 };
    return [
      { type: "message_start", message: { ...HEAD, content: [], ...begun, usage } },
      ...blocks.flatMap(({ open, deltas }, index) => [
        { type: "content_block_start", index, content_block: open },
        ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
        { type: "content_block_stop", index },
      ]),
      {
        type: "message_delta",
        delta: stopMembers(said),
        usage: { output_tokens: usageOf(said).output },
      },
      { type: "message_stop" },
    ].map((each) => eventText(each, each.type));
  },
};

interface Block {
  readonly open: object;
  readonly deltas: readonly object[];
}

function blocksOf(said: Said): readonly Block[] {
  const { thought, text, calls = [] } = said;
  const blocks: Block[] = [];
  if (thought !== undefined) {
    const pieces = piecesOf(thought, said).map((piece) => ({
      type: "thinking_delta",
      thinking: piece,
    }));
    blocks.push({
      open: { type: "thinking", thinking: "", signature: "" },
      deltas: [...pieces, { type: "signature_delta", signature: signatureOf(said) }],
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
  return blocks;
}
