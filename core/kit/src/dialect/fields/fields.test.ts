import { describe, expect, it } from "vitest";
import type { JsonObject, ProviderRequest } from "@sluice/contract";
import { writtenDocument } from "../../json/document.ts";
import { fakeTarget } from "@sluice/testing";
import { embeddingsReply, embeddingTexts } from "../embeddings.ts";
import { aspectRatioOf, imagesReply, readSize } from "../images.ts";
import { parseObject, present, textIn } from "../members.ts";
import { refusalsOf } from "../refusal.ts";
import { readFields } from "../request/request-fields.ts";
import { thinkingBudget } from "../request/thinking.ts";

function requestOf(body: JsonObject): ProviderRequest {
  return {
    operation: "embeddings",
    document: writtenDocument(body),
    target: fakeTarget("p", "m"),
    replyModel: "alias",
    stream: false,
    replyId: "chatcmpl-1",
    createdSeconds: 7,
  };
}

const refuse = refusalsOf(requestOf({}));

describe("members", () => {
  it("that are undefined are left out; null, false and nothing stay", () => {
    expect(Object.keys(present({ a: undefined, b: null, c: false, d: "", e: 0 }))).toEqual([
      "b",
      "c",
      "d",
      "e",
    ]);
  });

  it.each([
    ["x", "x"],
    ["", undefined],
    [null, undefined],
    [1, undefined],
    [undefined, undefined],
  ] as const)("%j says %j", (value, text) => {
    expect(textIn(value)).toBe(text);
  });

  it.each([
    ['{"a":1}', { a: 1 }],
    [' {"a":1}', { a: 1 }],
    ["[DONE]", undefined],
    ["[1]", undefined],
    ["{", undefined],
    ["", undefined],
  ])("%s is the object %j", (text, value) => {
    expect(parseObject(text)).toEqual(value);
  });
});

describe("the fields of a request", () => {
  it("are picked under their own names or others, null ones left out", () => {
    const fields = readFields(requestOf({ model: "m", user: "u", a: 1, b: null, c: "c" }), [
      "a",
      "c",
    ]);
    expect(fields.get("a")).toBe(1);
    expect(fields.get("b")).toBeUndefined();
    expect(fields.pick(["a", "b"])).toEqual({ a: 1 });
    expect(fields.pick({ a: "A", b: "B", c: "a" })).toEqual({ A: 1, a: "c" });
  });

  it("that are unknown are refused, unless their value asks for nothing", () => {
    expect(() => readFields(requestOf({ a: 1, odd: 1 }), ["a"])).toThrow("the parameter odd");
    expect(readFields(requestOf({ odd: null }), []).body).toEqual({ odd: null });
  });
});

describe("texts to embed", () => {
  const texts = (input: JsonObject["input"]) =>
    embeddingTexts({ body: { input: input as never }, refuse });
  it("are one or many", () => {
    expect(texts("a")).toEqual(["a"]);
    expect(texts(["a", "b"])).toEqual(["a", "b"]);
  });

  it.each([
    ["", "input must be"],
    [[], "input must be"],
    [["a", ""], "input[1] must be"],
    [[null], "input[0] must be"],
    [[1, 2], "tokens in place of a text for the model m: input[0]"],
    [[[1]], "tokens in place of a text for the model m: input[0]"],
  ])("are not %j", (input, message) => {
    expect(() => texts(input)).toThrow(message);
  });
});

describe("a reply of vectors", () => {
  const usage = { promptTokens: 3, completionTokens: 0, totalTokens: 3 };
  it("has them in order, as the client wants them, with what they used", () => {
    const plain = embeddingsReply(requestOf({ input: ["a", "b"] }), [[1, 0.5], [2]], usage);
    expect(plain.document.value).toEqual({
      object: "list",
      model: "alias",
      data: [
        { object: "embedding", index: 0, embedding: [1, 0.5] },
        { object: "embedding", index: 1, embedding: [2] },
      ],
      usage: { prompt_tokens: 3, total_tokens: 3 },
    });
    const coded = embeddingsReply(
      requestOf({ input: "a", encoding_format: "base64" }),
      [[1, 0.5]],
      undefined,
    );
    expect(coded.document.value).toMatchObject({ data: [{ embedding: "AACAPwAAAD8=" }] });
    expect(coded.document.value).not.toHaveProperty("usage");
    const kept = embeddingsReply(
      requestOf({ input: "a", encoding_format: "base64" }),
      ["AACAPw=="],
      undefined,
    );
    expect(kept.document.value).toMatchObject({ data: [{ embedding: "AACAPw==" }] });
  });

  it.each([
    [undefined, "has no embeddings for 2 inputs"],
    [[[1]], "has 1 embeddings for 2 inputs"],
    [[[1], []], "has no vector for input[1]"],
    [[[1], ["x"]], "has no vector for input[1]"],
    [[undefined, [1]], "has no vector for input[0]"],
  ])("of %j is none", (vectors, message) => {
    expect(() => embeddingsReply(requestOf({ input: ["a", "b"] }), vectors, usage)).toThrow(
      message,
    );
  });
});

describe("images", () => {
  it.each([
    ["1024x768", { width: 1_024, height: 768 }],
    ["auto", undefined],
    [null, undefined],
    [undefined, undefined],
  ])("%j is %j", (size, read) => {
    expect(readSize(size)).toEqual(read);
  });

  it.each(["0x1", "1x", "x", "big", "1e3x5", "123456x1", 5])("%j is no size", (size) => {
    expect(() => readSize(size)).toThrow("size must be");
  });

  it("have the nearest shape that the provider knows, or none", () => {
    const ratios = ["1:1", "16:9", "9:16"];
    expect(aspectRatioOf({ width: 1_792, height: 1_024 }, ratios, refuse)).toBe("16:9");
    expect(aspectRatioOf({ width: 1_000, height: 1_024 }, ratios, refuse)).toBe("1:1");
    expect(() => aspectRatioOf({ width: 1_500, height: 300 }, ratios, refuse)).toThrow(
      "known are 1:1, 16:9, 9:16",
    );
    expect(() => aspectRatioOf({ width: 1, height: 1 }, [], refuse)).toThrow("1:1");
  });

  it("are counted, with what their price depends on", () => {
    const { document, usage } = imagesReply(requestOf({}), [{ b64_json: "AAAA" }], {
      size: "1x1",
      quality: null,
    });
    expect(document.value).toEqual({ created: 7, data: [{ b64_json: "AAAA" }] });
    expect(usage).toEqual({
      promptTokens: 0,
      completionTokens: 0,
      totalTokens: 0,
      images: { count: 1, size: "1x1" },
    });
  });
});

describe("an effort", () => {
  it("is a budget, which leaves room for the answer", () => {
    expect(
      ["minimal", "low", "medium", "high", "xhigh", "max"].map((effort) =>
        thinkingBudget(effort, refuse),
      ),
    ).toEqual([1_024, 2_048, 8_192, 16_384, 32_768, 32_768]);
    expect(thinkingBudget("high", refuse, 5_000)).toBe(4_999);
    expect(() => thinkingBudget("low", refuse, 1_024)).toThrow("an effort within 1024 tokens");
    expect(() => thinkingBudget("constructor", refuse)).toThrow("the effort constructor");
  });
});
