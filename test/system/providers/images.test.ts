/** Images with the unmodified OpenAI SDK: URLs and base64, one and several, the row. */

import { Buffer } from "node:buffer";
import OpenAI, { APIError, BadRequestError } from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createUpstream, PIXEL, type Upstream, wireFixture } from "@sluice/testing";
import { openaiClient, rowsOf } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";

const FIXTURES = new URL("../../fixtures/openai/", import.meta.url).pathname;
const IMAGE_BYTES = 3_750_000;

let upstream: Upstream;
let gateway: GatewayProcess;
let client: OpenAI;

beforeAll(async () => {
  upstream = await createUpstream();
  gateway = await startGateway({ baseUrl: upstream.baseUrl });
  client = openaiClient(gateway);
});
beforeEach(() => upstream.reset());
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const generate = (body: Partial<OpenAI.ImageGenerateParamsNonStreaming> = {}) =>
  client.images
    .generate({ model: "openai/dall-e-2", prompt: "A sluice gate.", ...body })
    .withResponse();

describe("images", () => {
  it("come as URLs, with their row", async () => {
    const { data, response } = await generate({ n: 2, size: "256x256", user: "alice" });
    expect(data.data?.map(({ url }) => url)).toEqual([
      "https://images.invalid/1/0.png",
      "https://images.invalid/1/1.png",
    ]);
    expect(data.created).toBeGreaterThan(0);
    expect(upstream.requests[0]).toMatchObject({
      path: "/v1/images/generations",
      parsed: { model: "dall-e-2", n: 2, user: "alice" },
    });
    expect(await rowsOf(gateway, response.headers.get("x-request-id"))).toMatchObject([
      {
        call_type: "images",
        status: "success",
        model: "openai/dall-e-2",
        end_user: "alice",
        usage_source: "provider",
      },
    ]);
  });

  it("are refused as a stream before any upstream is asked, by the name of the field (I4)", async () => {
    for (const model of ["openai/gpt-image-1", "echo"]) {
      const refused = await client
        .post("/images/generations", { body: { model, prompt: "x", stream: true } })
        .catch((e: unknown) => e);
      expect(refused).toBeInstanceOf(BadRequestError);
      expect(refused).toMatchObject({ status: 400, param: "stream" });
      expect((refused as Error).message).toContain("images are answered whole");
    }
    expect(upstream.requests).toEqual([]);
    expect(
      (await client.images.generate({ model: "echo", prompt: "x", stream: false })).data,
    ).toHaveLength(1);
  });

  it("come as base64", async () => {
    const { data } = await generate({ response_format: "b64_json" });
    expect(data.data?.[0]?.b64_json).toBe(PIXEL);
  });

  it("keep the fields of the reference API on their way", async () => {
    const fields = {
      size: "1024x1536",
      quality: "high",
      background: "transparent",
      output_format: "webp",
      output_compression: 80,
      moderation: "low",
    } as const;
    await generate({ model: "openai/gpt-image-1", ...fields, style: "vivid" });
    expect(upstream.requests[0]?.parsed).toEqual({
      model: "gpt-image-1",
      prompt: "A sluice gate.",
      ...fields,
      style: "vivid",
    });
  });

  it("of a base64-only model are base64 whether it is said or not, with tokens in the row", async () => {
    const { data, response } = await generate({
      model: "openai/gpt-image-1",
      response_format: "b64_json",
    });
    expect(data.data?.[0]?.b64_json).toBe(PIXEL);
    expect(upstream.requests[0]?.parsed).toEqual({
      model: "gpt-image-1",
      prompt: "A sluice gate.",
    });
    expect(await rowsOf(gateway, response.headers.get("x-request-id"))).toMatchObject([
      { prompt_tokens: 3, completion_tokens: 10, total_tokens: 13, usage_source: "provider" },
    ]);
  });

  it("of a base64-only model have no URLs", async () => {
    const error: unknown = await generate({
      model: "openai/gpt-image-1",
      response_format: "url",
    }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({ status: 400, param: "response_format" });
    expect(upstream.requests).toHaveLength(0);
  });

  it("of a base64-only model are base64 all the same where parameters may be dropped", async () => {
    const { data, response } = await generate({
      model: "openai/gpt-image-1",
      response_format: "url",
      drop_params: true,
    } as object);
    expect(data.data?.[0]?.b64_json).toBe(PIXEL);
    expect(response.headers.get("x-sluice-dropped-params")).toBe("response_format");
    expect(upstream.requests[0]?.parsed).toEqual({
      model: "gpt-image-1",
      prompt: "A sluice gate.",
    });
  });

  it("are several calls where a model makes one at a time, each with its row", async () => {
    const { data, response } = await generate({ model: "openai/dall-e-3", n: 3 });
    expect(new Set(data.data?.map(({ url }) => url)).size).toBe(3);
    expect(upstream.requests.map(({ parsed }) => parsed?.["n"])).toEqual([1, 1, 1]);
    const rows = await rowsOf(gateway, response.headers.get("x-request-id"));
    expect(rows.map(({ attempt, status }) => `${attempt} ${status}`).sort()).toEqual([
      "1 success",
      "2 success",
      "3 success",
    ]);
  });

  it.each(["images-url.json", "images-b64.json"])("keep every byte of %s", async (name) => {
    const sent = wireFixture(`${FIXTURES}${name}`);
    upstream.script(sent);
    const { response } = await generate({ n: 2 });
    expect(response.headers.get("content-length")).toBe(String(Buffer.byteLength(sent.body)));
    expect(JSON.parse(await (await raw({ model: "openai/dall-e-2", prompt: "x" })).text())).toEqual(
      JSON.parse(String(sent.body)),
    );
    expect(
      await (await raw({ model: "openai/dall-e-2", prompt: "x" }, "/images/generations")).text(),
    ).toBe(sent.body);
  });

  it("of 5 MB come as they are", async () => {
    const body = JSON.stringify({
      created: 1,
      data: [{ b64_json: Buffer.alloc(IMAGE_BYTES, 7).toString("base64") }],
    });
    upstream.script({ kind: "bytes", body, drip: { bytes: 100_003, everyMs: 0 } });
    expect((await (await raw({ model: "openai/dall-e-2", prompt: "x" })).text()) === body).toBe(
      true,
    );
  });

  it("get a time of creation where the upstream gives none", async () => {
    upstream.script({ kind: "bytes", body: '{"data":[{"b64_json":"QUJD"}]}' });
    const { data } = await generate();
    expect(Math.abs(data.created - Date.now() / 1_000)).toBeLessThan(60);
  });

  it("that are not there are an error of the upstream", async () => {
    upstream.script({ kind: "bytes", body: '{"created":1,"data":[]}' });
    await expect(generate()).rejects.toMatchObject({ status: 502, type: "upstream_error" });
  });

  it.each<[object, string]>([
    [{ prompt: "" }, "prompt"],
    [{ n: 0 }, "n"],
    [{ response_format: "png" }, "response_format"],
    [{ size: 1024 }, "size"],
  ])("are refused for %j", async (body, param) => {
    await expect(generate(body)).rejects.toMatchObject({
      status: 400,
      type: "invalid_request_error",
      param,
    });
    expect(upstream.requests).toHaveLength(0);
  });

  it("that the upstream's policy refuses say so", async () => {
    upstream.script({
      kind: "error",
      status: 400,
      code: "content_policy_violation",
      message: "Not this.",
    });
    const error: unknown = await generate().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ status: 400, type: "content_policy_violation" });
  });

  it("of the model echo need no network", async () => {
    const { data } = await generate({ model: "echo", n: 2 });
    for (const { b64_json } of data.data ?? []) {
      expect(
        Buffer.from(b64_json ?? "", "base64")
          .subarray(1, 4)
          .toString(),
      ).toBe("PNG");
    }
    expect(data.data).toHaveLength(2);
    expect(upstream.requests).toHaveLength(0);
  });
});

function raw(body: object, path = "/v1/images/generations"): Promise<Response> {
  return fetch(`${gateway.publicUrl}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.masterKey}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}
