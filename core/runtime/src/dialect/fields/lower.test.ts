import type { JsonObject } from "@sluice/contract";
import { writtenDocument } from "@sluice/kit/internals";
import { describe, expect, it } from "vitest";
import { lowerExtensions } from "./lower-extensions.ts";
import { lowerThinking } from "./lower-thinking.ts";

const MARK = { cache_control: { type: "ephemeral" } };
const lowered = (body: JsonObject): JsonObject => lowerExtensions(writtenDocument(body)).value;

describe("extensions of the reference dialect at an upstream that has none", () => {
  it("lose markers and errors of tools", () => {
    const tool = { type: "function", function: { name: "f" } };
    const text = { type: "text", text: "x" };
    expect(
      lowered({
        tools: [{ ...tool, ...MARK }],
        messages: [
          { role: "user", content: [{ ...text, ...MARK }], ...MARK },
          { role: "tool", tool_call_id: "c", content: "Broken.", is_error: true },
        ],
      }),
    ).toEqual({
      tools: [tool],
      messages: [
        { role: "user", content: [text] },
        { role: "tool", tool_call_id: "c", content: "Broken." },
      ],
    });
  });

  it("have the forms of documents and images of the dialect", () => {
    const data = { type: "base64", media_type: "application/pdf", data: "JVBE" };
    const file_data = "data:application/pdf;base64,JVBE";
    const content = [
      { type: "document", source: { type: "text", data: "Words." }, title: "t", context: "c" },
      { type: "document", source: data },
      { type: "document", source: data, title: "a.pdf", citations: { enabled: true } },
      { type: "document", source: { type: "file", file_id: "f" } },
      { type: "file", file: { file_data } },
      { type: "image", source: { type: "url", url: "https://example.com/a.png" } },
    ];
    expect(lowered({ messages: [{ role: "user", content }] }).messages).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "t\n\nc\n\nWords." },
          { type: "file", file: { filename: "document.pdf", file_data } },
          { type: "file", file: { filename: "a.pdf", file_data } },
          { type: "file", file: { file_id: "f" } },
          { type: "file", file: { filename: "document.pdf", file_data } },
          { type: "image_url", image_url: { url: "https://example.com/a.png" } },
        ],
      },
    ]);
  });

  it("have media of results after all results", () => {
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } };
    const text = { type: "text", text: "A picture:" };
    const messages = [
      { role: "tool", tool_call_id: "a", content: [text, image] },
      { role: "tool", tool_call_id: "b", content: [image] },
      { role: "assistant", content: "Nice." },
    ];
    expect(lowered({ messages }).messages).toEqual([
      { role: "tool", tool_call_id: "a", content: [text] },
      { role: "tool", tool_call_id: "b", content: "" },
      {
        role: "user",
        content: [
          { type: "text", text: "Of the result of the call a:" },
          image,
          { type: "text", text: "Of the result of the call b:" },
          image,
        ],
      },
      { role: "assistant", content: "Nice." },
    ]);
  });
});

describe("thinking at a model without it", () => {
  const lower = (body: JsonObject, takesEffort: boolean) => {
    const { document, dropped } = lowerThinking(writtenDocument(body), takesEffort);
    return [document.value, dropped];
  };

  it.each([
    [24_000, "high"],
    [10_000, "high"],
    [5_000, "medium"],
    [2_000, "low"],
    [1_024, "minimal"],
  ])("is an effort where the model takes one: %d tokens, %s", (budget, effort) => {
    const thinking = { type: "enabled", budget_tokens: budget };
    expect(lower({ thinking }, true)).toEqual([{ reasoning_effort: effort }, []]);
  });

  it("keeps the client's effort, as far as models have it", () => {
    const thinking = { type: "adaptive" };
    expect(lower({ thinking, reasoning_effort: "low" }, true)).toEqual([
      { reasoning_effort: "low" },
      [],
    ]);
    expect(lower({ thinking, reasoning_effort: "max" }, true)).toEqual([
      { reasoning_effort: "high" },
      [],
    ]);
    expect(lower({ thinking }, true)).toEqual([{}, []]);
  });

  it("is dropped and listed where the model takes no effort", () => {
    const thinking = { type: "adaptive" };
    expect(lower({ thinking, reasoning_effort: "high" }, false)).toEqual([
      {},
      ["thinking", "reasoning_effort"],
    ]);
    expect(lower({ thinking: { type: "disabled" } }, false)).toEqual([{}, []]);
  });
});
