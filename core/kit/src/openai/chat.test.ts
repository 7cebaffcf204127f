import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { JsonDocument, JsonObject, ProviderRequest } from "@sluice/contract";
import { documentOf } from "../json/document.ts";
import { fakeTarget } from "@sluice/testing";
import { decodeChat, encodeChat } from "./chat.ts";

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

const folder = join(import.meta.dirname, "../../../../test/fixtures/openai");
const golden = readdirSync(folder).filter((name) => name.startsWith("chat-"));

describe("decodeChat", () => {
  it.each(golden)("changes the model of %s and no other byte", (name) => {
    const text = readFileSync(join(folder, name), "utf8");
    const { model } = JSON.parse(text) as { model: string };
    const { document, usage } = decodeChat(Buffer.from(text), "my-alias");
    expect(document.bytes).toBe(text.replace(`"model": "${model}"`, '"model": "my-alias"'));
    expect(document.bytes).not.toBe(text);
    expect(document.value).toEqual({ ...(JSON.parse(text) as JsonObject), model: "my-alias" });
    expect(usage?.totalTokens).toBeGreaterThan(0);
  });

  it("hands on the very bytes when the model is the same", () => {
    const bytes = Buffer.from('{"model":"m","choices":[{"message":{}}],"n":12345678901234567890}');
    expect(decodeChat(bytes, "m").document.bytes).toBe(bytes);
  });

  it("adds a model that is missing", () => {
    const { document } = decodeChat(
      Buffer.from('{"choices":[{"message":{}}],"big":12345678901234567890}'),
      "m",
    );
    expect(document.bytes).toBe(
      '{"choices":[{"message":{}}],"big":12345678901234567890,"model":"m"}',
    );
  });

  it("fills in an id, an object and a time that are missing or empty, and nothing else", () => {
    const identity = { replyId: "chatcmpl-own", createdSeconds: 7 };
    const bare = decodeChat(
      Buffer.from(
        '{"id":"","model":"m","choices":[{"index":1,"message":{}},{"index":0,"message":{}}],"big":12345678901234567890}',
      ),
      "m",
      identity,
    );
    expect(bare.document.bytes).toBe(
      '{"id":"chatcmpl-own","model":"m","choices":[{"index":1,"message":{}},{"index":0,"message":{}}],"big":12345678901234567890,"object":"chat.completion","created":7}',
    );
    const whole = Buffer.from(
      '{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[{"message":{}}]}',
    );
    expect(decodeChat(whole, "m", identity).document.bytes).toBe(whole);
  });

  it("reads past a byte order mark", () => {
    expect(
      decodeChat(Buffer.from('\uFEFF{"model":"m","choices":[{"message":{}}]}'), "m").document.value,
    ).toMatchObject({
      model: "m",
    });
  });

  it("reads a body that is a part of a larger buffer", () => {
    const large = Buffer.from('xx{"model":"m","choices":[{"message":{}}]}yy');
    expect(decodeChat(large.subarray(2, -2), "m").document.value).toMatchObject({ model: "m" });
  });

  const unreadable = [
    "",
    "null",
    "[]",
    "7",
    "<html>",
    '{"choices":[',
    "{}",
    '{"choices":null}',
    '{"choices":[]}',
    '{"choices":{}}',
    '{"choices":[1],}',
  ];
  it.each(unreadable)("refuses %j as an invalid response", (text) => {
    expect(() => decodeChat(Buffer.from(text), "m")).toThrow(
      expect.objectContaining({ code: "upstream_invalid_response", retryable: true }),
    );
  });

  it("throws the error that a 200 carries inside", () => {
    const body = Buffer.from('{"error":{"message":"slow down","type":"rate_limit_error"}}');
    expect(() => decodeChat(body, "m")).toThrow(
      expect.objectContaining({ code: "upstream_rate_limited" }),
    );
  });
});
