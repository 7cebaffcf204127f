/** Cohere's chat, version 2. */

import {
  type Api,
  eventText,
  hasStreamMember,
  piecesOf,
  type Said,
  type SaidCall,
  type SaidStop,
  SSE,
  stopOf,
  usageOf,
} from "./said.ts";

const STOPS: Readonly<Record<SaidStop, string>> = {
  end: "COMPLETE",
  length: "MAX_TOKENS",
  filter: "ERROR_TOXIC",
  sequence: "STOP_SEQUENCE",
  calls: "TOOL_CALL",
};

const callOf = ({ id, name, input }: SaidCall) => ({
  id,
  type: "function",
  function: { name, arguments: JSON.stringify(input) },
});

function usageMembers(said: Said): object {
  const { input, output, cached } = usageOf(said);
  const tokens = { input_tokens: input, output_tokens: output };
  return {
    billed_units: tokens,
    tokens,
    ...(cached === undefined ? {} : { cached_tokens: cached }),
  };
}

export const COHERE: Api = {
  type: SSE,
  isStreamed: hasStreamMember,
  whole(said) {
    const { thought, text, calls = [] } = said;
    const content = [
      ...(thought === undefined ? [] : [{ type: "thinking", thinking: thought }]),
      ...(text === undefined ? [] : [{ type: "text", text }]),
    ];
    const message = {
      role: "assistant",
      ...(content.length === 0 ? {} : { content }),
      ...(calls.length === 0 ? {} : { tool_calls: calls.map(callOf) }),
    };
    return { id: "c1", message, finish_reason: STOPS[stopOf(said)], usage: usageMembers(said) };
  },
  events(said) {
    const { thought, text, calls = [] } = said;
    const contents = [
      ...(thought === undefined ? [] : [["thinking", thought] as const]),
      ...(text === undefined ? [] : [["text", text] as const]),
    ];
    const begun = { role: "assistant", content: [], tool_plan: "", tool_calls: [], citations: [] };
    return [
      event("message-start", { id: "c1", delta: { message: begun } }),
      ...contents.flatMap(([type, whole], index) => [
        event("content-start", { index, delta: { message: { content: { type, [type]: "" } } } }),
        ...piecesOf(whole, said).map((piece) =>
          event("content-delta", { index, delta: { message: { content: { [type]: piece } } } }),
        ),
        event("content-end", { index }),
      ]),
      ...calls.flatMap((call, index) => callEvents(call, index, said)),
      event("message-end", {
        delta: { finish_reason: STOPS[stopOf(said)], usage: usageMembers(said) },
      }),
    ];
  },
};

function callEvents(call: SaidCall, index: number, said: Said): readonly string[] {
  const { function: named, ...rest } = callOf(call);
  const opened = { ...rest, function: { ...named, arguments: "" } };
  return [
    event("tool-call-start", { index, delta: { message: { tool_calls: opened } } }),
    ...piecesOf(named.arguments, said).map((piece) =>
      event("tool-call-delta", {
        index,
        delta: { message: { tool_calls: { function: { arguments: piece } } } },
      }),
    ),
    event("tool-call-end", { index }),
  ];
}

function event(type: string, members: object): string {
  return eventText({ type, ...members }, type);
}
