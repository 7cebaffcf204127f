import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "@sluice/contract";
import { bodyTexts } from "./texts.ts";

const BAD = "forbidden text";
const user = (...content: JsonValue[]): JsonObject => ({ messages: [{ role: "user", content }] });
const tool = (more: JsonObject): JsonObject => ({
  tools: [{ type: "function", function: { name: "f", ...more } }],
});
const encoded = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
const file = (url: string): JsonObject => user({ type: "file", file: { file_data: url } });

/** What is judged of a body. */
function judged(body: JsonObject): string {
  return bodyTexts(body, "chat")
    .texts.map(({ text }) => text)
    .join("\n");
}

describe("every text of a body is judged:", () => {
  it.each<[string, JsonObject]>([
    [
      "words in the place of a word of the protocol",
      { messages: [{ role: "user", content: "x", status: BAD }] },
    ],
    [
      "words in the place of an id",
      { messages: [{ role: "tool", tool_call_id: BAD, content: "x" }] },
    ],
    ["the format of a schema", tool({ parameters: { type: "string", format: BAD } })],
    [
      "a parameter that is called logprobs",
      tool({ parameters: { properties: { logprobs: { description: BAD } } } }),
    ],
    ["the name of a parameter", tool({ parameters: { properties: { [BAD]: {} } } })],
    [
      "the name of a member of an answer's schema",
      { response_format: { json_schema: { schema: { properties: { [BAD]: {} } } } } },
    ],
    ["a key of arguments", user({ type: "tool_use", name: "f", input: { [BAD]: 1 } })],
    ["a key of metadata", { metadata: { [BAD]: "x" } }],
    ["a key of a document", { documents: [{ data: { [BAD]: "x" } }] }],
    [
      "what a sound says",
      { messages: [{ role: "assistant", audio: { id: "a", data: "AAAA", transcript: BAD } }] },
    ],
    ["a data URL in capitals", file(`DATA:Text/Plain;BASE64,${encoded(Buffer.from(BAD))}`)],
    ["a data URL behind a blank", file(` data:text/plain,${encodeURIComponent(BAD)}`)],
    ["what an image is to be", { prompt: BAD }],
    [
      "a custom tool's input",
      {
        messages: [{ role: "assistant", tool_calls: [{ type: "custom", custom: { input: BAD } }] }],
      },
    ],
    [
      "an annotation",
      { choices: [{ message: { content: "x", annotations: [{ url_citation: { title: BAD } }] } }] },
    ],
    ["a refusal", { choices: [{ message: { refusal: BAD } }] }],
    ["reasoning", { choices: [{ message: { reasoning_details: [{ text: BAD }] } }] }],
  ])("%s", (_place, body) => {
    expect(judged(body)).toContain(BAD);
  });

  it.each<[string, JsonObject]>([
    [
      "of a message with members of media",
      { messages: [{ data: "", format: "", role: "user", content: BAD }] },
    ],
    ["behind the prefix of a picture", user({ type: "text", text: `data:image/png,${BAD}` })],
    [
      "in the address of a picture that is none",
      user({ type: "image_url", image_url: { url: `data:image/png;base64,${BAD}` } }),
    ],
    [
      "in the prefix of a picture",
      user({ type: "image_url", image_url: { url: `data:image/png;${BAD};base64,AAAA` } }),
    ],
    [
      "in the source of a text",
      user({
        type: "document",
        source: { type: "text", media_type: "image/png", data: "forbidden text" },
      }),
    ],
    [
      "in a member of media of a message",
      { messages: [{ role: "user", content: "x", image_url: { url: BAD }, file_data: BAD }] },
    ],
    [
      "of an unknown type of media",
      user({ type: "novel", novel: { mime_type: "image/png", data: BAD } }),
    ],
    ["behind a malformed escape", file("data:text/plain,%zzforbidden%20text%")],
    ["in the name of any member", { messages: [{ role: "user", content: "x", [BAD]: 1 }] }],
    [
      "in the name inside an argument",
      user({ type: "tool_use", name: "f", input: { deep: [{ [BAD]: 1 }] } }),
    ],
    ["of a top-level word of the protocol", { format: { description: BAD } }],
  ])("a text %s", (_place, body) => {
    expect(judged(body)).toContain(BAD);
  });

  it("a single word in the place of an identifier, of a word of the protocol and of a short picture", () => {
    const bodies: JsonObject[] = [
      { messages: [{ role: "tool", tool_call_id: "forbidden", content: "x" }] },
      { messages: [{ role: "user", content: "x", status: "forbidden" }] },
      { messages: [{ role: "user", content: "x", images: ["forbidden"] }] },
      user({
        type: "image",
        source: { type: "base64", media_type: "image/png", data: "forbidden" },
      }),
      user({ type: "thinking", thinking: "x", signature: "forbidden" }),
    ];
    for (const body of bodies) expect(judged(body)).toContain("forbidden");
  });

  it("as a user's, whatever role a block or a neighbour claims", () => {
    const blocks: JsonObject[] = [
      { type: "text", text: BAD, role: "tool" },
      { type: "text", text: BAD, functionResponse: {} },
    ];
    for (const block of blocks) {
      const found = bodyTexts(user(block), "chat").texts.find(({ text }) => text === BAD);
      expect(found?.part).toBe("user");
    }
  });

  it("a long number where a number may be anything", () => {
    expect(
      judged(user({ type: "tool_use", name: "f", input: { card: 4_111_111_111_111_111 } })),
    ).toContain("4111111111111111");
    expect(judged({ max_tokens: 4_111_111 })).not.toContain("4111111");
  });
});

describe("unreadable content is reported:", () => {
  it.each([
    [
      "another character set",
      `data:text/plain;charset=utf-16le;base64,${encoded(Buffer.from(BAD, "utf16le"))}`,
    ],
    [
      "another character set, unsaid",
      `data:text/plain;base64,${encoded(Buffer.from(BAD, "utf16le"))}`,
    ],
    [
      "a mark of another character set",
      `data:text/plain;base64,${encoded(Buffer.from(`\ufeff${BAD}`, "utf16le"))}`,
    ],
    ["a file of another kind", "data:application/pdf;base64,JVBERi0="],
  ])("%s", (_what, url) => {
    expect(bodyTexts(file(url), "chat").opaque).toHaveLength(1);
  });

  it("a request in base64, as an input", () => {
    const body = encoded(Buffer.from(JSON.stringify({ messages: [{ content: BAD }] })));
    const opaque = (input: JsonObject) => bodyTexts({ input }, "passthrough").opaque;
    expect(opaque({ invokeModel: { body } })).toEqual(["input"]);
    expect(opaque({ invokeModel: {} })).toEqual([]);
    expect(opaque({ converse: { messages: [] } })).toEqual([]);
  });

  it("not pictures and sounds where the dialects have them, nor what only a provider opens", () => {
    const long = encoded(Buffer.alloc(300, 7));
    const bodies: JsonObject[] = [
      user({
        type: "image_url",
        image_url: { url: `data:image/png;base64,${long}`, detail: "low" },
      }),
      user({ type: "input_audio", input_audio: { data: long, format: "wav" } }),
      user({ type: "image", source: { type: "base64", media_type: "image/png", data: long } }),
      user({ type: "image_url", image_url: `data:image/png;base64,${long}` }),
      user({ image: { format: "png", source: { bytes: long } } }),
      {
        contents: [
          {
            role: "user",
            parts: [{ inlineData: { mimeType: "image/png", data: long }, thoughtSignature: long }],
          },
        ],
      },
      { messages: [{ role: "user", content: "", images: [long] }] },
      {
        input: [
          { type: "reasoning", id: `rs_${"0".repeat(48)}`, summary: [], encrypted_content: long },
        ],
      },
      { input: [{ type: "compaction", encrypted_content: long }] },
      { messages: [{ role: "assistant", content: [{ type: "thinking", signature: long }] }] },
      { input: [{ type: "image_generation_call", status: "completed", result: long }] },
      {
        choices: [
          {
            message: {
              role: "assistant",
              content: "",
              audio: { id: "a", data: long, transcript: "" },
            },
          },
        ],
      },
      { data: [{ b64_json: long }] },
    ];
    for (const body of bodies) {
      const { texts, opaque } = bodyTexts(body, "passthrough");
      expect(texts.filter(({ text }) => text.length > 100)).toEqual([]);
      expect(opaque).toEqual([]);
    }
  });

  it("not a sealed text in an object whose type no provider seals: it is a text", () => {
    const long = "thewordofthistest".repeat(40);
    for (const body of [
      { input: [{ type: "of_next_year", encrypted_content: long }] },
      { messages: [{ role: "user", content: [{ type: "of_next_year", signature: long }] }] },
      {
        messages: [
          {
            role: "user",
            content: [
              {
                type: "native_block",
                native_block: { type: "web_fetch_x", encrypted_content: long },
              },
            ],
          },
        ],
      },
      { messages: [{ role: "user", content: [{ encrypted_content: long }] }] },
    ]) {
      const { texts } = bodyTexts(body, "passthrough");
      expect(texts.map(({ text }) => text)).toContain(long);
    }
  });

  it("files in many places, each listed once and in order", () => {
    const url = "data:application/zip;base64,UEsDBAoAAAAAAA";
    const count = 50_000;
    const block = { type: "file", file: { file_data: url } };
    const { opaque } = bodyTexts(user(...Array.from({ length: count }, () => block)), "chat");
    expect(opaque).toEqual(
      Array.from({ length: count }, (_, at) => `messages[0].content[${at}].file.file_data`),
    );
  });

  it("one place for two reasons, and names that are alike", () => {
    const url = "data:application/zip;charset=utf-7;base64,a b";
    const twice = { prompt: [1], "messages[0]": [[2]], ...user({ file: { file_data: url } }) };
    expect(bodyTexts(twice, "passthrough").opaque).toEqual([
      "prompt",
      "messages[0]",
      "messages[0].content[0].file.file_data",
    ]);
  });

  it("what lies too deep, by the member at the top", () => {
    let deep: JsonValue = "x";
    for (let at = 0; at < 120; at++) deep = [deep, deep === "x" ? "y" : "z"];
    expect(bodyTexts({ metadata: { deep, more: [deep] } }, "chat").opaque).toEqual(["metadata"]);
  });

  it("tokens in the place of a text", () => {
    for (const body of [
      { prompt: [1, 2] },
      { prompt: [[1], [2]] },
      { context: [1, 2], prompt: "x" },
    ])
      expect(bodyTexts(body, "passthrough").opaque).toHaveLength(1);
  });

  it("not what is text, or a picture", () => {
    for (const url of [
      "data:text/plain;charset=utf-8,hi",
      "data:;base64,aGk=",
      "data:image/png;base64,AAAA",
    ])
      expect(bodyTexts(file(url), "chat").opaque).toEqual([]);
  });
});

describe("a tool of an MCP server", () => {
  it("is unreadable, its own texts are judged, and its credentials are no texts", () => {
    const tool = {
      type: "mcp",
      server_label: "A label.",
      server_description: "What it does.",
      headers: { "x-key": "credential-one" },
      authorization: "credential-two",
    };
    const { texts, opaque } = bodyTexts({ tools: [{ type: "function" }, tool] }, "chat");
    const said = JSON.stringify(texts);
    expect(opaque).toEqual(["tools[1]"]);
    expect(said).toContain("A label.");
    expect(said).toContain("What it does.");
    expect(said).not.toContain("credential");
  });
});
