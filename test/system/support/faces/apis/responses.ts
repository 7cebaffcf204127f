/** OpenAI's responses: of OpenAI itself and of Azure. */

import {
  type Api,
  eventText,
  hasStreamMember,
  piecesOf,
  type Said,
  signatureOf,
  SSE,
  stopOf,
  usageOf,
} from "./said.ts";

const ID = "0123456789abcdef0123456789abcdef0123456789abcdef";

/** A response without its output. */
function headOf(said: Said): object {
  const stop = stopOf(said);
  const reasons: Readonly<Record<string, string>> = {
    length: "max_output_tokens",
    filter: "content_filter",
  };
  const reason = reasons[stop];
  return {
    id: `resp_${ID}`,
    object: "response",
    created_at: 1_767_225_600,
    status: reason === undefined ? "completed" : "incomplete",
    background: false,
    error: null,
    incomplete_details: reason === undefined ? null : { reason },
    instructions: null,
    metadata: {},
    model: "scripted",
    output: [],
    parallel_tool_calls: true,
    previous_response_id: null,
    store: false,
    temperature: 1,
    text: { format: { type: "text" } },
    tool_choice: "auto",
    tools: [],
    top_p: 1,
    usage: usageMembers(said),
  };
}

function usageMembers(said: Said): object {
  const { input, output, cached = 0, written = 0, reasoning = 0 } = usageOf(said);
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}

/** An event without its number. */
type Event = Readonly<Record<string, unknown>> & { readonly type: string };

/** An item at its end, as it begins, and the events between. */
interface Item {
  readonly done: { readonly id: string };
  readonly begun: object;
  readonly events: readonly Event[];
}

function itemsOf(said: Said): readonly Item[] {
  const { thought, text, calls = [] } = said;
  const items: Item[] = [];
  const at = (prefix: string) => ({
    id: `${prefix}_${ID}${items.length}`,
    place: { item_id: `${prefix}_${ID}${items.length}`, output_index: items.length },
  });
  if (thought !== undefined) items.push(reasoningItem(thought, said, at("rs")));
  if (text !== undefined) items.push(messageItem(text, said, at("msg")));
  for (const call of calls) {
    const { id, place } = at("fc");
    const type = "function_call";
    const given = JSON.stringify(call.input);
    const item = { id, type, call_id: call.id, name: call.name };
    items.push({
      done: { ...item, arguments: given, status: "completed" } as Item["done"],
      begun: { ...item, arguments: "", status: "in_progress" },
      events: [
        ...piecesOf(given, said).map((delta) => ({
          type: "response.function_call_arguments.delta",
          ...place,
          delta,
        })),
        {
          type: "response.function_call_arguments.done",
          ...place,
          name: call.name,
          arguments: given,
        },
      ],
    });
  }
  return items;
}

interface At {
  readonly id: string;
  readonly place: object;
}

function reasoningItem(thought: string, said: Said, { id, place }: At): Item {
  const at = { ...place, summary_index: 0 };
  const part = { type: "summary_text", text: thought };
  const item = { id, type: "reasoning", encrypted_content: signatureOf(said) };
  return {
    done: { ...item, summary: [part] } as Item["done"],
    begun: { ...item, summary: [] },
    events: [
      { type: "response.reasoning_summary_part.added", ...at, part: { ...part, text: "" } },
      ...piecesOf(thought, said).map((delta) => ({
        type: "response.reasoning_summary_text.delta",
        ...at,
        delta,
      })),
      { type: "response.reasoning_summary_text.done", ...at, text: thought },
      { type: "response.reasoning_summary_part.done", ...at, part },
    ],
  };
}

function messageItem(text: string, said: Said, { id, place }: At): Item {
  const at = { ...place, content_index: 0 };
  const pieces = piecesOf(text, said);
  const known = (tokens: readonly string[]): readonly object[] =>
    said.hasLogprobs === true
      ? tokens.map((token) => ({ token, bytes: [], logprob: -0.5, top_logprobs: [] }))
      : [];
  const part = { type: "output_text", text, annotations: [], logprobs: known(pieces) };
  const item = { id, type: "message", role: "assistant" };
  return {
    done: { ...item, status: "completed", content: [part] } as Item["done"],
    begun: { ...item, status: "in_progress", content: [] },
    events: [
      {
        type: "response.content_part.added",
        ...at,
        part: { ...part, text: "", logprobs: [] },
      },
      ...pieces.map((delta, index) => ({
        type: "response.output_text.delta",
        ...at,
        delta,
        logprobs: known([delta]),
        obfuscation: "x".repeat((index % 7) + 1),
      })),
      { type: "response.output_text.done", ...at, text, logprobs: known(pieces) },
      { type: "response.content_part.done", ...at, part },
    ],
  };
}

export const RESPONSES: Api = {
  type: SSE,
  isStreamed: hasStreamMember,
  whole: (said) => ({ ...headOf(said), output: itemsOf(said).map(({ done }) => done) }),
  events(said) {
    const head = headOf(said) as { readonly status: string };
    const items = itemsOf(said);
    const begun = { ...head, status: "in_progress", incomplete_details: null, usage: null };
    const output = items.map(({ done }) => done);
    return [
      { type: "response.created", response: begun },
      { type: "response.in_progress", response: begun },
      ...items.flatMap((item, index) => [
        { type: "response.output_item.added", output_index: index, item: item.begun },
        ...item.events,
        { type: "response.output_item.done", output_index: index, item: item.done },
      ]),
      { type: `response.${head.status}`, response: { ...head, output } },
    ].map(({ type, ...rest }, index) => eventText({ type, sequence_number: index, ...rest }, type));
  },
};
