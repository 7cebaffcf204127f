import type OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openaiClient, rowsOf } from "../support/client.ts";
import { fixturesOf } from "../support/fixtures.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";
import { functionsOf, streamChunks, textOf, withResults } from "../support/sdk-chat.ts";

const KEY = "anthropic-credential-of-the-tests-0123456789";
const fixtures = fixturesOf("provider-anthropic");

let upstream: NativeUpstream;
let gateway: GatewayProcess;
let client: OpenAI;

beforeAll(async () => {
  upstream = await createNativeUpstream();
  gateway = await startGateway(
    {
      providers: [
        `anthropic: { use: anthropic, api_key: "\${env:ANTHROPIC_API_KEY}", base_url: ${upstream.url} }`,
      ],
      models: [
        "{ id: claude, targets: [{ provider: anthropic, model: claude-sonnet-4-5 }] }",
        '{ id: anthropic/*, targets: [{ provider: anthropic, model: "*" }] }',
      ],
    },
    { ANTHROPIC_API_KEY: KEY },
  );
  client = openaiClient(gateway);
});

afterAll(async () => {
  await gateway.dispose();
  await upstream.close();
});

const TOOLS = (
  JSON.parse(fixtures.text("tools/request").replaceAll("wetter.köln", "wetter_k_ln_a847054a")) as {
    tools: OpenAI.ChatCompletionTool[];
  }
).tools.slice(0, 3);
const ASK: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "Weather?" }];

describe("Claude behind the OpenAI SDK", () => {
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
      url: "/v1/messages",
      headers: { "x-api-key": KEY, "anthropic-version": "2023-06-01" },
    });
    const [row] = await rowsOf(gateway, response.headers.get("x-request-id") ?? "");
    expect(row).toMatchObject({ prompt_tokens: 12, completion_tokens: 6 });
  });

  it("streams the same words, and the usage to those who ask", async () => {
    upstream.reply(200, "text/event-stream; charset=utf-8", fixtures.text("text/stream"));
    const chunks = await streamChunks(client, { model: "claude", messages: ASK });
    expect(textOf(chunks)).toBe("Hello! Grüße 😀");
    expect(chunks.at(-1)?.usage).toMatchObject({
      prompt_tokens: 25,
      completion_tokens: 15,
      total_tokens: 40,
    });
    expect(upstream.lastBody()).toMatchObject({ stream: true, model: "claude-sonnet-4-5" });
  });

  it("calls three tools at once, whole and streamed, and takes their results in one turn", async () => {
    upstream.reply(200, "text/event-stream", fixtures.text("tools/stream"));
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
      messages: { role: string; content: { type: string; tool_use_id?: string }[] }[];
    };
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(messages[2]?.content.map((block) => block.tool_use_id)).toEqual([
      "toolu_1",
      "toolu_2",
      "toolu_3",
    ]);
  });

  it("gives its thoughts back and forth, byte by byte", async () => {
    upstream.reply(200, "application/json", fixtures.text("thinking/reply"));
    const reply = await client.chat.completions.create({
      model: "claude",
      messages: ASK,
      reasoning_effort: "low",
    });
    const message = reply.choices[0]?.message as OpenAI.ChatCompletionMessage & {
      thinking_blocks: object[];
    };
    await client.chat.completions.create({
      model: "claude",
      messages: [...ASK, message, { role: "user", content: "And?" }],
    });
    const { messages } = upstream.lastBody() as { messages: { content: object[] }[] };
    expect(messages[1]?.content.slice(0, 2)).toEqual(message.thinking_blocks);
  });

  it("refuses what it cannot take, or drops it where that was asked for", async () => {
    const asked = { model: "claude", messages: ASK, seed: 7, logprobs: true };
    await expect(client.chat.completions.create(asked)).rejects.toMatchObject({
      status: 400,
      param: "logprobs",
    });
    upstream.reply(200, "application/json", fixtures.text("text/reply"));
    const dropping = { ...asked, drop_params: true, temperature: 1.5 };
    const { response } = await client.chat.completions.create(dropping).withResponse();
    expect(response.headers.get("x-sluice-dropped-params")?.split(", ").toSorted()).toEqual([
      "logprobs",
      "seed",
      "temperature",
    ]);
    const audio = [
      { type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } },
    ] as const;
    await expect(
      client.chat.completions.create({
        model: "claude",
        messages: [{ role: "user", content: [...audio] }],
      }),
    ).rejects.toMatchObject({
      status: 400,
      param: "messages[0].content[0]",
    });
  });

  // Each a deployment of its own: one that failed rests. A refused credential rests them all, so it
  // comes last.
  it.each([
    [529, "overloaded_error", 503, "overloaded_error"],
    [429, "rate_limit_error", 429, "rate_limit_error"],
    [401, "authentication_error", 502, "upstream_error"],
  ])("turns its %i %s into %i %s", async (status, type, outward, outwardType) => {
    upstream.reply(
      status,
      "application/json",
      JSON.stringify({ type: "error", error: { type, message: "No." } }),
    );
    await expect(
      client.chat.completions.create({ model: `anthropic/${type}`, messages: ASK }),
    ).rejects.toMatchObject({
      status: outward,
      type: outwardType,
    });
  });
});
