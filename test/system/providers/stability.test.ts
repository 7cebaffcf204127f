import { Buffer } from "node:buffer";
import type OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Form } from "@sluice/kit";
import { openaiClient, rowsOf } from "../support/client.ts";
import { fixturesOf } from "../support/fixtures.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";

const KEY = "stability-credential-of-the-tests-0123456789";
const fixtures = fixturesOf("provider-stability");

let upstream: NativeUpstream;
let gateway: GatewayProcess;
let client: OpenAI;

beforeAll(async () => {
  upstream = await createNativeUpstream();
  gateway = await startGateway(
    {
      providers: [
        `stability: { use: stability, api_key: "\${env:STABILITY_API_KEY}", base_url: ${upstream.url} }`,
      ],
      models: ['{ id: stability/*, mode: image, targets: [{ provider: stability, model: "*" }] }'],
    },
    { STABILITY_API_KEY: KEY },
  );
  client = openaiClient(gateway);
});

afterAll(async () => {
  await gateway.dispose();
  await upstream.close();
});

/** The form that the upstream was sent last. */
async function lastForm(): Promise<FormData> {
  const { headers, body } = upstream.requests.at(-1) ?? { headers: {}, body: Buffer.alloc(0) };
  return new Response(new Uint8Array(body), {
    headers: { "content-type": headers["content-type"] ?? "" },
  }).formData();
}

const native = (path: string, init: RequestInit): Promise<Response> =>
  fetch(`${gateway.publicUrl}/stability/${path}`, {
    method: "POST",
    ...init,
    headers: { authorization: `Bearer ${gateway.masterKey}`, ...init.headers },
  });

describe("Stability behind the OpenAI SDK", () => {
  it("makes images by a service, one a call, each with its row and price", async () => {
    upstream.reply(200, "application/json", fixtures.text("core/reply"));
    const before = upstream.requests.length;
    const { data, response } = await client.images
      .generate({
        model: "stability/stable-image-core",
        prompt: "Grüße",
        size: "1792x1024",
        n: 2,
        response_format: "b64_json",
      })
      .withResponse();
    expect(data.data?.map(({ b64_json: image }) => image)).toEqual([
      "iVBORw0KGgo=",
      "iVBORw0KGgo=",
    ]);
    expect(upstream.requests.slice(before).map(({ url }) => url)).toEqual(
      Array(2).fill("/v2beta/stable-image/generate/core"),
    );
    expect(upstream.requests.at(-1)?.headers).toMatchObject({
      authorization: `Bearer ${KEY}`,
      accept: "application/json",
    });
    expect([...(await lastForm())]).toEqual([
      ["prompt", "Grüße"],
      ["aspect_ratio", "16:9"],
    ]);
    const rows = await rowsOf(gateway, response.headers.get("x-request-id"));
    expect(rows.map(({ spend }) => spend)).toEqual([0.03, 0.03]);
  });

  it("makes several images by one call of an engine; filtered ones are left out", async () => {
    upstream.reply(200, "application/json", fixtures.text("engine/reply"));
    const { data } = await client.images.generate({
      model: "stability/stable-diffusion-xl-1024-v1-0",
      prompt: "A gate.",
      n: 3,
    });
    expect(data).toHaveLength(2);
    expect(upstream.requests.at(-1)?.url).toBe(
      "/v1/generation/stable-diffusion-xl-1024-v1-0/text-to-image",
    );
  });

  it("says that its filter refused, and refuses URLs, or drops them where that was asked for", async () => {
    upstream.reply(200, "application/json", fixtures.text("core/reply-filtered"));
    await expect(
      client.images.generate({ model: "stability/stable-image-ultra", prompt: "A gate." }),
    ).rejects.toMatchObject({
      status: 400,
      code: 400,
    });
    const asked = {
      model: "stability/sd3.5-large",
      prompt: "A gate.",
      response_format: "url" as const,
    };
    await expect(client.images.generate(asked)).rejects.toMatchObject({
      status: 400,
      param: "response_format",
    });
    upstream.reply(200, "application/json", fixtures.text("core/reply"));
    const dropping = { ...asked, drop_params: true };
    const { response } = await client.images.generate(dropping).withResponse();
    expect(response.headers.get("x-sluice-dropped-params")).toBe("response_format");
    expect([...(await lastForm()).keys()]).toEqual(["prompt", "model"]);
  });

  it("hands forms on byte for byte; the image that comes back has its price, by the model in the form", async () => {
    const form = Form.body({
      prompt: "A gate.",
      image: { fileName: "a.png", mimeType: "image/png", bytes: Buffer.from([0, 255, 13, 10]) },
      model: "sd3.5-medium",
    });
    upstream.answer((response) =>
      response
        .writeHead(200, { "content-type": "image/png", "finish-reason": "SUCCESS" })
        .end("PNG"),
    );
    const response = await native("v2beta/stable-image/generate/sd3", {
      headers: { "content-type": form.contentType, accept: "image/*" },
      body: Buffer.from(form.body),
    });
    expect(await response.text()).toBe("PNG");
    expect(upstream.requests.at(-1)).toMatchObject({
      url: "/v2beta/stable-image/generate/sd3",
      headers: { accept: "image/*" },
    });
    expect(Buffer.compare(upstream.requests.at(-1)?.body ?? Buffer.alloc(0), form.body)).toBe(0);
    const [row] = await rowsOf(gateway, response.headers.get("x-request-id"));
    expect(row).toMatchObject({ spend: 0.035, cost_status: "priced" });
  });

  it("prices a native JSON reply by its images, and nothing that was filtered", async () => {
    for (const [reply, spend] of [
      ["reply", 0.03],
      ["reply-filtered", 0],
    ] as const) {
      upstream.reply(200, "application/json", fixtures.text(`core/${reply}`));
      const response = await native("v2beta/stable-image/generate/core", {
        headers: { "content-type": "text/plain" },
        body: "x",
      });
      await response.text();
      const [row] = await rowsOf(gateway, response.headers.get("x-request-id"));
      expect(row).toMatchObject({ spend });
    }
  });

  // Each a deployment of its own: one that failed rests. A refused credential rests them all, so it
  // comes last.
  it.each([
    ["error-422", 422, 422],
    ["error-403-moderation", 403, 400],
    ["error-429", 429, 429],
    ["error-402", 402, 502],
  ])("turns its %s into %i", async (name, status, outward) => {
    const { body } = fixtures.json<{ body: object }>(`errors/${name}`);
    upstream.reply(status, "application/json", JSON.stringify(body));
    await expect(
      client.images.generate({ model: `stability/sd3-${name}`, prompt: "A gate." }),
    ).rejects.toMatchObject({
      status: outward,
    });
  });
});
