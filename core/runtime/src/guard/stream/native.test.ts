import { describe, expect, it } from "vitest";
import type { JsonObject } from "@sluice/contract";
import { nativeFrame, type NativeFrame } from "../../passthrough/events.ts";
import { guardFrames } from "./guard-frames.ts";
import {
  blocking,
  instanceOf,
  masking,
  guardrailSetOf,
  streamOf,
} from "@sluice/testing/guardrail-instances";
import { nativeStream } from "./native.ts";

const LEAD = "A harmless beginning that is long enough to be released. ";

async function* framesOf(
  events: readonly (JsonObject | string)[],
): AsyncGenerator<NativeFrame, void, undefined> {
  for (const event of events)
    yield nativeFrame(undefined, typeof event === "string" ? event : JSON.stringify(event));
}

/** What comes out, event by event, and the code of the error that ended it. */
async function guarded(
  events: readonly (JsonObject | string)[],
): Promise<{ readonly out: string[]; readonly code: unknown }> {
  const { set } = guardrailSetOf([
    instanceOf("block", blocking(/forbidden/, 9)),
    instanceOf("mask", masking(/maskme/g, 6, "***")),
  ]);
  const options = streamOf(set, {
    dialect: nativeStream,
    frameOf: (changed, original) =>
      nativeFrame((original as NativeFrame).event, JSON.stringify(changed)),
  });
  const out: string[] = [];
  try {
    for await (const frame of guardFrames(framesOf(events), options, () => undefined))
      out.push(frame.raw ?? "");
    return { out, code: undefined };
  } catch (error) {
    return { out, code: (error as { readonly code?: unknown }).code };
  }
}

const chat = (delta: JsonObject): JsonObject => ({
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta }],
});
const gemini = (...parts: JsonObject[]): JsonObject => ({
  candidates: [{ index: 0, content: { role: "model", parts } }],
});
const cohere = (type: string, message: JsonObject): JsonObject => ({
  type,
  index: 0,
  delta: { message },
});

/** How each dialect streams a text, piece by piece. */
const STREAMS: readonly [string, (text: string) => JsonObject, readonly (JsonObject | string)[]][] =
  [
    ["chat: content", (content) => chat({ content }), ["[DONE]"]],
    [
      "chat: blocks that think",
      (text) => chat({ content: [{ type: "thinking", thinking: [{ type: "text", text }] }] }),
      [],
    ],
    [
      "chat: a custom tool",
      (text) => chat({ tool_calls: [{ index: 1, type: "custom", custom: { input: text } }] }),
      [],
    ],
    [
      "responses: a text",
      (delta) => ({ type: "response.output_text.delta", item_id: "i", content_index: 0, delta }),
      [{ type: "response.output_text.done", item_id: "i", content_index: 0 }],
    ],
    [
      "anthropic: a text",
      (text) => ({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }),
      [{ type: "content_block_stop", index: 0 }, { type: "message_stop" }],
    ],
    [
      "gemini: a text",
      (text) => gemini({ text }),
      [{ candidates: [{ index: 0, finishReason: "STOP" }], usageMetadata: { totalTokenCount: 1 } }],
    ],
    [
      "gemini: a thought beside a text",
      (text) => gemini({ text, thought: true }, { text: "-" }),
      [],
    ],
    [
      "cohere: a text",
      (text) => cohere("content-delta", { content: { text } }),
      [
        { type: "content-end", index: 0 },
        { type: "message-end", delta: { finish_reason: "COMPLETE" } },
      ],
    ],
    ["cohere: a plan", (plan) => cohere("tool-plan-delta", { tool_plan: plan }), []],
    [
      "cohere: arguments",
      (text) => cohere("tool-call-delta", { tool_calls: { function: { arguments: text } } }),
      [],
    ],
  ];

/** Every text of the events that is one piece's, put together. */
function said(out: readonly string[]): string {
  const texts = [
    ...out
      .join("\n")
      .matchAll(/"(?:text|content|tool_plan|arguments|input|delta)":"((?:[^"\\]|\\.)*)"/g),
  ];
  return texts
    .map(([, text]) => text)
    .join("")
    .replaceAll("-", "");
}

describe.each(STREAMS)("%s", (_name, piece, end) => {
  const events = (text: string, size: number): (JsonObject | string)[] => [
    ...(text.match(new RegExp(`.{1,${size}}`, "gs")) ?? []).map(piece),
    ...end,
  ];

  it.each([1, 2, 4, 200])("never says a forbidden word in pieces of %i", async (size) => {
    const { out, code } = await guarded(events(`${LEAD}forbidden tail`, size));
    expect(code).toBe("guardrail_violation");
    expect(LEAD.startsWith(said(out))).toBe(true);
  });

  it.each([1, 3, 200])(
    "is masked in pieces of %i, and goes as it came where nothing is",
    async (size) => {
      expect(said((await guarded(events(`${LEAD}maskme and maskme.`, size))).out)).toBe(
        `${LEAD}*** and ***.`,
      );
      const { out, code } = await guarded(events(LEAD, size));
      expect([said(out), code]).toEqual([LEAD, undefined]);
    },
  );
});

describe("what a dialect does not know", () => {
  it.each<JsonObject>([
    chat({ content: "x", novel: [{ said: "forbidden" }] }),
    { choices: [{ index: 0, delta: { content: "x" }, message: { content: "forbidden" } }] },
    { choices: [{ index: 0, delta: {} }], search_results: [{ title: "forbidden" }] },
    { choices: [], citations: ["https://forbidden.example"] },
    chat({ reasoning_details: [{ type: "reasoning.text", text: "forbidden" }] }),
    chat({ tool_calls: [{ index: 0, custom: { name: "forbidden" } }] }),
    {
      type: "content_block_delta",
      index: 0,
      delta: { type: "citations_delta", citation: { cited_text: "forbidden" } },
    },
    {
      type: "content_block_start",
      index: 0,
      content_block: { type: "web_search_tool_result", content: [{ title: "forbidden" }] },
    },
    { type: "message_start", message: { content: [{ type: "text", text: "forbidden" }] } },
    { type: "error", error: { type: "overloaded_error", message: "forbidden" } },
    { type: "response.completed", response: { output: [{ content: [{ text: "forbidden" }] }] } },
    gemini({ executableCode: { language: "PYTHON", code: "forbidden" } }),
    gemini({ functionCall: { name: "f", args: { q: ["forbidden"] } } }),
    {
      candidates: [
        { content: { parts: [] }, groundingMetadata: { webSearchQueries: ["forbidden"] } },
      ],
    },
    cohere("citation-start", { citations: { text: "forbidden" } }),
    { error: { message: "forbidden" } },
  ])("is judged as it comes: %j", async (event) => {
    const { out, code } = await guarded([event]);
    expect([out, code]).toEqual([[], "guardrail_violation"]);
    const masked = JSON.parse(
      JSON.stringify(event).replaceAll("forbidden", "maskme"),
    ) as JsonObject;
    expect((await guarded([masked])).out.join("")).toBe(
      JSON.stringify(masked).replaceAll("maskme", "***"),
    );
  });

  it.each([
    [{ type: "novel.delta", said: "hello" }, "plugin_failed"],
    ['["hello"]', "upstream_invalid_response"],
    ["hello", "upstream_invalid_response"],
    ['"hello"', "upstream_invalid_response"],
  ])("does not pass when its type is unknown: %j", async (event, code) => {
    expect(await guarded([event])).toEqual({ out: [], code });
  });

  it("leaves the mark of the end at the end, without a reason to finish before it", async () => {
    const { out } = await guarded([chat({ content: "x" }), "[DONE]"]);
    expect(out).toEqual([JSON.stringify(chat({ content: "x" })), "[DONE]"]);
  });

  it("passes where it holds no text", async () => {
    const events = [
      { type: "ping" },
      { type: "novel.tick", count: 1 },
      { usageMetadata: { totalTokenCount: 2 } },
      "[DONE]",
    ];
    expect((await guarded(events)).out).toHaveLength(4);
  });
});

describe("log probabilities beside a masked text", () => {
  const tokens = [
    { token: "mask", logprob: -1 },
    { token: "me", logprob: -1 },
  ];
  const part = { type: "output_text", text: "a maskme b", logprobs: tokens };
  const item = { id: "i", type: "message", content: [part] };

  it.each<[string, JsonObject]>([
    [
      "Gemini",
      {
        candidates: [
          {
            index: 0,
            content: { role: "model", parts: [{ text: "a maskme b" }] },
            logprobsResult: { chosenCandidates: tokens },
          },
        ],
      },
    ],
    [
      "a delta of Responses",
      { type: "response.output_text.delta", item_id: "i", delta: "a maskme b", logprobs: tokens },
    ],
    ["a part of Responses", { type: "response.content_part.done", item_id: "i", part }],
    ["an item of Responses", { type: "response.output_item.done", item }],
    ["a response", { type: "response.completed", response: { id: "r", output: [item] } }],
  ])("of %s do not reach the client", async (_name, event) => {
    const { out, code } = await guarded([event]);
    expect(code).toBeUndefined();
    expect(out.join("")).toContain("***");
    expect(out.join("")).not.toContain('"token"');
  });
});
