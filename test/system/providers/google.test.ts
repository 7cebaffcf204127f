import { generateKeyPairSync } from "node:crypto";
import type OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openaiClient, rowsOf } from "../support/client.ts";
import { type FailureFixture, fixturesOf } from "../support/fixtures.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";
import {
  collectChunks,
  functionsOf,
  streamChunks,
  textOf,
  withResults,
} from "../support/sdk-chat.ts";

const KEY = "gemini-credential-of-the-tests-0123456789";
const TOKEN = "ya29.access-token-of-the-tests-0123456789";
const TOKEN_PATH = "/oauth/token";
const fixtures = fixturesOf("provider-google");
const SSE = "text/event-stream";
const JSON_TYPE = "application/json; charset=UTF-8";

let upstream: NativeUpstream;
let oauth: NativeUpstream;
let gateway: GatewayProcess;
let client: OpenAI;

beforeAll(async () => {
  [upstream, oauth] = await Promise.all([createNativeUpstream(), createNativeUpstream()]);
  oauth.reply(
    200,
    JSON_TYPE,
    JSON.stringify({ access_token: TOKEN, expires_in: 3_599, token_type: "Bearer" }),
  );
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const serviceAccount = JSON.stringify({
    type: "service_account",
    client_email: "gateway@my-project.iam.gserviceaccount.com",
    private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
    token_uri: `${oauth.url}${TOKEN_PATH}`,
  });
  gateway = await startGateway(
    {
      providers: [
        `gemini: { use: gemini, api_key: "\${env:GEMINI_API_KEY}", base_url: ${upstream.url} }`,
        `vertex: { use: vertex, project: my-project, location: europe-west1, base_url: ${upstream.url}, credentials: "\${env:GOOGLE_SERVICE_ACCOUNT}" }`,
      ],
      models: [
        "{ id: flash, targets: [{ provider: gemini, model: gemini-3-flash-preview }] }",
        '{ id: gemini/*, targets: [{ provider: gemini, model: "*" }] }',
        '{ id: vertex/*, targets: [{ provider: vertex, model: "*" }] }',
        "{ id: embed, mode: embedding, targets: [{ provider: gemini, model: gemini-embedding-001 }] }",
        "{ id: imagen, mode: image, targets: [{ provider: vertex, model: imagen-4.0-generate-001 }] }",
      ],
    },
    { GEMINI_API_KEY: KEY, GOOGLE_SERVICE_ACCOUNT: serviceAccount },
  );
  client = openaiClient(gateway);
});

afterAll(async () => {
  await gateway.dispose();
  await Promise.all([upstream.close(), oauth.close()]);
});

const ASK: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "Weather?" }];
const TOOLS = fixtures.json<{ tools: OpenAI.ChatCompletionTool[] }>("gemini/tools/request").tools;

describe("Gemini behind the OpenAI SDK", () => {
  it("answers whole, with its usage in the row", async () => {
    upstream.reply(200, JSON_TYPE, fixtures.text("gemini/text/reply"));
    const { data: reply, response } = await client.chat.completions
      .create({ model: "flash", messages: ASK })
      .withResponse();
    expect(reply).toMatchObject({
      model: "flash",
      choices: [{ message: { content: "Hello! How can I help?" }, finish_reason: "stop" }],
    });
    expect(upstream.requests.at(-1)).toMatchObject({
      method: "POST",
      url: "/v1beta/models/gemini-3-flash-preview:generateContent",
      headers: { "x-goog-api-key": KEY },
    });
    const [row] = await rowsOf(gateway, response.headers.get("x-request-id") ?? "");
    expect(row).toMatchObject({ prompt_tokens: 12, completion_tokens: 6 });
  });

  it("streams the same words to the end of the connection, and the usage to those who ask", async () => {
    upstream.reply(200, SSE, fixtures.text("gemini/text/stream"));
    const chunks = await streamChunks(client, { model: "flash", messages: ASK });
    expect(textOf(chunks)).toBe("Hello! Grüße 😀");
    expect(chunks.at(-1)?.usage).toMatchObject({
      prompt_tokens: 25,
      completion_tokens: 15,
      total_tokens: 40,
    });
    expect(upstream.requests.at(-1)?.url).toBe(
      "/v1beta/models/gemini-3-flash-preview:streamGenerateContent?alt=sse",
    );
  });

  it("calls three tools at once on a stream, and has its signature back with their results", async () => {
    upstream.reply(200, SSE, fixtures.text("gemini/tools/stream"));
    const streamed = await client.chat.completions
      .stream({ model: "flash", messages: ASK, tools: TOOLS })
      .finalChatCompletion();
    const message = streamed.choices[0]?.message;
    expect(functionsOf(message)).toMatchObject([
      { name: "get_weather", arguments: '{"city":"Berlin"}' },
      { name: "1st-tool", arguments: "{}" },
      { name: "now", arguments: "{}" },
    ]);
    upstream.reply(200, JSON_TYPE, fixtures.text("gemini/tools/reply"));
    const next = await client.chat.completions.create({
      model: "flash",
      tools: TOOLS,
      messages: [...ASK, ...withResults(message)],
    });
    expect(next.choices[0]).toMatchObject({ finish_reason: "tool_calls" });
    const { contents } = upstream.lastBody() as {
      contents: {
        role: string;
        parts: { thoughtSignature?: string; functionResponse?: { id: string; name: string } }[];
      }[];
    };
    expect(contents.map(({ role }) => role)).toEqual(["user", "model", "user"]);
    expect(contents[1]?.parts.map(({ thoughtSignature }) => thoughtSignature?.slice(0, 8))).toEqual(
      ["CpcHAdHt", undefined, undefined],
    );
    expect(contents[2]?.parts.map((part) => part.functionResponse?.name)).toEqual([
      "get_weather",
      "t1st-tool_c2e32893",
      "now",
    ]);
  });

  it("refuses what it cannot take, or drops it where that was asked for", async () => {
    const asked = { model: "flash", messages: ASK, logit_bias: { "1": 1 } };
    await expect(client.chat.completions.create(asked)).rejects.toMatchObject({
      status: 400,
      param: "logit_bias",
    });
    upstream.reply(200, JSON_TYPE, fixtures.text("gemini/text/reply"));
    const dropping = { ...asked, drop_params: true, parallel_tool_calls: false, tools: TOOLS };
    const { response } = await client.chat.completions.create(dropping).withResponse();
    expect(response.headers.get("x-sluice-dropped-params")?.split(", ").toSorted()).toEqual([
      "logit_bias",
      "parallel_tool_calls",
    ]);
  });

  it("embeds, whatever format the SDK asks for", async () => {
    upstream.reply(200, JSON_TYPE, fixtures.text("gemini/embeddings/reply-usage"));
    const { data, usage } = await client.embeddings.create({
      model: "embed",
      input: ["One.", "Two."],
    });
    expect(data.map(({ embedding }) => embedding)).toEqual([
      [expect.closeTo(0.1, 6) as number, -0.5, 1],
      [0, 0.25, -1],
    ]);
    expect(usage).toEqual({ prompt_tokens: 8, total_tokens: 8 });
  });

  it("speaks its own dialect to those who do, and the row has what it used", async () => {
    upstream.reply(200, SSE, fixtures.text("gemini/usage/stream-cumulative"));
    const url = `${gateway.publicUrl}/gemini/v1beta/models/gemini-3-flash-preview:streamGenerateContent?alt=sse&key=sk-leak`;
    const headers = { "x-goog-api-key": gateway.masterKey, "content-type": "application/json" };
    const response = await fetch(url, {
      method: "POST",
      headers,
      body: '{"contents":[{"parts":[{"text":"Hi."}]}]}',
    });
    expect(await response.text()).toBe(fixtures.text("gemini/usage/stream-cumulative"));
    expect(upstream.requests.at(-1)).toMatchObject({
      url: "/v1beta/models/gemini-3-flash-preview:streamGenerateContent?alt=sse",
      headers: { "x-goog-api-key": KEY },
    });
    const [row] = await rowsOf(gateway, response.headers.get("x-request-id") ?? "");
    expect(row).toMatchObject({ prompt_tokens: 50, completion_tokens: 10 });
  });
});

describe("Vertex AI behind the OpenAI SDK", () => {
  it("is asked with a token, fetched once, in its location", async () => {
    upstream.reply(200, JSON_TYPE, fixtures.text("vertex/text/reply"));
    const ask = () =>
      client.chat.completions.create({ model: "vertex/gemini-2.5-flash", messages: ASK });
    const [reply] = await Promise.all([ask(), ask()]);
    expect(reply?.choices[0]?.message.content).toBe("Hello!");
    expect(upstream.requests.at(-1)).toMatchObject({
      url: "/v1beta1/projects/my-project/locations/europe-west1/publishers/google/models/gemini-2.5-flash:generateContent",
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    expect(oauth.requests.map(({ url }) => url)).toEqual([TOKEN_PATH]);
  });

  it("serves Claude in Anthropic's dialect, streamed", async () => {
    upstream.reply(200, SSE, fixtures.text("vertex/claude/stream"));
    const stream = await client.chat.completions.create({
      model: "vertex/claude-sonnet-4-5@20250929",
      messages: ASK,
      stream: true,
    });
    expect(textOf(await collectChunks(stream))).toBe("Hello! Grüße 😀");
    expect(upstream.requests.at(-1)?.url).toBe(
      "/v1beta1/projects/my-project/locations/europe-west1/publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict",
    );
    expect(upstream.lastBody()).toMatchObject({
      anthropic_version: "vertex-2023-10-16",
      stream: true,
    });
    expect(upstream.lastBody()).not.toHaveProperty("model");
  });

  it("makes images, in as many calls as they take, and the row has their price", async () => {
    upstream.reply(200, JSON_TYPE, fixtures.text("vertex/imagen/reply"));
    const { data: reply, response } = await client.images
      .generate({ model: "imagen", prompt: "A gate.", n: 2, size: "1024x1024" })
      .withResponse();
    expect(reply.data?.map(({ b64_json: image }) => image?.slice(0, 8))).toEqual([
      "iVBORw0K",
      "iVBORw0K",
    ]);
    expect(upstream.lastBody()).toMatchObject({
      parameters: { sampleCount: 2, aspectRatio: "1:1" },
    });
    const [row] = await rowsOf(gateway, response.headers.get("x-request-id") ?? "");
    expect(row).toMatchObject({ spend: 0.08 });
  });
});

describe("its errors", () => {
  // Each a deployment of its own: one that failed rests. A refused credential rests them all, so it
  // comes last. A wait that a 429 asks for is waited for: this one asks for none.
  it.each([
    ["400-context", 400, "context_length_exceeded"],
    ["503", 503, "overloaded_error"],
    ["429-bare", 429, "rate_limit_error"],
    ["400-key", 502, "upstream_error"],
  ])("%s becomes %i %s", async (name, outward, outwardType) => {
    const { status, body } = fixtures.json<FailureFixture>(`gemini/errors/error-${name}`);
    upstream.reply(status, JSON_TYPE, JSON.stringify(body));
    await expect(
      client.chat.completions.create({ model: `gemini/${name}`, messages: ASK }),
    ).rejects.toMatchObject({
      status: outward,
      type: outwardType,
    });
  });

  it("and the log hold neither key nor token", () => {
    for (const secret of [KEY, TOKEN, "PRIVATE KEY"])
      expect(gateway.stdout + gateway.stderr).not.toContain(secret);
  });
});
