/**
 * Embeddings with the unmodified OpenAI SDK: the forms of the input, both formats, the order, the
 * row.
 */

import OpenAI, { APIError, BadRequestError } from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createUpstream, type Upstream, vectorOf, wireFixture } from "@sluice/testing";
import { openaiClient, rowsOf } from "../support/client.ts";
import { type GatewayProcess, startGateway, UPSTREAM_KEY } from "../support/gateway-process.ts";
import { DEFAULT_MODELS, NEVER_EJECTS } from "../support/workspace.ts";

const FIXTURES = new URL("../../fixtures/openai/", import.meta.url).pathname;
const MODEL = "openai/text-embedding-3-small";
const LARGE_DIMENSIONS = 1_536;

let upstream: Upstream;
let gateway: GatewayProcess;
let client: OpenAI;

beforeAll(async () => {
  upstream = await createUpstream();
  gateway = await startGateway({
    // One call each: what retries do with failures is another test's.
    attempts: 1,
    balance: NEVER_EJECTS,
    baseUrl: upstream.baseUrl,
    providers: [
      `floats: { use: openai, api_key: "\${env:OPENAI_API_KEY}", base_url: ${upstream.baseUrl}, embedding_formats: [float] }`,
    ],
    models: [
      ...DEFAULT_MODELS,
      "{ id: floats, mode: embedding, targets: [{ provider: floats, model: only-floats }] }",
    ],
  });
  client = openaiClient(gateway);
});
beforeEach(() => upstream.reset());
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const vectors = ({ data }: OpenAI.CreateEmbeddingResponse) =>
  data.map(({ embedding }) => embedding);

function post(body: unknown, path = "/v1/embeddings"): Promise<Response> {
  return fetch(`${gateway.publicUrl}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.masterKey}`, "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

describe("embeddings", () => {
  it.each<["float" | "base64" | undefined, string]>([
    [undefined, "base64"],
    ["float", "float"],
  ])("asked for as %s reach the SDK as numbers", async (encoding_format, onTheWire) => {
    const { data, response } = await client.embeddings
      .create({
        model: MODEL,
        input: ["one text", "another"],
        user: "alice",
        ...(encoding_format && { encoding_format }),
      })
      .withResponse();
    expect(vectors(data)).toEqual([vectorOf("one text"), vectorOf("another")]);
    expect(data).toMatchObject({
      object: "list",
      model: MODEL,
      usage: { prompt_tokens: 3, total_tokens: 3 },
    });
    expect(upstream.requests[0]).toMatchObject({
      path: "/v1/embeddings",
      headers: { authorization: `Bearer ${UPSTREAM_KEY}` },
      parsed: { model: "text-embedding-3-small", encoding_format: onTheWire },
    });
    expect(await rowsOf(gateway, response.headers.get("x-request-id"))).toMatchObject([
      {
        call_type: "embeddings",
        status: "success",
        model: MODEL,
        model_id: "openai/text-embedding-3-small",
        prompt_tokens: 3,
        completion_tokens: 0,
        total_tokens: 3,
        usage_source: "provider",
        cost_status: "priced",
        end_user: "alice",
      },
    ]);
  });

  it("reach a client that asks for base64 as little-endian float32", async () => {
    const reply = await client.embeddings.create({
      model: MODEL,
      input: "x",
      encoding_format: "base64",
    });
    const text = reply.data[0]?.embedding as unknown as string;
    expect([...new Float32Array(new Uint8Array(Buffer.from(text, "base64")).buffer)]).toEqual(
      vectorOf("x"),
    );
  });

  it.each(["float", "base64"] as const)(
    "are made %s where the upstream answers in the other format",
    async (asked) => {
      upstream.script({ kind: "reply", embeddingFormat: asked === "float" ? "base64" : "float" });
      const expected = vectorOf("x");
      const reply = await client.embeddings.create({
        model: MODEL,
        input: "x",
        encoding_format: asked,
      });
      const got: unknown = reply.data[0]?.embedding;
      expect(typeof got === "string" ? got : (got as number[])).toEqual(
        asked === "float"
          ? expected
          : Buffer.from(Float32Array.from(expected).buffer).toString("base64"),
      );
    },
  );

  it("are not asked for in a format that the provider does not take", async () => {
    upstream.script({ kind: "reply", embeddingFormat: "float" });
    const reply = await client.embeddings.create({ model: "floats", input: "x" });
    expect(vectors(reply)).toEqual([vectorOf("x")]);
    expect(upstream.requests[0]?.parsed).toEqual({ model: "only-floats", input: "x" });
  });

  it.each<[string, OpenAI.EmbeddingCreateParams["input"], unknown[], number]>([
    ["a text", "one text", ["one text"], 2],
    ["texts", ["b", "a", "b"], ["b", "a", "b"], 3],
    ["tokens", [9906, 11, 1917], [[9906, 11, 1917]], 3],
    ["arrays of tokens", [[9906], [11, 1917]], [[9906], [11, 1917]], 3],
  ])("are made of %s", async (_name, input, inputs, tokens) => {
    const reply = await client.embeddings.create({ model: MODEL, input });
    expect(vectors(reply)).toEqual(inputs.map((item) => vectorOf(item)));
    expect(reply.data.map(({ index }) => index)).toEqual([...inputs.keys()]);
    expect(reply.usage).toEqual({ prompt_tokens: tokens, total_tokens: tokens });
    expect(upstream.requests[0]?.parsed?.["input"]).toEqual(input);
  });

  it("come for 2,048 inputs at once, in their order", async () => {
    const input = Array.from({ length: 2_048 }, (_, index) => `text ${index}`);
    const reply = await client.embeddings.create({ model: MODEL, input });
    expect(vectors(reply)).toEqual(input.map((text) => vectorOf(text)));
  });

  it("take half a million tokens in one request", async () => {
    const input = Array.from({ length: 1_024 }, (_, index) =>
      Array.from({ length: 500 }, (__, at) => index + at),
    );
    const reply = await client.embeddings.create({ model: MODEL, input, dimensions: 1 });
    expect(reply.usage.prompt_tokens).toBe(512_000);
    expect(vectors(reply)).toEqual(input.map((tokens) => vectorOf(tokens, 1)));
  });

  it("are put into the order of the inputs", async () => {
    const item = (index: number) => ({ object: "embedding", index, embedding: [index] });
    const body = {
      object: "list",
      data: [2, 0, 1].map(item),
      model: "m",
      usage: { prompt_tokens: 3, total_tokens: 3 },
    };
    upstream.script({ kind: "bytes", body: JSON.stringify(body) });
    const reply = await client.embeddings.create({
      model: MODEL,
      input: ["a", "b", "c"],
      encoding_format: "float",
    });
    expect(vectors(reply)).toEqual([[0], [1], [2]]);
  });

  it.each(["embeddings.json", "embeddings-unknown-fields.json"])(
    "keep every byte of %s but for the model",
    async (name) => {
      const sent = wireFixture(`${FIXTURES}${name}`);
      upstream.script(sent);
      const received = await (await post({ model: MODEL, input: ["a", "b"] })).text();
      expect(received).toBe(
        String(sent.body).replace('"model": "text-embedding-3-small"', `"model": "${MODEL}"`),
      );
    },
  );

  it("of 3 MB come as they are, byte by byte", async () => {
    const count = 100;
    const data = Array.from({ length: count }, (_, index) => ({
      object: "embedding",
      index,
      embedding: vectorOf(index, LARGE_DIMENSIONS),
    }));
    const body = JSON.stringify({
      object: "list",
      data,
      model: MODEL,
      usage: { prompt_tokens: count, total_tokens: count },
    });
    expect(body.length).toBeGreaterThan(3_000_000);
    upstream.script({ kind: "bytes", body, drip: { bytes: 100_003, everyMs: 0 } });
    const response = await post({ model: MODEL, input: Array.from({ length: count }, () => "x") });
    expect((await response.text()) === body).toBe(true);
    expect(response.headers.get("content-length")).toBe(String(body.length));
  });

  it.each([
    ["a vector too few", '{"object":"list","data":[{"index":0,"embedding":[1]}],"model":"m"}'],
    [
      "JSON that is cut",
      '{"object":"list","data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1',
    ],
    ["HTML", "<html></html>"],
  ])("that are %s are an error of the upstream", async (_name, body) => {
    upstream.script({ kind: "bytes", body });
    const response = await post({ model: MODEL, input: ["a", "b"] });
    expect(response.status).toBe(502);
    expect(await response.json()).toMatchObject({ error: { type: "upstream_error", code: 502 } });
    expect(await rowsOf(gateway, response.headers.get("x-request-id"))).toMatchObject([
      { status: "failure", error_code: "upstream_invalid_response" },
    ]);
  });

  it("are cut off by the request's own timeout", async () => {
    upstream.script({ kind: "hang" });
    const startedMs = performance.now();
    const response = await post({ model: MODEL, input: "x", timeout: 1 });
    expect(response.status).toBe(504);
    expect(await response.json()).toMatchObject({ error: { type: "timeout_error" } });
    expect(performance.now() - startedMs).toBeLessThan(10_000);
    expect(upstream.requests[0]?.body).toBe('{"model":"text-embedding-3-small","input":"x"}');
  });

  it("take the gateway's fields and send none of them on", async () => {
    const own = { caching: true, timeout: 600, tags: ["a"], metadata: { ticket: "T-1" } };
    const response = await post({ ...own, model: MODEL, input: "x", x_new: 1.5 }, "/embeddings");
    expect(response.status).toBe(200);
    expect(upstream.requests[0]?.parsed).toEqual({
      model: "text-embedding-3-small",
      input: "x",
      x_new: 1.5,
    });
    expect(await rowsOf(gateway, response.headers.get("x-request-id"))).toMatchObject([
      { request_tags: ["a"], metadata: { ticket: "T-1" } },
    ]);
  });

  it.each<[object, string]>([
    [{ input: [] }, "input"],
    [{ input: ["a", 1] }, "input[1]"],
    [{ input: "a", encoding_format: "int8" }, "encoding_format"],
    [{ input: "a", dimensions: 0 }, "dimensions"],
    [{ input: "a", timeout: "soon" }, "timeout"],
  ])("are refused for %j", async (body, param) => {
    const error: unknown = await client.embeddings
      .create({ model: MODEL, ...body } as never)
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({ status: 400, type: "invalid_request_error", param });
    expect(upstream.requests).toHaveLength(0);
  });

  it.each([
    [400, 400],
    [401, 502],
    [429, 429],
    [500, 502],
  ])("that the upstream refuses with %i reach the SDK as %i", async (status, expected) => {
    upstream.script({ kind: "error", status });
    const error: unknown = await client.embeddings
      .create({ model: MODEL, input: "x" })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ status: expected });
  });

  it("of the model echo need no network", async () => {
    const { data, response } = await client.embeddings
      .create({ model: "echo", input: ["same", "same", "other"] })
      .withResponse();
    const [first, second, third] = vectors(data);
    expect(first).toHaveLength(8);
    expect(second).toEqual(first);
    expect(third).not.toEqual(first);
    expect(await rowsOf(gateway, response.headers.get("x-request-id"))).toMatchObject([
      { cost_status: "free", total_tokens: 3 },
    ]);
    expect(upstream.requests).toHaveLength(0);
  });
});
