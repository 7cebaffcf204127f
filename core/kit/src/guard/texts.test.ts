import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "@sluice/spec";
import { bodyTexts } from "./texts.ts";

const BAD = "forbidden text";
const user = (...content: JsonValue[]): JsonObject => ({ messages: [{ role: "user", content }] });
const tool = (more: JsonObject): JsonObject => ({ tools: [{ type: "function", function: { name: "f", ...more } }] });
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
    ["words in the place of a word of the protocol", { messages: [{ role: "user", content: "x", status: BAD }] }],
    ["words in the place of an id", { messages: [{ role: "tool", tool_call_id: BAD, content: "x" }] }],
    ["the format of a schema", tool({ parameters: { type: "string", format: BAD } })],
    ["a parameter that is called logprobs", tool({ parameters: { properties: { logprobs: { description: BAD } } } })],
    ["the name of a parameter", tool({ parameters: { properties: { [BAD]: {} } } })],
    [
      "the name of a member of an answer's schema",
      { response_format: { json_schema: { schema: { properties: { [BAD]: {} } } } } },
    ],
    ["a key of arguments", user({ type: "tool_use", name: "f", input: { [BAD]: 1 } })],
    ["a key of metadata", { metadata: { [BAD]: "x" } }],
    ["a key of a document", { documents: [{ data: { [BAD]: "x" } }] }],
    ["what a sound says", { messages: [{ role: "assistant", audio: { id: "a", data: "AAAA", transcript: BAD } }] }],
    ["a data URL in capitals", file(`DATA:Text/Plain;BASE64,${encoded(Buffer.from(BAD))}`)],
    ["a data URL behind a blank", file(` data:text/plain,${encodeURIComponent(BAD)}`)],
    ["what an image is to be", { prompt: BAD }],
    ["a custom tool's input", { messages: [{ role: "assistant", tool_calls: [{ type: "custom", custom: { input: BAD } }] }] }],
    ["an annotation", { choices: [{ message: { content: "x", annotations: [{ url_citation: { title: BAD } }] } }] }],
    ["a refusal", { choices: [{ message: { refusal: BAD } }] }],
    ["reasoning", { choices: [{ message: { reasoning_details: [{ text: BAD }] } }] }],
  ])("%s", (_place, body) => {
    expect(judged(body)).toContain(BAD);
  });

  it("a long number where a number may be anything", () => {
    expect(judged(user({ type: "tool_use", name: "f", input: { card: 4_111_111_111_111_111 } }))).toContain("4111111111111111");
    expect(judged({ max_tokens: 4_111_111 })).not.toContain("4111111");
  });
});

describe("what nobody can read is told:", () => {
  it.each([
    ["another character set", `data:text/plain;charset=utf-16le;base64,${encoded(Buffer.from(BAD, "utf16le"))}`],
    ["another character set, unsaid", `data:text/plain;base64,${encoded(Buffer.from(BAD, "utf16le"))}`],
    ["a mark of another character set", `data:text/plain;base64,${encoded(Buffer.from(`\ufeff${BAD}`, "utf16le"))}`],
    ["a file of another kind", "data:application/pdf;base64,JVBERi0="],
  ])("%s", (_what, url) => {
    expect(bodyTexts(file(url), "chat").opaque).toHaveLength(1);
  });

  it("not what is text, or a picture", () => {
    for (const url of ["data:text/plain;charset=utf-8,hi", "data:;base64,aGk=", "data:image/png;base64,AAAA"])
      expect(bodyTexts(file(url), "chat").opaque).toEqual([]);
  });
});
