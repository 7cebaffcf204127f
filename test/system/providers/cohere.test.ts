import type OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openaiClient, rowsOf } from "../support/client.ts";
import { fixturesOf } from "../support/fixtures.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";
import { functionsOf, streamChunks } from "../support/sdk-chat.ts";

const KEY = "cohere-credential-of-the-tests-0123456789";
const fixtures = fixturesOf("provider-cohere");

let upstream: NativeUpstream;
let gateway: GatewayProcess;
let client: OpenAI;

beforeAll(async () => {
  upstream = await createNativeUpstream();
  gateway = await startGateway(
    {
      providers: [
        `cohere: { use: cohere, api_key: "\${env:COHERE_API_KEY}", base_url: ${upstream.url} }`,
      ],
      models: ['{ id: cohere/*, targets: [{ provider: cohere, model: "*" }] }'],
    },
    { COHERE_API_KEY: KEY },
  );
  client = openaiClient(gateway);
});

afterAll(async () => {
  await gateway.dispose();
  await upstream.close();
});

const ASK: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "Weather?" }];
const TOOLS: OpenAI.ChatCompletionTool[] = ["get_weather", "wetter_k_ln_a847054a", "now"].map(
  (name) => ({
    type: "function",
    function: { name, parameters: { type: "object", properties: {} } },
  }),
);
const MODEL = "cohere/command-a-03-2025";

describe("Cohere behind the OpenAI SDK", () => {
  it("answers whole, the tokens in the row and the price of the billed units", async () => {
    upstream.reply(200, "application/json", fixtures.text("text/reply"));
    const { data: reply, response } = await client.chat.completions
      .create({ model: MODEL, messages: ASK, top_p: 0.5 })
      .withResponse();
    expect(reply).toMatchObject({
      model: MODEL,
      choices: [{ message: { content: "Hello! Grüße 😀" }, finish_reason: "stop" }],
    });
    expect(upstream.requests.at(-1)).toMatchObject({
      url: "/v2/chat",
      headers: { authorization: `Bearer ${KEY}` },
    });
    expect(upstream.lastBody()).toEqual({ model: "command-a-03-2025", messages: ASK, p: 0.5 });
    const [row] = await rowsOf(gateway, response.headers.get("x-request-id"));
    expect(row).toMatchObject({ prompt_tokens: 499, completion_tokens: 8, cost_status: "priced" });
  });

  it("streams text with its citations, and the usage to those who ask", async () => {
    upstream.reply(200, "text/event-stream", fixtures.text("documents/stream"));
    const chunks = await streamChunks(client, { model: MODEL, messages: ASK });
    const deltas = chunks.map(
      ({ choices }) => choices[0]?.delta as { content?: string; citations?: object[] } | undefined,
    );
    expect(deltas.map((delta) => delta?.content ?? "").join("")).toBe("Emperor penguins.");
    expect(deltas.flatMap((delta) => delta?.citations ?? [])).toMatchObject([{ start: 0, end: 5 }]);
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 499, completion_tokens: 8, total_tokens: 507 },
    });
  });

  it("calls three tools at once after a plan, and takes plan and results back", async () => {
    upstream.reply(200, "text/event-stream", fixtures.text("tools/stream"));
    const streamed = await client.chat.completions
      .stream({ model: MODEL, messages: ASK, tools: TOOLS })
      .finalChatCompletion();
    const message = streamed.choices[0]?.message;
    expect(functionsOf(message)).toMatchObject([
      { name: "get_weather", arguments: '{"city":"Berlin"}' },
      { name: "wetter_k_ln_a847054a", arguments: "{}" },
      { name: "now", arguments: "{}" },
    ]);
    upstream.reply(200, "application/json", fixtures.text("tools/reply"));
    const results = (message?.tool_calls ?? []).map(({ id }) => ({
      role: "tool" as const,
      tool_call_id: id,
      content: id,
    }));
    const next = await client.chat.completions.create({
      model: MODEL,
      tools: TOOLS,
      messages: [
        ...ASK,
        {
          role: "assistant",
          content: null,
          tool_calls: message?.tool_calls ?? [],
          reasoning_content: "I will look.",
        } as object as OpenAI.ChatCompletionMessageParam,
        ...results.toReversed(),
      ],
    });
    expect(next.choices[0]).toMatchObject({
      finish_reason: "tool_calls",
      message: { reasoning_content: "I will look at the weather." },
    });
    const { messages } = upstream.lastBody() as {
      messages: { role: string; tool_plan?: string; tool_call_id?: string }[];
    };
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool", "tool"]);
    expect(messages[1]?.tool_plan).toBe("I will look.");
    expect(messages.slice(2).map((each) => each.tool_call_id)).toEqual([
      "get_weather_nsz5zm3w56q3",
      "wetter_1",
      "now_1",
    ]);
  });

  it("embeds, in the format that the SDK asks for, with the purpose that it says", async () => {
    upstream.reply(200, "application/json", fixtures.text("embeddings/reply"));
    const asked = { model: "cohere/embed-v4.0", input: ["One", "Two"], input_type: "search_query" };
    const { data, response } = await client.embeddings.create(asked).withResponse();
    expect(data.data.map(({ embedding }) => embedding)).toEqual([
      [0.5, -0.25],
      [1, 0],
    ]);
    expect(upstream.lastBody()).toMatchObject({
      texts: ["One", "Two"],
      input_type: "search_query",
      embedding_types: ["float"],
    });
    const [row] = await rowsOf(gateway, response.headers.get("x-request-id"));
    expect(row).toMatchObject({ prompt_tokens: 4, cost_status: "priced" });
  });

  it("embeds more inputs than one call takes by several calls", async () => {
    upstream.answer((response, { body }) => {
      const { texts } = JSON.parse(body.toString()) as { texts: string[] };
      const embeddings = { float: texts.map((text) => [Number(text)]) };
      response.end(
        JSON.stringify({ embeddings, meta: { billed_units: { input_tokens: texts.length } } }),
      );
    });
    const before = upstream.requests.length;
    const input = Array.from({ length: 97 }, (_, index) => String(index));
    const { data, usage } = await client.embeddings.create({ model: "cohere/embed-v4.0", input });
    expect(data.map(({ embedding }) => embedding[0])).toEqual(input.map(Number));
    expect(usage).toEqual({ prompt_tokens: 97, total_tokens: 97 });
    expect(upstream.requests.length - before).toBe(2);
  });

  it("refuses what it cannot take, or drops it where that was asked for", async () => {
    const asked = { model: MODEL, messages: ASK, presence_penalty: -1 };
    await expect(client.chat.completions.create(asked)).rejects.toMatchObject({
      status: 400,
      param: "presence_penalty",
    });
    upstream.reply(200, "application/json", fixtures.text("text/reply"));
    const dropping = { ...asked, logprobs: true, drop_params: true };
    const { response } = await client.chat.completions.create(dropping).withResponse();
    expect(response.headers.get("x-sluice-dropped-params")?.split(", ").toSorted()).toEqual([
      "logprobs",
      "presence_penalty",
    ]);
  });

  it("hands native requests on, and reads their billed units", async () => {
    upstream.reply(200, "application/json", fixtures.text("text/reply"));
    const response = await fetch(`${gateway.publicUrl}/cohere/v2/chat`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.masterKey}`, "content-type": "application/json" },
      body: '{"model":"command-a-03-2025","messages":[{"role":"user","content":"Hi"}]}',
    });
    await response.text();
    expect(upstream.requests.at(-1)).toMatchObject({
      url: "/v2/chat",
      headers: { authorization: `Bearer ${KEY}` },
    });
    const [row] = await rowsOf(gateway, response.headers.get("x-request-id"));
    expect(row).toMatchObject({ prompt_tokens: 499, completion_tokens: 8, cost_status: "priced" });
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
      client.chat.completions.create({ model: `cohere/${name}`, messages: ASK }),
    ).rejects.toMatchObject({
      status: outward,
    });
  });
});
