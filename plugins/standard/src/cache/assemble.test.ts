import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Frame, JsonObject, StreamReply } from "@sluice/contract";
import { wholeAsStream } from "@sluice/runtime/transport";
import { assembleCompletion } from "./assemble.ts";

const texts = fc.string({ unit: "grapheme", maxLength: 40 });
const call = fc.record({
  id: fc.uuid(),
  type: fc.constant("function"),
  function: fc.record({ name: fc.constantFrom("look", "book"), arguments: texts }),
});
const logprob = fc.record({
  token: texts,
  logprob: fc.double({ max: 0, noNaN: true, noDefaultInfinity: true }),
  top_logprobs: fc.constant([]),
});
const message = fc
  .record({
    content: fc.option(texts),
    refusal: fc.option(texts),
    reasoning_content: fc.option(texts, { nil: undefined }),
    tool_calls: fc.option(fc.array(call, { minLength: 1, maxLength: 3 }), { nil: undefined }),
  })
  .map((fields) => JSON.parse(JSON.stringify({ role: "assistant", ...fields })) as JsonObject);
const choice = fc.record({
  message,
  logprobs: fc.option(
    fc.record({
      content: fc.array(logprob, { minLength: 1, maxLength: 4 }),
      refusal: fc.constant(null),
    }),
  ),
  finish_reason: fc.constantFrom("stop", "length", "tool_calls"),
});
const completions = fc
  .record({
    id: fc.constant("chatcmpl-1"),
    created: fc.nat(),
    model: fc.constant("m"),
    system_fingerprint: fc.option(fc.constant("fp")),
    choices: fc.array(choice, { minLength: 1, maxLength: 3 }),
    usage: fc.constant({ prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }),
  })
  .map(({ choices, ...names }): JsonObject => {
    const indexed = choices.map((each, index) => ({ index, ...each }));
    return JSON.parse(
      JSON.stringify({ ...names, object: "chat.completion", choices: indexed }),
    ) as JsonObject;
  });

async function chunksOf({ frames }: StreamReply): Promise<JsonObject[]> {
  const chunks: JsonObject[] = [];
  for await (const frame of frames as AsyncIterable<Frame>)
    chunks.push(JSON.parse(frame.raw ?? JSON.stringify(frame.chunk())) as JsonObject);
  return chunks;
}

interface WholeChoice {
  readonly index: number;
  readonly message: {
    readonly content: string | null;
    readonly tool_calls?: readonly {
      id: string;
      type: string;
      function: { name: string; arguments: string };
    }[];
  };
  readonly logprobs: { readonly content: readonly JsonObject[] } | null;
  readonly finish_reason: string;
}

/**
 * A completion as an upstream would stream it: a character or an argument at a time, the choices in
 * turn.
 */
function streamed(whole: JsonObject): JsonObject[] {
  const { choices, usage, ...names } = whole;
  const base = { ...names, object: "chat.completion.chunk" };
  const chunks: JsonObject[] = [];
  const say = (index: number, delta: JsonObject, rest: JsonObject = {}): void => {
    chunks.push({ ...base, choices: [{ index, delta, finish_reason: null, ...rest }] });
  };
  for (const {
    index,
    message: said,
    logprobs,
    finish_reason: reason,
  } of choices as unknown as WholeChoice[]) {
    const { tool_calls: calls = [], content, ...others } = said;
    say(index, {
      role: "assistant",
      ...others,
      content: content === null ? null : "",
    } as JsonObject);
    for (const piece of content ?? "") say(index, { content: piece });
    for (const piece of logprobs?.content ?? [])
      say(index, {}, { logprobs: { content: [piece], refusal: null } });
    for (const [at, { function: named, ...rest }] of calls.entries()) {
      say(index, {
        tool_calls: [{ index: at, ...rest, function: { name: named.name, arguments: "" } }],
      });
      for (const piece of named.arguments)
        say(index, { tool_calls: [{ index: at, function: { arguments: piece } }] });
    }
    say(index, {}, { finish_reason: reason });
  }
  return [...chunks, { ...base, choices: [], usage: usage ?? null }];
}

describe("a whole reply out of chunks", () => {
  it("is what was streamed", async () => {
    await fc.assert(
      fc.asyncProperty(completions, async (whole) => {
        expect(assembleCompletion(await chunksOf(wholeAsStream(whole, true)))).toEqual(whole);
      }),
    );
  });

  it("is what was streamed in pieces", () => {
    fc.assert(
      fc.property(completions, (whole) => {
        expect(assembleCompletion(streamed(whole))).toEqual(whole);
      }),
    );
  });

  it.each<[string, JsonObject[]]>([
    ["audio", [{ delta: { audio: { data: "AA" } } }, { delta: { audio: { data: "BB" } } }]],
    [
      "a filter's report that changes",
      [{ content_filter_results: { hate: 1 } }, { content_filter_results: { hate: 2 } }],
    ],
    ["a call without its place", [{ delta: { tool_calls: [{ id: "a" }] } }]],
    [
      "a call between two places",
      [
        { delta: { tool_calls: [{ index: 0, id: "a" }] } },
        { delta: { tool_calls: [{ index: 0.5 }] } },
      ],
    ],
    ["a text that is none", [{ delta: { content: ["a"] } }]],
  ])("is not made of %s", (_what, choices) => {
    expect(
      assembleCompletion(choices.map((each) => ({ choices: [{ index: 0, ...each }] }))),
    ).toBeUndefined();
  });
});
