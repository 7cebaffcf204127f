import type OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isSignedWith } from "../../../plugins/provider-bedrock/src/signature-check.fixture.ts";
import { openaiClient, rowsOf } from "../support/client.ts";
import { fixturesOf } from "../support/fixtures.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import {
  createNativeUpstream,
  type NativeRequest,
  type NativeUpstream,
} from "../support/native-upstream.ts";
import { functionsOf, streamChunks, textOf, withResults } from "../support/sdk-chat.ts";

const KEY = "bedrock-credential-of-the-tests-0123456789";
const SECRET = "bedrock-secret-of-the-tests-0123456789";
const STREAM = "application/vnd.amazon.eventstream";
const CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const fixtures = fixturesOf("provider-bedrock");

let upstream: NativeUpstream;
let gateway: GatewayProcess;
let client: OpenAI;

beforeAll(async () => {
  upstream = await createNativeUpstream();
  const signing =
    'access_key_id: "${env:AWS_ACCESS_KEY_ID}", secret_access_key: "${env:AWS_SECRET_ACCESS_KEY}"';
  gateway = await startGateway(
    {
      providers: [
        `bedrock: { use: bedrock, region: us-east-1, api_key: "\${env:AWS_BEARER_TOKEN_BEDROCK}", base_url: ${upstream.url} }`,
        `signed: { use: bedrock, region: us-east-1, ${signing}, base_url: ${upstream.url} }`,
      ],
      models: [
        `{ id: claude, targets: [{ provider: bedrock, model: "${CLAUDE}" }] }`,
        `{ id: claude-signed, targets: [{ provider: signed, model: "${CLAUDE}" }] }`,
        '{ id: titan, mode: embedding, targets: [{ provider: signed, model: "amazon.titan-embed-text-v2:0" }] }',
        '{ id: canvas, mode: image, targets: [{ provider: bedrock, model: "stability.stable-image-core-v1:1" }] }',
        '{ id: bedrock/*, targets: [{ provider: bedrock, model: "*" }] }',
      ],
    },
    {
      AWS_BEARER_TOKEN_BEDROCK: KEY,
      AWS_ACCESS_KEY_ID: "AKIDEXAMPLE",
      AWS_SECRET_ACCESS_KEY: SECRET,
    },
  );
  client = openaiClient(gateway);
});

afterAll(async () => {
  await gateway.dispose();
  await upstream.close();
});

const isSigned = (request: NativeRequest): boolean => isSignedWith(SECRET, request);
const TOOLS = (
  JSON.parse(fixtures.text("tools/request").replaceAll("wetter.köln", "wetter_k_ln_a847054a")) as {
    tools: OpenAI.ChatCompletionTool[];
  }
).tools.slice(0, 3);
const ASK: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "Weather?" }];

describe("Bedrock behind the OpenAI SDK", () => {
  it("answers whole, with its usage in the row", async () => {
    upstream.reply(200, "application/json", fixtures.text("text/reply"));
    const { data: reply, response } = await client.chat.completions
      .create({ model: "claude", messages: ASK })
      .withResponse();
    expect(reply).toMatchObject({
      model: "claude",
      choices: [{ message: { content: "Hello! How can I help?" }, finish_reason: "stop" }],
    });
    expect(upstream.requests.at(-1)).toMatchObject({
      method: "POST",
      url: `/model/${encodeURIComponent(CLAUDE)}/converse`,
      headers: { authorization: `Bearer ${KEY}` },
    });
    const [row] = await rowsOf(gateway, response.headers.get("x-request-id") ?? "");
    expect(row).toMatchObject({ prompt_tokens: 12, completion_tokens: 6, cost_status: "priced" });
  });

  it("streams the same words from frames that are cut anywhere, signed", async () => {
    const bytes = fixtures.bytes("text/stream");
    upstream.answer((response) => {
      response.writeHead(200, { "content-type": STREAM });
      for (let at = 0; at < bytes.length; at += 7) response.write(bytes.subarray(at, at + 7));
      response.end();
    });
    const chunks = await streamChunks(client, { model: "claude-signed", messages: ASK });
    expect(textOf(chunks)).toBe("Hello! Grüße 😀");
    expect(chunks.at(-1)?.usage).toMatchObject({
      prompt_tokens: 25,
      completion_tokens: 15,
      total_tokens: 40,
    });
    const request = upstream.requests.at(-1);
    expect(request?.url).toBe(`/model/${encodeURIComponent(CLAUDE)}/converse-stream`);
    expect(request !== undefined && isSigned(request)).toBe(true);
  });

  it("calls three tools at once, and takes their results in one turn", async () => {
    upstream.reply(200, STREAM, fixtures.bytes("tools/stream"));
    const streamed = await client.chat.completions
      .stream({ model: "claude", messages: ASK, tools: TOOLS })
      .finalChatCompletion();
    const message = streamed.choices[0]?.message;
    expect(functionsOf(message)).toMatchObject([
      { name: "get_weather", arguments: '{"city": "Berlin"}' },
      { name: "wetter_k_ln_a847054a", arguments: "{}" },
      { name: "now", arguments: "{}" },
    ]);
    upstream.reply(200, "application/json", fixtures.text("tools/reply"));
    const next = await client.chat.completions.create({
      model: "claude",
      tools: TOOLS,
      messages: [...ASK, ...withResults(message)],
    });
    expect(next.choices[0]).toMatchObject({ finish_reason: "tool_calls" });
    const { messages } = upstream.lastBody() as {
      messages: { role: string; content: { toolResult?: { toolUseId: string } }[] }[];
    };
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(messages[2]?.content.map((block) => block.toolResult?.toolUseId)).toEqual([
      "tooluse_1",
      "tooluse_2",
      "tooluse_3",
    ]);
  });

  it("embeds a list of texts with a signed call for each, and a row for each", async () => {
    upstream.answer((response, { body }) => {
      const { inputText } = JSON.parse(body.toString()) as { inputText: string };
      const embedding = [inputText.length, 0.5];
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ embedding, inputTextTokenCount: 2 }));
    });
    const before = upstream.requests.length;
    const { data: reply, response } = await client.embeddings
      .create({ model: "titan", input: ["a", "bb", "ccc"], dimensions: 256 })
      .withResponse();
    expect(reply.data.map(({ index, embedding }) => [index, ...embedding])).toEqual([
      [0, 1, 0.5],
      [1, 2, 0.5],
      [2, 3, 0.5],
    ]);
    expect(reply.usage).toEqual({ prompt_tokens: 6, total_tokens: 6 });
    expect(upstream.requests.slice(before).map(isSigned)).toEqual([true, true, true]);
    const rows = await rowsOf(gateway, response.headers.get("x-request-id") ?? "");
    expect(rows.map(({ prompt_tokens: tokens }) => tokens)).toEqual([2, 2, 2]);
  });

  it("makes images", async () => {
    upstream.reply(200, "application/json", fixtures.text("images-stability/reply"));
    const reply = await client.images.generate({
      model: "canvas",
      prompt: "A robot.",
      n: 2,
      size: "1024x1024",
    });
    expect(reply.data).toEqual([{ b64_json: "AAAA" }, { b64_json: "AAAA" }]);
    expect(upstream.lastBody()).toEqual({ prompt: "A robot.", aspect_ratio: "1:1" });
  });

  it("is native under its prefix, frames and all, with tokens in the row", async () => {
    const bytes = fixtures.bytes("cache/stream");
    upstream.reply(200, STREAM, bytes, { "x-amzn-requestid": "aws-1" });
    const response = await fetch(
      `${gateway.publicUrl}/signed/model/${encodeURIComponent(CLAUDE)}/converse-stream`,
      {
        method: "POST",
        body: '{"messages":[]}',
        headers: {
          authorization: `Bearer ${gateway.masterKey}`,
          "content-type": "application/json",
          "x-amz-date": "theirs",
        },
      },
    );
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
    expect(response.headers.get("x-upstream-request-id")).toBe("aws-1");
    const request = upstream.requests.at(-1);
    expect(request !== undefined && isSigned(request)).toBe(true);
    const [row] = await rowsOf(gateway, response.headers.get("x-request-id") ?? "");
    expect(row).toMatchObject({
      prompt_tokens: 110,
      completion_tokens: 5,
      model_id: `signed/${CLAUDE}`,
    });
  });

  it("tells a failure within a stream in the stream", async () => {
    upstream.reply(200, STREAM, fixtures.bytes("broken/stream-modelstreamerror"));
    const stream = await client.chat.completions.create({
      model: "claude-signed",
      messages: ASK,
      stream: true,
    });
    const read = async (): Promise<void> => {
      for await (const chunk of stream) expect(chunk.choices[0]?.delta.content).toMatch(/^(Hel)?$/);
    };
    await expect(read()).rejects.toMatchObject({ type: "upstream_error" });
  });

  // One deployment, which three failures in a row would rest. A refused credential rests it at
  // once, so it comes last.
  it.each([
    [403, "AccessDeniedException", 502, "upstream_error"],
    [429, "ThrottlingException", 429, "rate_limit_error"],
    [503, "ServiceUnavailableException", 503, "overloaded_error"],
    [403, "UnrecognizedClientException", 502, "upstream_error"],
  ])("turns its %i %s into %i %s", async (status, type, outward, outwardType) => {
    upstream.reply(
      status,
      "application/json",
      '{"message":"You don\'t have access to the model."}',
      {
        "x-amzn-errortype": `${type}:`,
      },
    );
    await expect(
      client.chat.completions.create({ model: `bedrock/${type}`, messages: ASK }),
    ).rejects.toMatchObject({
      status: outward,
      type: outwardType,
    });
  });
});
