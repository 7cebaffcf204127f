/**
 * The deployment family with the unmodified Azure client of the OpenAI SDK, and every route of the
 * three operations against every key.
 */

import { AzureOpenAI, NotFoundError } from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createUpstream, DEFAULT_TEXT, PIXEL, type Upstream, vectorOf } from "@sluice/testing";
import { createKey, MESSAGES, rowsOf } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";

let upstream: Upstream;
let gateway: GatewayProcess;
let azure: AzureOpenAI;
let otherKey: string;

beforeAll(async () => {
  upstream = await createUpstream();
  gateway = await startGateway({
    baseUrl: upstream.baseUrl,
    providers: [
      `second: { use: openai, api_key: "\${env:OPENAI_API_KEY}", base_url: ${upstream.baseUrl} }`,
    ],
    models: [
      "{ id: gpt-4o-mini, targets: [{ provider: openai, model: gpt-4o-mini }] }",
      '{ id: "openai/*", targets: [{ provider: openai, model: "*" }] }',
      "{ id: second/both, targets: [{ provider: second, model: of-second }] }",
      "{ id: a/b c, targets: [{ provider: second, model: slashed }] }",
      "{ id: echo, targets: [{ provider: echo, model: echo }] }",
    ],
  });
  azure = new AzureOpenAI({
    endpoint: gateway.publicUrl,
    apiKey: gateway.masterKey,
    apiVersion: "2024-10-21",
    maxRetries: 0,
  });
  otherKey = (await createKey(gateway, { models: ["echo"] })).key;
});
beforeEach(() => upstream.reset());
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const OPERATIONS = {
  "chat/completions": { messages: MESSAGES },
  embeddings: { input: "x" },
  "images/generations": { prompt: "x" },
} as const;
type Path = keyof typeof OPERATIONS;
const PATHS = Object.keys(OPERATIONS) as Path[];

function post(
  path: string,
  body: object,
  headers: Record<string, string> = { "api-key": gateway.masterKey },
): Promise<Response> {
  const init = {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  };
  return fetch(`${gateway.publicUrl}${path}`, init);
}

describe("the Azure client", () => {
  it("chats, whole and streamed", async () => {
    const whole = await azure.chat.completions.create({ model: "gpt-4o-mini", messages: MESSAGES });
    expect(whole.choices[0]?.message.content).toBe(DEFAULT_TEXT);
    const texts: string[] = [];
    for await (const { choices } of await azure.chat.completions.create({
      model: "gpt-4o-mini",
      messages: MESSAGES,
      stream: true,
    })) {
      texts.push(choices[0]?.delta.content ?? "");
    }
    expect(texts.join("")).toBe(DEFAULT_TEXT);
    expect(upstream.requests.map(({ path }) => path)).toEqual([
      "/v1/chat/completions",
      "/v1/chat/completions",
    ]);
    expect(Object.keys(upstream.requests[0]?.headers ?? {})).not.toContain("api-key");
  });

  it("makes embeddings", async () => {
    const { data } = await azure.embeddings.create({
      model: "text-embedding-3-small",
      input: ["a", "b"],
    });
    expect(data.map(({ embedding }) => embedding)).toEqual([vectorOf("a"), vectorOf("b")]);
  });

  it("makes images", async () => {
    const { data } = await azure.images.generate({ model: "gpt-image-1", prompt: "A gate." });
    expect(data?.[0]?.b64_json).toBe(PIXEL);
  });

  it("works with a deployment of its own, and gets the SDK's errors", async () => {
    const client = azure.withOptions({ deployment: "gpt-4o-mini" } as never);
    expect(
      (await client.chat.completions.create({ model: "ignored", messages: MESSAGES })).model,
    ).toBe("gpt-4o-mini");
    const narrow = new AzureOpenAI({
      endpoint: gateway.publicUrl,
      apiKey: otherKey,
      apiVersion: "2024-10-21",
      maxRetries: 0,
    });
    await expect(
      narrow.embeddings.create({ model: "gpt-4o-mini", input: "x" }),
    ).rejects.toBeInstanceOf(NotFoundError);
  });
});

describe.each(PATHS)("a deployment of %s", (path) => {
  const body = OPERATIONS[path];

  it.each([
    ["/ref/deployments/gpt-4o-mini", "gpt-4o-mini"],
    ["/ref/deployments/openai/some-model", "some-model"],
    ["/ref/deployments/openai%2Fsome-model", "some-model"],
    ["/ref/deployments/a/b%20c", "slashed"],
    ["/openai/deployments/gpt-4o-mini", "gpt-4o-mini"],
    ["/openai/deployments/some-model", "some-model"],
    ["/openai/deployments/openai/some-model", "some-model"],
    ["/second/deployments/both", "of-second"],
    ["/second/deployments/second/both", "of-second"],
    ["/second/deployments/gpt-4o-mini", "gpt-4o-mini"],
  ])("at %s is the upstream's model %s, whatever the body says", async (prefix, model) => {
    for (const sent of [body, { ...body, model: "unlisted" }]) {
      const response = await post(`${prefix}/${path}?api-version=2024-10-21`, sent);
      expect(response.status).toBe(200);
      expect(upstream.requests.at(-1)?.path).toBe(`/v1/${path}`);
      expect(upstream.requests.at(-1)?.parsed).toMatchObject({ ...body, model });
    }
  });

  it.each([
    ["/absent/deployments/gpt-4o-mini", 404, null],
    ["/ref/deployments/none", 404, "model"],
    ["/ref/deployments/both", 404, "model"],
    ["/second/deployments/some-model", 404, "model"],
    ["/ref/deployments/%zz", 400, null],
  ])("is not to be had at %s: %i", async (prefix, status, param) => {
    const response = await post(`${prefix}/${path}`, body);
    expect(response.status).toBe(status);
    if (prefix.startsWith("/absent")) return;
    expect(await response.json()).toMatchObject({ error: { code: status, param } });
    expect(upstream.requests).toHaveLength(0);
  });

  it.each([
    `/v1/${path}`,
    `/${path}`,
    `/ref/deployments/gpt-4o-mini/${path}`,
    `/openai/deployments/gpt-4o-mini/${path}`,
  ])("and %s ask for a key that may use the model", async (route) => {
    const asked = { model: "gpt-4o-mini", ...body };
    const send = async (key?: string) => {
      const response = await post(
        route,
        asked,
        key === undefined ? {} : { authorization: `Bearer ${key}` },
      );
      return {
        status: response.status,
        id: response.headers.get("x-request-id"),
        text: await response.text(),
      };
    };
    const [none, bad, other, master] = await Promise.all([
      send(),
      send("sk-wrong"),
      send(otherKey),
      send(gateway.masterKey),
    ]);
    expect([none.status, bad.status, other.status, master.status]).toEqual([401, 401, 404, 200]);
    expect(none.text).toBe(bad.text);
    expect(other.text).toContain("not_found_error");
    expect(upstream.requests).toHaveLength(1);
    expect(await rowsOf(gateway, other.id)).toMatchObject([
      { status: "failure", attempt: 0, error_code: "model_not_found" },
    ]);
    const narrow = { model: "echo", ...body };
    const own = await post(route.replace("gpt-4o-mini", "echo"), narrow, {
      authorization: `Bearer ${otherKey}`,
    });
    expect(own.status).toBe(200);
  });
});
