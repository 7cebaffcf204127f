/**
 * Media that a client names by URL, fetched where the operator switched it on: the provider gets
 * bytes.
 */

import type OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openaiClient, rowsOf } from "../support/client.ts";
import { fixturesOf } from "../support/fixtures.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";

const KEY = "provider-credential-of-the-tests-0123456789";
const PNG = Buffer.from("89504e470d0a1a0a0000000d4948445200000001000000010806000000", "hex");
const DATA = PNG.toString("base64");

let upstream: NativeUpstream;
let store: NativeUpstream;
let gateway: GatewayProcess;
let client: OpenAI;

beforeAll(async () => {
  [upstream, store] = await Promise.all([createNativeUpstream(), createNativeUpstream()]);
  const key = 'api_key: "${env:SOME_KEY}"';
  const bounds = `allow_origins: ["${store.url}"], max_size: 4kb`;
  const fetching = `fetch_media: { ${bounds} }`;
  gateway = await startGateway(
    {
      providers: [
        `anthropic: { use: anthropic, ${key}, base_url: ${upstream.url}, ${fetching} }`,
        `hasty: { use: anthropic, ${key}, base_url: ${upstream.url}, fetch_media: { ${bounds}, timeout: 100ms } }`,
        `gemini: { use: gemini, ${key}, base_url: ${upstream.url}, ${fetching} }`,
        `bedrock: { use: bedrock, region: us-east-1, ${key}, base_url: ${upstream.url}, ${fetching} }`,
        `bare: { use: bedrock, region: us-east-1, ${key}, base_url: ${upstream.url} }`,
      ],
      models: ["anthropic", "hasty", "gemini", "bedrock", "bare"].map(
        (name) => `{ id: ${name}/*, targets: [{ provider: ${name}, model: "*" }] }`,
      ),
    },
    { SOME_KEY: KEY },
  );
  client = openaiClient(gateway);
});

afterAll(async () => {
  await gateway.dispose();
  await Promise.all([upstream.close(), store.close()]);
});

const ask = (model: string, url: string) =>
  client.chat.completions
    .create({
      model,
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "What is it?" },
            { type: "image_url", image_url: { url } },
          ],
        },
      ],
    })
    .withResponse();

const REPLIES = {
  anthropic: fixturesOf("provider-anthropic").text("text/reply"),
  gemini: fixturesOf("provider-google").text("gemini/text/reply"),
  bedrock: fixturesOf("provider-bedrock").text("text/reply"),
} as const;

describe("an image by URL", () => {
  it.each([
    [
      "anthropic",
      "claude-sonnet-4-5",
      {
        messages: [
          { content: [{}, { source: { type: "base64", media_type: "image/png", data: DATA } }] },
        ],
      },
    ],
    [
      "gemini",
      "gemini-2.5-flash",
      { contents: [{ parts: [{}, { inlineData: { mimeType: "image/png", data: DATA } }] }] },
    ],
    [
      "bedrock",
      "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
      { messages: [{ content: [{}, { image: { format: "png", source: { bytes: DATA } } }] }] },
    ],
  ] as const)("goes to %s by value", async (provider, model, body) => {
    store.reply(200, "application/octet-stream", PNG);
    upstream.reply(200, "application/json", REPLIES[provider]);
    const before = store.requests.length;
    const { data } = await ask(`${provider}/${model}`, `${store.url}/a?token=of-the-client`);
    expect(data.choices[0]?.message.content).toBe("Hello! How can I help?");
    expect(upstream.lastBody()).toMatchObject(body);
    expect(JSON.stringify(upstream.lastBody())).not.toContain(store.url);
    expect(store.requests.slice(before).map(({ url }) => url)).toEqual(["/a?token=of-the-client"]);
    const { headers } = store.requests.at(-1) ?? {};
    expect(headers).not.toHaveProperty("authorization");
    expect(headers).not.toHaveProperty("cookie");
  });

  it.each([
    [
      "is no image",
      "anthropic",
      () => store.reply(200, "image/png", "<html></html>"),
      "is not an image of a supported type",
    ],
    [
      "is too large",
      "anthropic",
      () => store.reply(200, "image/png", Buffer.concat([PNG, Buffer.alloc(5_000)])),
      "has more than 4096 bytes",
    ],
    [
      "never ends",
      "hasty",
      () => store.answer((response) => void response.writeHead(200).write("x")),
      "took longer than 100 ms",
    ],
    [
      "is elsewhere",
      "anthropic",
      () =>
        store.reply(302, "text/plain", "", {
          location: "http://169.254.169.254/latest/meta-data/",
        }),
      "redirects elsewhere",
    ],
  ])(
    "that %s is the client's fault, and no provider is asked",
    async (_what, provider, prepare, why) => {
      prepare();
      const before = upstream.requests.length;
      const asked = ask(`${provider}/claude-sonnet-4-5`, `${store.url}/a?token=of-the-client`);
      await expect(asked).rejects.toMatchObject({
        status: 400,
        param: "messages[0].content[1].image_url.url",
      });
      await expect(asked).rejects.toThrow(`it ${why}.`);
      await expect(asked).rejects.not.toThrow("of-the-client");
      expect(upstream.requests.length).toBe(before);
    },
  );

  it.each([
    "https://127.0.0.1/a.png",
    "https://[::ffff:169.254.169.254]/",
    "https://2130706433/",
    "https://localhost/",
  ])("%s is not fetched", async (url) => {
    await expect(ask("gemini/gemini-2.5-flash", url)).rejects.toThrow(
      "it cannot be reached from here.",
    );
  });

  it.each([
    "http://127.0.0.1/x.png",
    "http://example.com/x.png",
    "HTTP://example.com/x.png",
    " http://example.com/x.png",
    "ht\ttp://example.com/x.png",
    "file:///etc/passwd",
    "ftp://example.com/x.png",
    "gs://bucket/x.png",
    "javascript:1",
  ])("%j is refused and never handed on (contract 1.12)", async (url) => {
    const before = upstream.requests.length;
    const asked = ask("gemini/gemini-2.5-flash", url);
    await expect(asked).rejects.toMatchObject({
      status: 400,
      param: "messages[0].content[1].image_url.url",
    });
    expect(upstream.requests.length).toBe(before);
  });

  it("is refused by a provider that needs bytes where nothing is fetched", async () => {
    const before = store.requests.length;
    await expect(
      ask("bare/us.anthropic.claude-sonnet-4-5-20250929-v1:0", "https://example.com/a.png"),
    ).rejects.toThrow("an image by URL (send a data: URL, or have the operator set fetch_media)");
    expect(store.requests.length).toBe(before);
  });

  it("stands neither in a row nor in the log", async () => {
    store.reply(200, "image/png", PNG);
    upstream.reply(200, "application/json", REPLIES.anthropic);
    const { response } = await ask(
      "anthropic/claude-sonnet-4-5",
      `${store.url}/a?token=of-the-client`,
    );
    const rows = await rowsOf(gateway, response.headers.get("x-request-id"));
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows) + gateway.stdout + gateway.stderr).not.toMatch(
      /of-the-client|iVBOR/,
    );
  });
});
