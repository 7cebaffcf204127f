import { ApiError, GoogleGenAI, Type } from "@google/genai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rowsOf } from "../support/client.ts";
import { fixturesOf } from "../support/fixtures.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";
import type { WorkspaceOptions } from "../support/workspace.ts";

const KEY = "google-credential-of-the-tests-0123456789";
const google = fixturesOf("provider-google");

let upstream: NativeUpstream;
let gateway: GatewayProcess;
let ai: GoogleGenAI;

beforeAll(async () => {
  upstream = await createNativeUpstream();
  const place: WorkspaceOptions = {
    baseUrl: `${upstream.url}/v1`,
    attempts: 1,
    providers: [
      `gemini: { use: gemini, api_key: "\${env:GEMINI_API_KEY}", base_url: ${upstream.url} }`,
      `anthropic: { use: anthropic, api_key: "\${env:GEMINI_API_KEY}", base_url: ${upstream.url} }`,
    ],
    models: [
      '{ id: "openai/*", targets: [{ provider: openai, model: "*" }] }',
      "{ id: gemini-3-flash, targets: [{ provider: gemini, model: gemini-3-flash }] }",
      '{ id: "google/*", targets: [{ provider: gemini, model: "*" }] }',
      '{ id: "anthropic/*", targets: [{ provider: anthropic, model: "*" }] }',
    ],
  };
  gateway = await startGateway(place, { GEMINI_API_KEY: KEY });
  ai = clientOf(gateway.masterKey);
});

afterAll(async () => {
  await gateway.dispose();
  await upstream.close();
});

function clientOf(apiKey: string, apiVersion?: string): GoogleGenAI {
  const version = apiVersion === undefined ? {} : { apiVersion };
  const httpOptions = { baseUrl: gateway.publicUrl, retryOptions: { attempts: 1 }, ...version };
  return new GoogleGenAI({ apiKey, vertexai: false, httpOptions });
}

const chunk = (choice: object): string =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: {}, finish_reason: null, ...choice }] })}\n\n`;
const USAGE = { prompt_tokens: 5, completion_tokens: 6, total_tokens: 11 };
const TEXT = [
  chunk({ delta: { role: "assistant", content: "" } }),
  chunk({ delta: { content: "Grü" } }),
  chunk({ delta: { content: "ße." } }),
].join("");
const END = `${chunk({ finish_reason: "stop" })}data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [], usage: USAGE })}\n\ndata: [DONE]\n\n`;

async function streamed(model: string): Promise<{ text: string; tokens: number | undefined }> {
  let text = "";
  let tokens: number | undefined;
  for await (const each of await ai.models.generateContentStream({ model, contents: "Hi" })) {
    text += each.text ?? "";
    tokens = each.usageMetadata?.totalTokenCount ?? tokens;
  }
  return { text, tokens };
}

describe("the SDK of Google before a model of OpenAI", () => {
  it("gets a stream, and the row has its usage", async () => {
    upstream.reply(200, "text/event-stream", TEXT + END);
    expect(await streamed("openai/gpt-4o")).toEqual({ text: "Grüße.", tokens: 11 });
    expect(upstream.lastBody()).toMatchObject({
      model: "gpt-4o",
      messages: [{ role: "user", content: "Hi" }],
      stream: true,
    });
  });

  it("gets calls, whole", async () => {
    const call = { id: "c1", type: "function", function: { name: "f", arguments: '{"a":1}' } };
    const message = { role: "assistant", content: null, tool_calls: [call] };
    upstream.answer((response) => {
      const choices = [{ index: 0, message, finish_reason: "tool_calls" }];
      const body = { id: "c", object: "chat.completion", created: 1, model: "m", choices };
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ ...body, usage: USAGE }));
    });
    const reply = await ai.models.generateContent({
      model: "openai/gpt-4o",
      contents: "Hi",
      config: {
        topK: 64,
        tools: [{ functionDeclarations: [{ name: "f", parameters: { type: Type.OBJECT } }] }],
      },
    });
    expect(reply.functionCalls).toEqual([{ id: "c1", name: "f", args: { a: 1 } }]);
    const headers = reply.sdkHttpResponse?.headers ?? {};
    expect(headers["x-sluice-dropped-params"]).toBe("generationConfig.topK");
    const [row] = await rowsOf(gateway, headers["x-request-id"] ?? null);
    expect(row).toMatchObject({ status: "success", total_tokens: 11 });
  });

  it("gets the SDK's error for a refusal, a failure, and a stream that breaks", async () => {
    const error = async (ask: Promise<unknown>): Promise<ApiError> =>
      (await ask.catch((thrown: unknown) => thrown)) as ApiError;
    upstream.reply(429, "application/json", '{"error":{"message":"Slow down."}}');
    const limited = await error(
      ai.models.generateContent({ model: "openai/gpt-4o", contents: "Hi" }),
    );
    expect(limited).toBeInstanceOf(ApiError);
    expect([limited.status, limited.message]).toEqual([
      429,
      expect.stringContaining("RESOURCE_EXHAUSTED"),
    ]);
    const unknown = await error(
      clientOf("sk-unknown-0123456789").models.generateContent({ model: "m", contents: "Hi" }),
    );
    expect([unknown.status, unknown.message]).toEqual([
      401,
      expect.stringContaining("UNAUTHENTICATED"),
    ]);
    upstream.reply(200, "text/event-stream", TEXT);
    const cut = await error(streamed("openai/gpt-4o"));
    expect(cut).toBeInstanceOf(ApiError);
    expect(cut.status).toBe(502);
  });

  it("is refused what Google's own API alone has", async () => {
    const ask = ai.models.generateContent({
      model: "openai/gpt-4o",
      contents: "Hi",
      config: { cachedContent: "cachedContents/1" },
    });
    await expect(ask).rejects.toThrow(/cachedContent/);
  });
});

describe("the SDK of Google before its own models", () => {
  it("has its document sent as it is", async () => {
    upstream.reply(200, "application/json", google.text("gemini/text/reply"));
    const reply = await ai.models.generateContent({
      model: "google/gemini-3-flash",
      contents: "Hi",
      config: { topK: 64, cachedContent: "cachedContents/1" },
    });
    expect(reply.text).toBe("Hello! How can I help?");
    expect(reply.modelVersion).toBe("google/gemini-3-flash");
    expect(upstream.requests.at(-1)?.url).toBe("/v1beta/models/gemini-3-flash:generateContent");
    expect(upstream.lastBody()).toEqual({
      contents: [{ role: "user", parts: [{ text: "Hi" }] }],
      generationConfig: { topK: 64 },
      cachedContent: "cachedContents/1",
    });
  });

  it("gets streams", async () => {
    upstream.reply(200, "text/event-stream", google.text("gemini/text/stream"));
    const { text } = await streamed("google/gemini-3-flash");
    expect(text).not.toBe("");
    expect(upstream.requests.at(-1)?.url).toBe(
      "/v1beta/models/gemini-3-flash:streamGenerateContent?alt=sse",
    );
  });
});

describe("the SDK of Google before a model that thinks", () => {
  it("brings the signed thoughts back", async () => {
    const block = { type: "thinking", thinking: "Hm.", signature: "c2ln" };
    const call = { type: "tool_use", id: "toolu_1", name: "f", input: { a: 1 } };
    const answer = (content: readonly object[], stop_reason: string): void =>
      upstream.reply(
        200,
        "application/json",
        JSON.stringify({
          id: "msg_1",
          type: "message",
          role: "assistant",
          model: "claude",
          content,
          stop_reason,
          usage: { input_tokens: 1, output_tokens: 2 },
        }),
      );
    const functionDeclarations = [{ name: "f", parameters: { type: Type.OBJECT } }];
    const chat = ai.chats.create({
      model: "anthropic/claude-sonnet-4-5",
      config: { tools: [{ functionDeclarations }], thinkingConfig: { thinkingBudget: 2_000 } },
    });
    answer([block, call], "tool_use");
    const { functionCalls } = await chat.sendMessage({ message: "Hi" });
    expect(functionCalls).toEqual([{ id: "toolu_1", name: "f", args: { a: 1 } }]);
    answer([{ type: "text", text: "Done." }], "end_turn");
    const functionResponse = { id: "toolu_1", name: "f", response: { output: "ok" } };
    const done = await chat.sendMessage({ message: [{ functionResponse }] });
    expect(done.text).toBe("Done.");
    expect(upstream.lastBody()).toMatchObject({
      messages: [
        { role: "user" },
        { role: "assistant", content: [block, call] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1" }] },
      ],
    });
  });
});

describe("the other calls of the SDK", () => {
  it.each([undefined, "v1beta"])("count tokens and list models of version %s", async (version) => {
    const before = upstream.requests.length;
    const client = clientOf(gateway.masterKey, version);
    const { totalTokens } = await client.models.countTokens({
      model: "openai/gpt-4o",
      contents: "Hi",
    });
    expect(totalTokens).toBeGreaterThan(0);
    const names: (string | undefined)[] = [];
    for await (const { name } of await client.models.list()) names.push(name);
    expect(names).toContain("models/gemini-3-flash");
    expect((await client.models.get({ model: "openai/gpt-4o" })).name).toBe("models/openai/gpt-4o");
    expect(upstream.requests.length).toBe(before);
  });
});
