import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createUpstream, PIXEL, type Upstream, vectorOf } from "./upstream.ts";

let upstream: Upstream;
beforeAll(async () => void (upstream = await createUpstream()));
beforeEach(() => upstream.reset());
afterAll(() => upstream.close());

async function post(path: string, body: object): Promise<unknown> {
  const init = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  };
  return (await fetch(`${upstream.baseUrl}${path}`, init)).json();
}

describe("embeddings of the test upstream", () => {
  it("are one vector an input, which follows from the input alone", async () => {
    const body = await post("/embeddings", { model: "m", input: ["a b", "c"], dimensions: 3 });
    expect(body).toEqual({
      object: "list",
      data: [
        { object: "embedding", index: 0, embedding: vectorOf("a b", 3) },
        { object: "embedding", index: 1, embedding: vectorOf("c", 3) },
      ],
      model: "m",
      usage: { prompt_tokens: 3, total_tokens: 3 },
    });
    expect(vectorOf("a b", 3)).toHaveLength(3);
    expect(vectorOf("a b", 3)).not.toEqual(vectorOf("c", 3));
    expect(upstream.requests[0]?.usage).toEqual({
      prompt_tokens: 3,
      completion_tokens: 0,
      total_tokens: 3,
    });
  });

  it("take tokens, and are written as the request or the script says", async () => {
    const floats = { data: [{ embedding: vectorOf([1, 2]) }], usage: { prompt_tokens: 2 } };
    expect(await post("/embeddings", { model: "m", input: [1, 2] })).toMatchObject(floats);
    const asked = { model: "m", input: [[1, 2]], encoding_format: "base64" };
    const text = Buffer.from(Float32Array.from(vectorOf([1, 2])).buffer).toString("base64");
    expect(await post("/embeddings", asked)).toMatchObject({ data: [{ embedding: text }] });
    upstream.script({ kind: "reply", embeddingFormat: "float" });
    expect(await post("/embeddings", asked)).toMatchObject(floats);
  });
});

describe("images of the test upstream", () => {
  it("are URLs, or base64 when it is asked for, and no tokens", async () => {
    const asked = { model: "dall-e-2", prompt: "A gate.", n: 2 };
    const urls = [0, 1].map((index) => ({
      url: `https://images.invalid/1/${index}.png`,
      revised_prompt: "A gate.",
    }));
    expect(await post("/images/generations", asked)).toEqual({
      created: 1_700_000_001,
      data: urls,
    });
    expect(
      await post("/images/generations", { ...asked, response_format: "b64_json", n: 1 }),
    ).toEqual({
      created: 1_700_000_002,
      data: [{ b64_json: PIXEL }],
    });
  });

  it("of a gpt-image model are base64 with tokens", async () => {
    expect(
      await post("/images/generations", { model: "gpt-image-1", prompt: "A gate." }),
    ).toMatchObject({
      data: [{ b64_json: PIXEL }],
      usage: { input_tokens: 2, output_tokens: 10, total_tokens: 12 },
    });
  });
});
