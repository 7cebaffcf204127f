import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { JsonDocument, ProviderRequest } from "@sluice/contract";
import { documentOf } from "../json/document.ts";
import { fakeTarget } from "@sluice/testing";
import { encodeChat } from "./encode.ts";

function request(document: JsonDocument, stream: boolean): ProviderRequest {
  const target = fakeTarget("openai", "upstream-model");
  return {
    operation: "chat",
    document,
    target,
    replyModel: "alias",
    stream,
    replyId: "chatcmpl-1",
    createdSeconds: 0,
  };
}

describe("encodeChat", () => {
  it("sends the client's text with the target's model", () => {
    const text = readFileSync(
      join(import.meta.dirname, "../../../../test/fixtures/openai/request-whole.json"),
      "utf8",
    );
    const sent = String(encodeChat(request(documentOf(text), false)).bytes);
    const [seed] = /-?\d{16,}/.exec(text) ?? [];
    expect(seed).toBeDefined();
    expect(sent).toContain(seed);
    expect(JSON.parse(sent)).toEqual({ ...(JSON.parse(text) as object), model: "upstream-model" });
  });

  it("sends the very document when the model has the same name", () => {
    const document = documentOf('{"model":"upstream-model","messages":[]}');
    expect(encodeChat(request(document, false))).toBe(document);
  });

  it.each([
    ["", { include_usage: true }],
    [',"stream_options":null', { include_usage: true }],
    [',"stream_options":{"include_usage":false,"other":1}', { include_usage: true, other: 1 }],
    [',"stream_options":{"include_usage":true,"other":1}', { include_usage: true, other: 1 }],
  ])("asks for usage on a stream, whatever the client asked: %j", (options, expected) => {
    const { value } = encodeChat(
      request(documentOf(`{"model":"m","stream":true${options}}`), true),
    );
    expect(value.stream_options).toEqual(expected);
  });

  it("asks for nothing on a whole reply", () => {
    expect(encodeChat(request(documentOf('{"model":"m"}'), false)).value).toEqual({
      model: "upstream-model",
    });
  });
});
