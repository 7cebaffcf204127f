import type OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openaiClient, rowsOf } from "../support/client.ts";
import { fixturesOf } from "../support/fixtures.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";
import { functionsOf, streamChunks } from "../support/sdk-chat.ts";

const KEY = "mistral-credential-of-the-tests-0123456789";
const fixtures = fixturesOf("provider-mistral");

let upstream: NativeUpstream;
let gateway: GatewayProcess;
let client: OpenAI;

beforeAll(async () => {
  upstream = await createNativeUpstream();
  gateway = await startGateway(
    {
      providers: [
        `mistral: { use: mistral, api_key: "\${env:MISTRAL_API_KEY}", base_url: ${upstream.url}/v1 }`,
      ],
      models: ['{ id: mistral/*, targets: [{ provider: mistral, model: "*" }] }'],
    },
    { MISTRAL_API_KEY: KEY },
  );
  client = openaiClient(gateway);
});

afterAll(async () => {
  await gateway.dispose();
  await upstream.close();
});

const ASK: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "Weather?" }];
const TOOLS: OpenAI.ChatCompletionTool[] = ["get_weather", "now"].map((name) => ({
  type: "function",
  function: { name, parameters: { type: "object", properties: {} } },
}));
const MODEL = "mistral/mistral-large-2512";

describe("Mistral behind the OpenAI SDK", () => {
  it("answers whole, with usage and price in the row", async () => {
    upstream.reply(200, "application/json", fixtures.text("text/reply"));
    const { data: reply, response } = await client.chat.completions
      .create({ model: MODEL, messages: ASK, seed: 7 })
      .withResponse();
    expect(reply).toMatchObject({
      model: MODEL,
      choices: [{ message: { content: "Hello! How can I help?" }, finish_reason: "stop" }],
    });
    expect(upstream.requests.at(-1)).toMatchObject({
      url: "/v1/chat/completions",
      headers: { authorization: `Bearer ${KEY}` },
    });
    expect(upstream.lastBody()).toEqual({
      model: "mistral-large-2512",
      messages: ASK,
      random_seed: 7,
    });
    const [row] = await rowsOf(gateway, response.headers.get("x-request-id"));
    expect(row).toMatchObject({ prompt_tokens: 16, completion_tokens: 34, cost_status: "priced" });
  });

  it("streams thoughts and text, and the usage to those who ask", async () => {
    upstream.reply(200, "text/event-stream", fixtures.text("thinking/stream"));
    const chunks = await streamChunks(client, {
      model: "mistral/magistral-medium-2509",
      messages: ASK,
    });
    const deltas = chunks.map(
      ({ choices }) =>
        choices[0]?.delta as { content?: string; reasoning_content?: string } | undefined,
    );
    expect(deltas.map((delta) => delta?.content ?? "").join("")).toBe("It rains.");
    expect(deltas.map((delta) => delta?.reasoning_content ?? "").join("")).toBe("Let me see.");
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 20, completion_tokens: 50, total_tokens: 70 },
    });
    expect(upstream.lastBody()).not.toHaveProperty("stream_options");
  });

  it("calls tools at once, whole and streamed, and takes their results by ids of nine characters", async () => {
    upstream.reply(200, "text/event-stream", fixtures.text("tools/stream-same-index"));
    const streamed = await client.chat.completions
      .stream({ model: MODEL, messages: ASK, tools: TOOLS })
      .finalChatCompletion();
    const message = streamed.choices[0]?.message;
    expect(functionsOf(message)).toMatchObject([
      { name: "get_weather", arguments: '{"city":"Ulm"}' },
      { name: "now", arguments: "{}" },
    ]);
    upstream.reply(200, "application/json", fixtures.text("tools/reply"));
    const call = {
      id: "call_of_another_provider",
      type: "function" as const,
      function: { name: "now", arguments: "{}" },
    };
    const next = await client.chat.completions.create({
      model: MODEL,
      tools: TOOLS,
      tool_choice: "required",
      messages: [
        ...ASK,
        { role: "assistant", content: null, tool_calls: [call] },
        { role: "tool", tool_call_id: call.id, content: "12" },
      ],
    });
    expect(next.choices[0]).toMatchObject({ finish_reason: "tool_calls" });
    const sent = upstream.lastBody() as {
      tool_choice: string;
      messages: { tool_call_id?: string; tool_calls?: { id: string }[] }[];
    };
    expect(sent.tool_choice).toBe("any");
    expect(sent.messages[2]?.tool_call_id).toMatch(/^[a-zA-Z0-9]{9}$/);
    expect(sent.messages[1]?.tool_calls?.[0]?.id).toBe(sent.messages[2]?.tool_call_id);
  });

  it("embeds, in the format that the SDK asks for", async () => {
    upstream.reply(200, "application/json", fixtures.text("embeddings/reply"));
    const { data } = await client.embeddings.create({
      model: "mistral/mistral-embed",
      input: ["One", "Two"],
      dimensions: 2,
    });
    expect(data.map(({ embedding }) => embedding)).toEqual([
      [0.5, -0.25],
      [1, 0],
    ]);
    expect(upstream.lastBody()).toEqual({
      model: "mistral-embed",
      input: ["One", "Two"],
      output_dimension: 2,
    });
  });

  it("refuses what it cannot take, or drops it where that was asked for", async () => {
    const asked = { model: MODEL, messages: ASK, logit_bias: { "1": 1 } };
    await expect(client.chat.completions.create(asked)).rejects.toMatchObject({
      status: 400,
      param: "logit_bias",
    });
    upstream.reply(200, "application/json", fixtures.text("text/reply"));
    const dropping = { ...asked, reasoning_effort: "enormous" as "low", drop_params: true };
    const { response } = await client.chat.completions.create(dropping).withResponse();
    expect(response.headers.get("x-sluice-dropped-params")?.split(", ").toSorted()).toEqual([
      "logit_bias",
      "reasoning_effort",
    ]);
  });

  it("hands native requests on, and reads their usage", async () => {
    upstream.reply(
      200,
      "application/json",
      '{"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}}',
    );
    const response = await fetch(`${gateway.publicUrl}/mistral/v1/fim/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.masterKey}`, "content-type": "application/json" },
      body: '{"model":"codestral-2508","prompt":"def f("}',
    });
    await response.text();
    expect(upstream.requests.at(-1)).toMatchObject({
      url: "/v1/fim/completions",
      headers: { authorization: `Bearer ${KEY}` },
    });
    const [row] = await rowsOf(gateway, response.headers.get("x-request-id"));
    expect(row).toMatchObject({ total_tokens: 7, cost_status: "priced" });
  });

  // Each a deployment of its own: one that failed rests. A refused credential rests them all, so it
  // comes last.
  it.each([
    ["error-422", 422, 422],
    ["error-400-context", 400, 400],
    ["error-429", 429, 429],
    ["error-401", 401, 502],
  ])("turns its %s into %i", async (name, status, outward) => {
    const { body } = fixtures.json<{ body: object }>(`errors/${name}`);
    upstream.reply(status, "application/json", JSON.stringify(body));
    await expect(
      client.chat.completions.create({ model: `mistral/${name}`, messages: ASK }),
    ).rejects.toMatchObject({
      status: outward,
    });
  });
});
