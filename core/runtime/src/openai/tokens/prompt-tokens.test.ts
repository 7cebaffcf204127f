import { describe, expect, it } from "vitest";
import type { JsonObject, TokenCounter } from "@sluice/contract";
import { countPrompt, promptParts } from "./prompt-tokens.ts";
import { toolNamespace } from "../repair/tool-namespace.ts";

/** A token for each text, so that overheads stand out. */
const counter: TokenCounter = { count: (texts) => ({ tokens: texts.length, exact: true }) };
const WEATHER = {
  name: "get_weather",
  description: "Current weather",
  parameters: {
    type: "object",
    properties: {
      city: { type: "string", description: "City and state" },
      unit: { type: "string", enum: ["celsius", "fahrenheit"] },
      days: { type: "array", items: { type: "integer" } },
      place: { type: "object", properties: { lat: { type: "number" } }, required: ["lat"] },
    },
    required: ["city"],
  },
};
const PNG_1024 = `data:image/png;base64,${Buffer.from("89504e470d0a1a0a0000000d494844520000040000000400", "hex").toString("base64")}`;

const user = (content: unknown): JsonObject =>
  ({ messages: [{ role: "user", content }] }) as JsonObject;

describe("the parts of a chat prompt", () => {
  it("are role and content, three tokens a message, one a name and three for the reply", () => {
    const messages = [
      { role: "system", content: "Be brief." },
      { role: "user", name: "ann", content: "Hi" },
    ];
    expect(promptParts({ messages })).toMatchObject({
      texts: ["system", "Be brief.", "user", "Hi", "ann"],
      overhead: 3 + 3 + 1 + 3,
      exact: true,
    });
  });

  it("hold the calls of an assistant, and what a tool answered", () => {
    const messages = [
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "c", content: "42" },
    ];
    expect(promptParts({ messages })).toMatchObject({
      texts: ["assistant", "f", "{}", "tool", "42"],
      overhead: 3 + 3 + 3 + 3,
    });
  });

  it("hold the tools as types, and count them into a system message that is there", () => {
    const tools = [{ type: "function", function: WEATHER }];
    const alone = promptParts({ messages: [{ role: "user", content: "Hi" }], tools });
    expect(alone).toMatchObject({
      texts: ["user", "Hi", toolNamespace([WEATHER])],
      overhead: 3 + 3 + 9,
    });
    const led = promptParts({ messages: [{ role: "system", content: "Be brief." }], tools });
    expect(led).toMatchObject({
      texts: ["system", "Be brief.\n", toolNamespace([WEATHER])],
      overhead: 3 + 3 + 9 - 4,
    });
  });

  it.each([
    [{ tool_choice: "auto" }, [], 0],
    [{ tool_choice: "none" }, [], 1],
    [{ tool_choice: { type: "function", function: { name: "f" } } }, ["f"], 7],
    [{ function_call: { name: "f" } }, ["f"], 4],
  ])("hold a choice of tools: %j", (chosen, texts, overhead) => {
    expect(promptParts({ messages: [], ...chosen })).toMatchObject({
      texts,
      overhead: 3 + overhead,
    });
  });

  it.each([
    [{ url: "https://example.com/a.png", detail: "low" }, 85, true],
    [{ url: "https://example.com/a.png", detail: "high" }, 765, false],
    [{ url: PNG_1024, detail: "high" }, 765, true],
    [{ url: PNG_1024, detail: "low" }, 85, true],
  ])("hold an image: %j", (image_url, tokens, exact) => {
    const parts = promptParts(user([{ type: "image_url", image_url }]));
    expect(parts).toMatchObject({ overhead: 3 + 3 + tokens, exact });
  });

  it("hold sounds and files by their size, as an estimate", () => {
    const data = Buffer.alloc(48_000).toString("base64");
    const audio = promptParts(
      user([{ type: "input_audio", input_audio: { data, format: "wav" } }]),
    );
    expect(audio).toMatchObject({ overhead: 6 + 10, exact: false });
    const file_data = `data:text/plain;base64,${Buffer.alloc(400).toString("base64")}`;
    expect(promptParts(user([{ type: "file", file: { file_data } }]))).toMatchObject({
      overhead: 6 + 101,
      exact: false,
    });
    expect(promptParts(user([{ type: "file", file: { file_id: "file-1" } }]))).toMatchObject({
      overhead: 6,
      exact: false,
    });
  });

  it("survive whatever else a body may hold", () => {
    const odd = {
      messages: [
        null,
        1,
        "x",
        {},
        { role: 1, content: [null, 1, "t", { type: "text" }], tool_calls: [null, {}] },
      ],
    };
    expect(
      promptParts({
        ...odd,
        tools: [null, {}, { function: { name: 1, parameters: 1 } }],
        tool_choice: {},
      }),
    ).toBeDefined();
  });
});

describe("the parts of an embeddings input", () => {
  it.each([
    ["a text", "hello", ["hello"], 0],
    ["texts", ["a", "b"], ["a", "b"], 0],
    ["a token array", [1, 2, 3], [], 3],
    ["token arrays", [[1, 2], [3]], [], 3],
  ])("are %s without any overhead", (_what, input, texts, overhead) => {
    expect(promptParts({ input })).toMatchObject({ texts, overhead, exact: true });
  });
});

describe("a count of a prompt", () => {
  it("adds the overhead to the counted texts, and is exact when both are", async () => {
    expect(await countPrompt(user("Hi"), counter)).toEqual({ tokens: 2 + 6, exact: true });
    const image = user([{ type: "image_url", image_url: { url: "https://example.com/a.png" } }]);
    expect(await countPrompt(image, counter)).toEqual({ tokens: 1 + 6 + 765, exact: false });
    const rough: TokenCounter = { count: async () => ({ tokens: 5, exact: false }) };
    expect(await countPrompt(user("Hi"), rough)).toEqual({ tokens: 11, exact: false });
  });
});

describe("the namespace of functions", () => {
  it("is what the model reads", () => {
    expect(toolNamespace([WEATHER, { name: "now" }])).toBe(
      [
        "namespace functions {",
        "",
        "// Current weather",
        "type get_weather = (_: {",
        "// City and state",
        "city: string,",
        'unit?: "celsius" | "fahrenheit",',
        "days?: number[],",
        "place?: {",
        "  lat: number,",
        "},",
        "}) => any;",
        "",
        "type now = () => any;",
        "",
        "} // namespace functions",
      ].join("\n"),
    );
  });

  it("ends, however deep a schema is", () => {
    let schema: JsonObject = { type: "string" };
    for (let depth = 0; depth < 5_000; depth++)
      schema = { type: "object", properties: { a: schema } };
    expect(toolNamespace([{ name: "deep", parameters: schema }]).length).toBeLessThan(1_000);
  });
});
