import { crc32, inflateSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject, LocalCall, ProviderRequest } from "@sluice/contract";
import { base64ToFloats } from "@sluice/kit/internals";
import { fakeHost, fakeRequest, fakeTarget } from "@sluice/testing";
import echo from "./index.ts";

const provider = echo.create({}, fakeHost());

function request(body: JsonObject): ProviderRequest {
  const { document, stream } = fakeRequest(body);
  const target = fakeTarget("echo", "echo");
  return {
    operation: "chat",
    document,
    target,
    replyModel: "alias",
    stream,
    replyId: "chatcmpl-1",
    createdSeconds: 7,
  };
}

function user(content: JsonObject[string]): JsonObject {
  return {
    model: "alias",
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: content ?? null },
    ],
  };
}

function call(asked: ProviderRequest): LocalCall {
  const made = provider.encode(asked);
  if (made.kind !== "local") throw new Error("The echo has no network.");
  return made;
}

/** The whole answer as a client reads it. */
function answer(body: JsonObject) {
  const asked = request(body);
  return provider.decode(Buffer.from([...call(asked).body].join("")), asked);
}

/** The chunks of the streamed answer. */
function chunks(body: JsonObject): JsonObject[] {
  const events = [...call(request({ ...body, stream: true })).body];
  expect(events.at(-1)).toBe("data: [DONE]\n\n");
  return events.slice(0, -1).map((event) => JSON.parse(event.slice("data: ".length)) as JsonObject);
}

const textOf = (chunk: JsonObject): string =>
  (chunk.choices as { delta: { content?: string } }[])
    .map(({ delta }) => delta.content ?? "")
    .join("");

describe("the echo", () => {
  it("repeats the last user message, with true usage", () => {
    const { document, usage } = answer(user("Hello,  Sluice "));
    expect(document.value).toMatchObject({
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 7,
      model: "alias",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: "Hello,  Sluice " },
          finish_reason: "stop",
        },
      ],
    });
    expect(usage).toEqual({ promptTokens: 5, completionTokens: 3, totalTokens: 8 });
  });

  it.each<[string, JsonObject, string]>([
    [
      "the texts of blocks",
      user([
        { type: "text", text: "a " },
        { type: "image_url", image_url: { url: "x" } },
        { type: "text", text: "b" },
      ]),
      "a b",
    ],
    ["nothing for no text", user(null), ""],
    ["nothing without a user", { messages: [{ role: "system", content: "x" }] }, ""],
    [
      "the last of several",
      {
        messages: [
          { role: "user", content: "one" },
          { role: "user", content: "two" },
          { role: "assistant", content: "x" },
        ],
      },
      "two",
    ],
  ])("repeats %s", (_what, body, expected) => {
    expect(answer(body).document.value).toMatchObject({
      choices: [{ message: { content: expected } }],
    });
  });

  it("streams a role, a word an event, a finish reason, the usage and the end mark", () => {
    const all = chunks(user("Hello, Sluice"));
    expect(all.map(({ choices }) => choices)).toMatchObject([
      [{ delta: { role: "assistant", content: "" }, finish_reason: null }],
      [{ delta: { content: "Hello," } }],
      [{ delta: { content: " Sluice" } }],
      [{ delta: {}, finish_reason: "stop" }],
      [],
    ]);
    expect(all.at(-1)?.usage).toEqual({ prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 });
    expect(
      new Set(
        all.map(({ id, created, model }) => `${String(id)} ${String(created)} ${String(model)}`),
      ).size,
    ).toBe(1);
  });

  it("returns the same text whole and streamed, for any request", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        const { document, usage } = answer(user(text));
        const streamed = chunks(user(text));
        expect(document.value).toMatchObject({ choices: [{ message: { content: text } }] });
        expect(streamed.map(textOf).join("")).toBe(text);
        expect(streamed.at(-1)?.usage).toMatchObject({ total_tokens: usage?.totalTokens });
      }),
    );
  });
});

describe("the echo of other operations", () => {
  /** The whole answer to one operation, as a client reads it. */
  function answered(operation: "embeddings" | "images", body: JsonObject) {
    const asked = { ...request({ model: "alias", ...body }), operation };
    return provider.decode(Buffer.from([...call(asked).body].join("")), asked);
  }
  const vectors = (body: JsonObject) =>
    (answered("embeddings", body).document.value.data as readonly { embedding: number[] }[]).map(
      ({ embedding }) => embedding,
    );
  const dot = (a: readonly number[] = [], b: readonly number[] = []) =>
    a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);

  it("gives a vector of length 1 to each input, with true usage", () => {
    const { document, usage } = answered("embeddings", { input: ["Hello, Sluice", "again"] });
    expect(document.value).toMatchObject({
      object: "list",
      model: "alias",
      data: [{ index: 0 }, { index: 1 }],
    });
    expect(usage).toEqual({ promptTokens: 3, completionTokens: 0, totalTokens: 3 });
    for (const vector of vectors({ input: ["Hello, Sluice", "again"] })) {
      expect(vector).toHaveLength(8);
      expect(dot(vector, vector)).toBeCloseTo(1);
    }
  });

  it("gives the same vector to the same words, and near ones to texts that share words", () => {
    const input = ["the gate is open", "The gate is open", "the gate is shut", "no word in common"];
    const [first, same, near, far] = vectors({ input, dimensions: 256 });
    expect(same).toEqual(first);
    expect(dot(first, near)).toBeGreaterThan(0.5);
    expect(Math.abs(dot(first, far))).toBeLessThan(0.5);
  });

  it("takes tokens as tokens", () => {
    expect(answered("embeddings", { input: [7, 8, 9] }).usage).toMatchObject({ promptTokens: 3 });
    expect(vectors({ input: [[7], [7], [8]] })[1]).toEqual(vectors({ input: [7] })[0]);
  });

  it("says the same in both formats", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string(), { minLength: 1 }),
        fc.integer({ min: 1, max: 64 }),
        (input, dimensions) => {
          const body = { input, dimensions };
          const texts = answered("embeddings", { ...body, encoding_format: "base64" }).document
            .value.data;
          const decoded = (texts as readonly { embedding: string }[]).map(({ embedding }) =>
            base64ToFloats(embedding),
          );
          expect(decoded).toEqual(vectors(body).map((vector) => vector.map((value) => value + 0)));
        },
      ),
    );
  });

  it("draws a pixel, as often as it is asked to", () => {
    const { document, usage } = answered("images", { prompt: "A gate.", n: 2 });
    const images = (document.value.data as readonly { b64_json: string }[]).map(({ b64_json }) =>
      Buffer.from(b64_json, "base64"),
    );
    expect(images).toHaveLength(2);
    expect(document.value.created).toBe(7);
    expect(usage).toMatchObject({ promptTokens: 2, completionTokens: 2, images: { count: 2 } });
    for (const png of images) expect([...readPixel(png)]).toEqual([31, 111, 178]);
    expect(
      answered("images", { prompt: "x", response_format: "url" }).document.value,
    ).toMatchObject({
      data: [{ url: expect.stringMatching(/^data:image\/png;base64,/) as string }],
    });
  });
});

/** The colour of a PNG's one pixel. Throws when a chunk is damaged. */
function readPixel(png: Buffer): Buffer {
  expect(png.subarray(1, 4).toString()).toBe("PNG");
  let pixel = Buffer.alloc(0);
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at);
    const chunk = png.subarray(at + 4, at + 8 + length);
    expect(png.readUInt32BE(at + 8 + length)).toBe(crc32(chunk));
    if (chunk.toString("latin1", 0, 4) === "IDAT")
      pixel = inflateSync(chunk.subarray(4)).subarray(1);
    at += length + 12;
  }
  return pixel;
}
