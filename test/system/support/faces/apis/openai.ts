/** Chat completions: of OpenAI, Azure and compatible providers, and of Mistral. */

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

const HEAD = { id: "chatcmpl-1", created: 1_767_225_600, model: "scripted" };
const STOPS: Readonly<Record<SaidStop, string>> = {
  end: "stop",
  length: "length",
  filter: "content_filter",
  sequence: "stop",
  calls: "tool_calls",
};

/** How a thought is said: the members of a message or a delta. */
type Thought = (thought: string) => object;

function chatApi(thoughtOf: Thought, contentOf: (said: Said) => unknown): Api {
  return {
    type: SSE,
    isStreamed: hasStreamMember,
    whole(said) {
      const { thought, calls = [] } = said;
      const message = {
        role: "assistant",
        ...(thought === undefined ? {} : thoughtOf(thought)),
        content: contentOf(said),
        ...(calls.length === 0 ? {} : { tool_calls: calls.map(callOf) }),
      };
      const choices = [{ index: 0, message, finish_reason: STOPS[stopOf(said)] }];
      return { ...HEAD, object: "chat.completion", choices, usage: usageMembers(said) };
    },
    events(said) {
      const { thought = "", text = "", calls = [] } = said;
      const chunk = (more: object): string =>
        eventText({ ...HEAD, object: "chat.completion.chunk", ...more });
      const delta = (members: object, finish: string | null = null): string =>
        chunk({ choices: [{ index: 0, delta: members, finish_reason: finish }] });
      return [
        delta({ role: "assistant", content: "" }),
        ...piecesOf(thought, said).map((piece) => delta(thoughtOf(piece))),
        ...piecesOf(text, said).map((content) => delta({ content })),
        ...calls.flatMap((call, index) => {
          const { function: named, ...rest } = callOf(call);
          return [
            delta({ tool_calls: [{ index, ...rest, function: { ...named, arguments: "" } }] }),
            ...piecesOf(named.arguments, said).map((piece) =>
              delta({ tool_calls: [{ index, function: { arguments: piece } }] }),
            ),
          ];
        }),
        delta({}, STOPS[stopOf(said)]),
        chunk({ choices: [], usage: usageMembers(said) }),
        "data: [DONE]\n\n",
      ];
    },
  };
}

const callOf = ({ id, name, input }: SaidCall) => ({
  id,
  type: "function",
  function: { name, arguments: JSON.stringify(input) },
});

function usageMembers(said: Said): object {
  const { input, output, cached, reasoning } = usageOf(said);
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    ...(cached === undefined ? {} : { prompt_tokens_details: { cached_tokens: cached } }),
    ...(reasoning === undefined
      ? {}
      : { completion_tokens_details: { reasoning_tokens: reasoning } }),
  };
}

/** Thoughts stand in a member of their own. */
export const OPENAI = chatApi(
  (reasoning_content) => ({ reasoning_content }),
  ({ text }) => text ?? null,
);

const thinking = (thought: string) => ({
  type: "thinking",
  thinking: [{ type: "text", text: thought }],
});

/** Thoughts are parts of the content. */
export const MISTRAL = chatApi(
  (thought) => ({ content: [thinking(thought)] }),
  ({ thought, text = "" }) =>
    thought === undefined
      ? text
      : [thinking(thought), ...(text === "" ? [] : [{ type: "text", text }])],
);
