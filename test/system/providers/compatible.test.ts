import type OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openaiClient, rowsOf } from "../support/client.ts";
import { type FailureFixture, fixturesOf } from "../support/fixtures.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";
import { streamChunks, textOf } from "../support/sdk-chat.ts";

const KEY = "compatible-credential-of-the-tests-0123456789";
const fixtures = fixturesOf("provider-compatible");
const PRESETS = ["groq", "deepseek", "xai", "openrouter", "perplexity", "ollama"];

let upstream: NativeUpstream;
let gateway: GatewayProcess;
let client: OpenAI;

beforeAll(async () => {
  upstream = await createNativeUpstream();
  gateway = await startGateway(
    {
      providers: PRESETS.map(
        (name) =>
          `${name}: { use: compatible, preset: ${name}, api_key: "\${env:SOME_KEY}", base_url: ${upstream.url}/v1 }`,
      ),
      models: PRESETS.map(
        (name) => `{ id: ${name}/*, targets: [{ provider: ${name}, model: "*" }] }`,
      ),
    },
    { SOME_KEY: KEY },
  );
  client = openaiClient(gateway);
});

afterAll(async () => {
  await gateway.dispose();
  await upstream.close();
});

const ASK: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "Hello." }];
const TOOLS: OpenAI.ChatCompletionTool[] = [
  { type: "function", function: { name: "read_gauge", parameters: { type: "object" } } },
];

describe("compatible providers behind the OpenAI SDK", () => {
  it("answer whole, with thoughts under one name, and the preset's price", async () => {
    upstream.reply(200, "application/json", fixtures.text("groq/chat/reply-reasoning"));
    const asked = { model: "groq/llama-3.3-70b-versatile", messages: ASK };
    const { data: reply, response } = await client.chat.completions.create(asked).withResponse();
    expect(reply.choices[0]?.message).toMatchObject({
      content: "321 cm.",
      reasoning_content: "The gauge says so.",
    });
    expect(upstream.requests.at(-1)).toMatchObject({
      url: "/v1/chat/completions",
      headers: { authorization: `Bearer ${KEY}` },
    });
    const [row] = await rowsOf(gateway, response.headers.get("x-request-id") ?? "");
    // 40 x 0.59 and 30 x 0.79 dollars a million: the table has no price for cached tokens of this
    // model.
    expect(row).toMatchObject({
      custom_llm_provider: "groq",
      prompt_tokens: 40,
      completion_tokens: 30,
      spend: 0.0000473,
    });
  });

  it.each([
    ["groq", "stream-x-groq", '321 "reasoning": cm', 457],
    ["deepseek", "stream-keep-alive", "321", 2120],
    ["xai", "stream-usage-last", "321", 241],
    ["openrouter", "stream-comments", "321", 80],
    ["perplexity", "stream-usage-each", "321 cm", 31],
  ])("stream alike: %s, %s", async (preset, name, text, tokens) => {
    upstream.reply(
      200,
      "text/event-stream; charset=utf-8",
      fixtures.text(`${preset}/chat/${name}`),
    );
    const chunks = await streamChunks(client, { model: `${preset}/model-1`, messages: ASK });
    expect(textOf(chunks)).toBe(text);
    expect(chunks.filter(({ usage }) => usage !== undefined && usage !== null)).toHaveLength(1);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: tokens } });
  });

  it("call tools whole and without ids, and take the results", async () => {
    upstream.reply(200, "text/event-stream", fixtures.text("ollama/chat/stream-calls-without-ids"));
    const asked = { model: "ollama/qwen3:8b", messages: ASK, tools: TOOLS };
    const { choices } = await client.chat.completions.stream(asked).finalChatCompletion();
    const message = choices[0]?.message;
    const calls = message?.tool_calls ?? [];
    expect(choices[0]?.finish_reason).toBe("tool_calls");
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
    upstream.reply(200, "application/json", fixtures.text("ollama/chat/reply-thoughts"));
    const results = calls.map(({ id }) => ({
      role: "tool" as const,
      tool_call_id: id,
      content: "321",
    }));
    const messages = [...ASK, ...(message === undefined ? [] : [message]), ...results];
    await client.chat.completions.create({ ...asked, messages, max_completion_tokens: 9 });
    expect(upstream.lastBody()).toMatchObject({
      max_tokens: 9,
      messages: [{}, { tool_calls: [{}, {}] }, { role: "tool" }, { role: "tool" }],
    });
  });

  it("refuse what they cannot, or drop it where that was asked for", async () => {
    const asked = {
      model: "deepseek/deepseek-chat",
      messages: ASK,
      seed: 7,
      response_format: { type: "json_schema", json_schema: { name: "a", schema: {} } },
    } as const;
    await expect(client.chat.completions.create(asked)).rejects.toMatchObject({
      status: 400,
      param: "response_format",
    });
    upstream.reply(200, "application/json", fixtures.text("deepseek/chat/reply-blank-lines"));
    const dropping = { ...asked, drop_params: true };
    const { response } = await client.chat.completions.create(dropping).withResponse();
    expect(response.headers.get("x-sluice-dropped-params")).toBe("seed, response_format");
    const image = {
      type: "image_url",
      image_url: { url: "data:image/png;base64,iVBORw0KGgo=" },
    } as const;
    await expect(
      client.chat.completions.create({
        model: "deepseek/deepseek-chat",
        messages: [{ role: "user", content: [image] }],
      }),
    ).rejects.toMatchObject({ status: 400, param: "messages[0].content[0]" });
  });

  it("hand native requests on, and bill them", async () => {
    upstream.reply(200, "text/event-stream", fixtures.text("groq/chat/stream-x-groq"));
    const response = await fetch(`${gateway.publicUrl}/groq/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.masterKey}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "llama-3.3-70b-versatile", messages: ASK, stream: true }),
    });
    expect(await response.text()).toBe(fixtures.text("groq/chat/stream-x-groq"));
    const [row] = await rowsOf(gateway, response.headers.get("x-request-id") ?? "");
    expect(row).toMatchObject({
      call_type: "passthrough",
      total_tokens: 457,
      custom_llm_provider: "groq",
      spend: 0.00035743,
    });
  });

  it("tell an error inside a 200, and one in the middle of a stream", async () => {
    upstream.reply(200, "application/json", fixtures.text("openrouter/chat/reply-error-429"));
    await expect(
      client.chat.completions.create({ model: "openrouter/a", messages: ASK }),
    ).rejects.toMatchObject({ status: 429 });
    upstream.reply(200, "text/event-stream", fixtures.text("openrouter/chat/stream-error"));
    const stream = await client.chat.completions.create({
      model: "openrouter/b",
      messages: ASK,
      stream: true,
    });
    const drain = async (): Promise<void> => {
      for await (const chunk of stream) expect(chunk.model).toBe("openrouter/b");
    };
    await expect(drain()).rejects.toThrow("Provider disconnected unexpectedly");
  });

  it.each([
    ["xai", "error-429", 429],
    ["xai", "error-400-text", 400],
    ["openrouter", "error-403-moderation", 400],
    ["groq", "error-498", 503],
    ["xai", "error-400-key", 502],
  ])("fail alike: %s, %s as %i", async (preset, name, outward) => {
    const { status, body } = fixtures.json<FailureFixture>(`${preset}/errors/${name}`);
    upstream.reply(status, "application/json", JSON.stringify(body));
    await expect(
      client.chat.completions.create({ model: `${preset}/${name}`, messages: ASK }),
    ).rejects.toMatchObject({
      status: outward,
    });
  });
});
