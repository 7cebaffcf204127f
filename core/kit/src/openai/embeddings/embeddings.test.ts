import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue, ProviderRequest } from "@sluice/contract";
import { documentOf } from "../../json/document.ts";
import { decodeEmbeddings, encodeEmbeddings, inputCount } from "./embeddings.ts";
import { floatsToBase64 } from "./format.ts";

function request(body: JsonObject | string): ProviderRequest {
  const text = typeof body === "string" ? body : JSON.stringify({ model: "alias", ...body });
  const target = { id: "openai/embed", provider: "openai", model: "embed" };
  return {
    operation: "embeddings",
    document: documentOf(text),
    target,
    replyModel: "alias",
    stream: false,
    replyId: "x",
    createdSeconds: 7,
  };
}

const usage = { prompt_tokens: 5, total_tokens: 5 };
const item = (index: number | undefined, embedding: JsonValue): JsonObject => ({
  object: "embedding",
  ...(index === undefined ? {} : { index }),
  embedding,
});
const reply = (data: JsonValue, more: JsonObject = {}): Buffer =>
  Buffer.from(JSON.stringify({ object: "list", data, model: "embed", usage, ...more }));
const two = { input: ["a", "b"] };
const vectors = (body: Buffer, asked: JsonObject = two): unknown =>
  (decodeEmbeddings(body, request(asked)).document.value.data as readonly JsonObject[]).map(
    ({ index, embedding }) => [index, embedding],
  );

describe("encodeEmbeddings", () => {
  it("names the target's model and keeps every other byte", () => {
    const text =
      '{"model":"alias","input":[[12345678901234567890, 7]],"x":1.50,"encoding_format":"base64"}';
    expect(encodeEmbeddings(request(text)).bytes).toBe(text.replace('"alias"', '"embed"'));
  });

  it("asks for no format by name where the upstream knows numbers alone", () => {
    const { document } = request({ input: "a", encoding_format: "base64" });
    expect(document.value.encoding_format).toBe("base64");
    const sent = encodeEmbeddings(request({ input: "a", encoding_format: "base64" }), {
      formats: ["float"],
    });
    expect(sent.value).toEqual({ model: "embed", input: "a" });
  });

  it("asks for base64 where the upstream knows nothing else", () => {
    expect(
      encodeEmbeddings(request({ input: "a" }), { formats: ["base64"] }).value.encoding_format,
    ).toBe("base64");
  });
});

describe("inputCount", () => {
  it.each<[JsonValue, number]>([
    ["text", 1],
    [["a", "b", "c"], 3],
    [[1, 2, 3], 1],
    [[[1], [2, 3]], 2],
  ])("of %j is %i", (input, count) => {
    expect(inputCount(input)).toBe(count);
  });
});

describe("decodeEmbeddings", () => {
  it("hands on the upstream's own bytes when nothing is to change", () => {
    const body = reply([item(0, [0.1, -2e-3]), item(1, [3])], { model: "alias" });
    const { document, usage: used } = decodeEmbeddings(body, request(two));
    expect(document.bytes).toEqual(body);
    expect((document.bytes as Buffer).buffer).toBe(body.buffer);
    expect(used).toEqual({ promptTokens: 5, completionTokens: 0, totalTokens: 5 });
  });

  it("changes the model's name and no other byte", () => {
    const text = `{ "object":"list","data":[{"object":"embedding","index":0,"embedding":[1.50,  2E0]}],"model" : "embed","usage":{"prompt_tokens":1,"total_tokens":1},"x":12345678901234567890}\n`;
    const { document } = decodeEmbeddings(Buffer.from(text), request({ input: [1, 2] }));
    expect(String(document.bytes)).toBe(text.replace('"embed"', '"alias"'));
  });

  it("names the model where the upstream names none", () => {
    const body = reply([item(0, [1])])
      .toString()
      .replace('"model":"embed",', "");
    expect(
      decodeEmbeddings(Buffer.from(body), request({ input: "a" })).document.value,
    ).toMatchObject({ model: "alias" });
  });

  it("keeps base64 that was asked for", () => {
    const body = reply([item(0, "AACAPw==")], { model: "alias" });
    expect(
      decodeEmbeddings(body, request({ input: "a", encoding_format: "base64" })).document.bytes,
    ).toEqual(body);
  });

  it("writes the other format when the upstream answers in its own", () => {
    const asBase64 = { ...two, encoding_format: "base64" };
    expect(vectors(reply([item(0, [1, -2]), item(1, [])]), asBase64)).toEqual([
      [0, floatsToBase64([1, -2])],
      [1, ""],
    ]);
    expect(vectors(reply([item(0, floatsToBase64([1, -2])), item(1, [3])]))).toEqual([
      [0, [1, -2]],
      [1, [3]],
    ]);
  });

  it("puts items in the order of the inputs", () => {
    expect(vectors(reply([item(1, [1]), item(0, [0])]))).toEqual([
      [0, [0]],
      [1, [1]],
    ]);
  });

  it("numbers items that came without a number", () => {
    expect(vectors(reply([item(undefined, [7]), item(undefined, [8])]))).toEqual([
      [0, [7]],
      [1, [8]],
    ]);
  });

  it("gives every input its own vector, however they arrive and are written", () => {
    const float = fc
      .float({ noNaN: true, noDefaultInfinity: true })
      .map((value) => (Object.is(value, -0) ? 0 : value));
    const vector = fc.array(float, { minLength: 1, maxLength: 4 });
    const all = fc
      .array(fc.tuple(vector, fc.boolean()), { minLength: 1, maxLength: 12 })
      .chain((items) =>
        fc.tuple(
          fc.constant(items),
          fc.shuffledSubarray([...items.keys()], { minLength: items.length }),
        ),
      );
    fc.assert(
      fc.property(all, ([items, order]) => {
        const data = order.map((index) => {
          const [numbers, isText] = items[index]!;
          return item(index, isText ? floatsToBase64(numbers) : numbers);
        });
        const asked = { input: items.map(() => "x") };
        expect(vectors(reply(data), asked)).toEqual(
          items.map(([numbers], index) => [index, numbers]),
        );
      }),
    );
  });

  it("leaves the usage unknown when there is none", () => {
    const body = Buffer.from(JSON.stringify({ data: [item(0, [1])], model: "m" }));
    expect(decodeEmbeddings(body, request({ input: "a" })).usage).toBeUndefined();
  });

  it.each<[string, string | Buffer]>([
    ["no JSON", "<html>"],
    ["nothing", ""],
    ["JSON that is cut in a vector", reply([item(0, [1]), item(1, [2])]).subarray(0, 80)],
    ["JSON that is cut behind the vectors", reply([item(0, [1]), item(1, [2])]).subarray(0, -5)],
    ["an array", "[]"],
    ["no data", '{"object":"list"}'],
    ["a vector too few", reply([item(0, [1])])],
    ["a vector too many", reply([item(0, [1]), item(1, [1]), item(2, [1])])],
    ["an index twice", reply([item(0, [1]), item(0, [1])])],
    ["an index out of range", reply([item(0, [1]), item(2, [1])])],
    ["an index that is no number", reply([item(0, [1]), { index: "1", embedding: [1] }])],
    ["half an index", reply([item(0, [1]), item(0.5, [1])])],
    ["an item without a vector", reply([item(0, [1]), item(1, null)])],
    ["an item that is no object", reply([item(0, [1]), null])],
    ["a vector of something else, to be written as base64", reply([item(0, "AAAA"), item(1, [1])])],
  ])("refuses %s", (_name, body) => {
    expect(() => decodeEmbeddings(Buffer.from(body), request(two))).toThrow(
      expect.objectContaining({ code: "upstream_invalid_response" }) as Error,
    );
  });

  it("throws the error that a 200 carries inside", () => {
    const body = Buffer.from('{"error":{"message":"slow down","type":"rate_limit_error"}}');
    expect(() => decodeEmbeddings(body, request(two))).toThrow(
      expect.objectContaining({ code: "upstream_rate_limited" }) as Error,
    );
  });
});
