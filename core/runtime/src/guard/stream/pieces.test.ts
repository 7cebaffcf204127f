import { describe, expect, it } from "vitest";
import type { Frame, Guardrail, JsonObject, JsonValue } from "@sluice/contract";
import { chunkFrame, rawFrame } from "@sluice/kit/internals";
import {
  blocking,
  guardrailSetOf,
  instanceOf,
  masking,
  streamOf,
} from "@sluice/testing/guardrail-instances";
import { guardFrames } from "./guard-frames.ts";
import { nativeStream } from "./native.ts";

async function* from(events: readonly JsonObject[]): AsyncGenerator<Frame, void, undefined> {
  for (const event of events) yield rawFrame(JSON.stringify(event));
}

/** The events that a client gets, and the code of the error that ended them. */
async function guarded(
  guardrail: Guardrail,
  events: readonly JsonObject[],
): Promise<{ readonly out: JsonObject[]; readonly code: unknown }> {
  const { set } = guardrailSetOf([instanceOf("g", guardrail)]);
  const options = streamOf(set, { dialect: nativeStream, frameOf: chunkFrame, maxHeld: 1_000_000 });
  const out: JsonObject[] = [];
  try {
    for await (const frame of guardFrames(from(events), options, () => undefined))
      out.push(frame.chunk());
    return { out, code: undefined };
  } catch (error) {
    return { out, code: (error as { readonly code?: unknown }).code };
  }
}

const BLOCK = blocking(/forbidden/, 9);
const MASK = masking(/forbidden/g, 9, "***");

const choice = (more: JsonObject, index = 0): JsonObject => ({
  index,
  delta: {},
  finish_reason: null,
  ...more,
});
const chunk = (...choices: readonly JsonObject[]): JsonObject => ({
  id: "c",
  object: "chat.completion.chunk",
  choices,
});
const delta = (more: JsonObject): JsonObject => chunk(choice({ delta: more }));
const gemini = (...parts: readonly JsonObject[]): JsonObject => ({
  candidates: [{ index: 0, content: { role: "model", parts } }],
});
const call = (more: JsonObject, at: JsonObject = { index: 0 }): JsonObject => ({ ...at, ...more });

/** Every block or part of the events, in their order. */
function blocksOf(events: readonly JsonObject[]): JsonValue[] {
  const blocks: JsonValue[] = [];
  JSON.stringify(events, (name, value: JsonValue) => {
    if ((name === "content" || name === "parts") && Array.isArray(value)) blocks.push(...value);
    return value;
  });
  return blocks;
}

const text = (said: string): JsonObject => ({ type: "text", text: said });
const image = (id: number): JsonObject => ({ type: "image_url", image_url: { detail: `${id}` } });

/** Lists of one to three texts with the word at each place, without and with images between. */
const LISTS: readonly (readonly JsonObject[])[] = [1, 2, 3].flatMap((length) =>
  Array.from({ length }, (_, place) => place).flatMap((place) => {
    const texts = Array.from({ length }, (_, at) => text(at === place ? " forbidden " : ` ${at} `));
    const mixed = texts.flatMap((one, at) => [image(at), one]);
    return [texts, mixed, [...mixed, image(length)]];
  }),
);

const without = (list: readonly JsonObject[]): JsonObject[] =>
  JSON.parse(JSON.stringify(list).replaceAll("forbidden", "allowed")) as JsonObject[];

describe.each<readonly [string, (list: readonly JsonObject[]) => JsonObject]>([
  ["a chunk", (list) => delta({ role: "assistant", content: [...list] })],
  ["an event of Gemini", (list) => gemini(...list)],
])("a list of blocks in %s", (_what, event) => {
  it.each(LISTS)("has each of its texts judged, and no block twice: %#", async (...list) => {
    const blocked = await guarded(BLOCK, [event(list)]);
    expect(blocked.code).toBe("guardrail_violation");
    expect(JSON.stringify(blocked.out)).not.toContain("forbidden");
    const masked = await guarded(MASK, [event(list)]);
    expect(blocksOf(masked.out)).toEqual(
      JSON.parse(JSON.stringify(list).replaceAll("forbidden", "***")),
    );
    const passed = await guarded(BLOCK, [event(without(list))]);
    expect([blocksOf(passed.out), passed.code]).toEqual([without(list), undefined]);
  });

  it("is judged across its blocks", async () => {
    const list = [text("for"), image(0), text("bid"), text("den")];
    const { out, code } = await guarded(BLOCK, [event(list)]);
    expect([out, code]).toEqual([[], "guardrail_violation"]);
  });

  it("is judged up to its bound", async () => {
    const list = Array.from({ length: 2_000 }, () => text("a"));
    const { out } = await guarded(BLOCK, [event(list)]);
    expect(blocksOf(out)).toEqual(list);
  });
});

/** Events with two texts, each with the text that a place has. */
const PAIRS: readonly (readonly [string, (one: string, two: string) => JsonObject])[] = [
  ["a content and a thought", (a, b) => delta({ content: a, reasoning: b })],
  [
    "a content and the text of a completion",
    (a, b) => chunk(choice({ text: b, delta: { content: a } })),
  ],
  ["a content and a transcript", (a, b) => delta({ content: a, audio: { transcript: b } })],
  ["a content and a function", (a, b) => delta({ content: a, function_call: { arguments: b } })],
  [
    "the two inputs of a call",
    (a, b) => delta({ tool_calls: [call({ function: { arguments: a }, custom: { input: b } })] }),
  ],
  [
    "two calls",
    (a, b) =>
      delta({
        tool_calls: [
          call({ id: "a", function: { name: "f", arguments: a } }),
          call({ id: "b", function: { name: "g", arguments: b } }, { index: 1 }),
        ],
      }),
  ],
  ["a block that thinks", (a, b) => delta({ content: [{ type: "x", text: a, thinking: b }] })],
  [
    "thoughts in a block",
    (a, b) => delta({ content: [{ type: "thinking", thinking: [text(a), text(b)] }] }),
  ],
  [
    "two choices",
    (a, b) => chunk(choice({ delta: { content: a } }), choice({ delta: { content: b } }, 1)),
  ],
  ["a thought of Gemini", (a, b) => gemini({ text: a, thought: true }, { text: b })],
  [
    "two candidates",
    (a, b) => ({
      candidates: [a, b].map((said, index) => ({ index, content: { parts: [{ text: said }] } })),
    }),
  ],
  [
    "a block of Anthropic",
    (a, b) => ({
      type: "content_block_start",
      index: 0,
      content_block: { type: "thinking", text: a, thinking: b },
    }),
  ],
  [
    "a message of Cohere",
    (a, b) => ({
      type: "content-delta",
      index: 0,
      delta: { message: { tool_plan: a, content: { type: "text", text: b } } },
    }),
  ],
];

/** The strings of events with a mark of this test, in their order. */
const marked = (events: readonly JsonObject[]): string[] =>
  [...JSON.stringify(events).matchAll(/"(<[^"]*>)"/g)].map(([, said]) => said!).toSorted();

describe.each(PAIRS)("%s in one event", (_what, event) => {
  it("are judged each, and are there once", async () => {
    for (const [one, two] of [
      ["<forbidden>", "<b>"],
      ["<a>", "<forbidden>"],
    ] as const) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other.
      const blocked = await guarded(BLOCK, [event(one, two)]);
      expect(blocked.code).toBe("guardrail_violation");
      expect(JSON.stringify(blocked.out)).not.toContain("forbidden");
      // oxlint-disable-next-line no-await-in-loop -- as above.
      const masked = await guarded(MASK, [event(one, two)]);
      expect(marked(masked.out)).toEqual(
        [one, two].map((word) => word.replace("forbidden", "***")).toSorted(),
      );
    }
    const { out } = await guarded(BLOCK, [event("<a>", "<b>")]);
    expect(marked(out)).toEqual(["<a>", "<b>"]);
    expect(out).toHaveLength(2);
  });
});

describe("the other members of an event with several texts", () => {
  it("are in one part of a chunk", async () => {
    const event: JsonObject = {
      ...chunk(
        choice({
          delta: { role: "assistant", content: [text("a"), text("b"), text("c")] },
          finish_reason: "stop",
        }),
        choice({ finish_reason: "length" }, 1),
      ),
      usage: { total_tokens: 1 },
    };
    const part = (...choices: readonly JsonObject[]): JsonObject => chunk(...choices);
    expect((await guarded(BLOCK, [event])).out).toEqual([
      part(choice({ delta: { role: "assistant", content: [text("a")] } })),
      part(choice({ delta: { content: [text("b")] } })),
      part(choice({ delta: { content: [text("c")] }, finish_reason: "stop" })),
      { ...part(choice({ finish_reason: "length" }, 1)), usage: { total_tokens: 1 } },
    ]);
  });

  it("are in one part of an event of Gemini", async () => {
    const called: JsonObject = { functionCall: { name: "f", args: {} } };
    const event: JsonObject = {
      candidates: [
        {
          content: { role: "model", parts: [{ text: "a" }, called, { text: "b" }] },
          finishReason: "STOP",
          index: 0,
        },
      ],
      usageMetadata: { totalTokenCount: 1 },
      modelVersion: "g",
    };
    expect((await guarded(BLOCK, [event])).out).toEqual([
      { ...gemini({ text: "a" }, called), modelVersion: "g" },
      {
        candidates: [
          { content: { role: "model", parts: [{ text: "b" }] }, finishReason: "STOP", index: 0 },
        ],
        usageMetadata: { totalTokenCount: 1 },
        modelVersion: "g",
      },
    ]);
  });

  it("do not reveal a masked text", async () => {
    const logprobs = { content: [{ token: "forbidden" }, { token: "fine" }] };
    const content = [text("forbidden"), text("fine")];
    const { out } = await guarded(MASK, [chunk(choice({ delta: { content }, logprobs }))]);
    expect(blocksOf(out)).toEqual([text("***"), text("fine")]);
    expect(JSON.stringify(out)).not.toContain("forbidden");
  });
});

describe("texts of one event in different channels", () => {
  it("stay in them where a call has no index", async () => {
    const calls = (...inputs: readonly string[]): JsonObject =>
      delta({ tool_calls: inputs.map((input) => ({ custom: { input } })) });
    const { out, code } = await guarded(BLOCK, [calls("a", "forb"), calls("b", "idden")]);
    expect(code).toBe("guardrail_violation");
    expect(JSON.stringify(out)).not.toContain("idden");
  });

  it("reach the client in them where a call has no index", async () => {
    const calls = ["a", "b", "c"].map((input) => ({ custom: { input } }));
    const { out } = await guarded(BLOCK, [delta({ tool_calls: calls })]);
    expect(out).toEqual(calls.map((one, index) => delta({ tool_calls: [{ index, ...one }] })));
  });

  it("are judged in many choices", async () => {
    const choices = Array.from({ length: 2_000 }, (_, index) =>
      choice({ delta: { content: "a" } }, index),
    );
    const { out } = await guarded(BLOCK, [chunk(...choices)]);
    expect(out).toEqual(choices.map((one) => chunk(one)));
  });
});

describe("texts of one event that are edited at once", () => {
  it("are edited when there are many", async () => {
    const calls = Array.from({ length: 1_000 }, () => ({
      functionCall: { name: "f", args: { q: "forbidden" } },
    }));
    const { out } = await guarded(MASK, [gemini(...calls)]);
    expect(JSON.stringify(out)).toBe(
      JSON.stringify([gemini(...calls)]).replaceAll("forbidden", "***"),
    );
  });
});
