/** Clients other than the OpenAI SDK, unmodified: LangChain and the AI SDK. */

import { HumanMessage } from "@langchain/core/messages";
import { ChatOpenAI, OpenAIEmbeddings } from "@langchain/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import {
  APICallError,
  embedMany,
  generateImage,
  generateText,
  jsonSchema,
  Output,
  streamText,
  tool,
  type ToolSet,
} from "ai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createUpstream, DEFAULT_TEXT, type Upstream } from "@sluice/testing";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { DEFAULT_MODELS } from "../support/workspace.ts";

const WEATHER = { name: "weather", arguments: '{"city":"Köln"}' };
const CITY = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
} as const;
const MODELS = [
  ...DEFAULT_MODELS,
  "{ id: text-embedding-3-small, mode: embedding, targets: [{ provider: openai, model: text-embedding-3-small }] }",
  "{ id: gpt-image-1, mode: image, targets: [{ provider: openai, model: gpt-image-1 }] }",
];

let upstream: Upstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createUpstream();
  gateway = await startGateway({ baseUrl: upstream.baseUrl, models: MODELS });
});
beforeEach(() => upstream.reset());
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

describe("LangChain", () => {
  const configuration = () => ({ baseURL: `${gateway.publicUrl}/v1` });
  const chat = (more: object = {}) =>
    new ChatOpenAI({
      model: "gpt-4o-mini",
      apiKey: gateway.masterKey,
      maxRetries: 0,
      configuration: configuration(),
      ...more,
    });

  it("chats, with the usage", async () => {
    const message = await chat().invoke([new HumanMessage("Hello")]);
    expect(message.content).toBe(DEFAULT_TEXT);
    expect(message.usage_metadata).toHaveProperty(
      "total_tokens",
      upstream.requests[0]?.usage?.total_tokens,
    );
  });

  it("streams", async () => {
    let text = "";
    for await (const chunk of await chat().stream([new HumanMessage("Hello")]))
      text += String(chunk.content);
    expect(text).toBe(DEFAULT_TEXT);
  });

  it("calls tools, whole and streamed", async () => {
    upstream.script({ kind: "reply", toolCalls: [WEATHER] });
    const bound = chat().bindTools([
      { type: "function", function: { name: "weather", description: "…", parameters: CITY } },
    ]);
    expect((await bound.invoke("Hello")).tool_calls).toMatchObject([
      { name: "weather", args: { city: "Köln" } },
    ]);
    let gathered: Awaited<ReturnType<typeof bound.invoke>> | undefined;
    for await (const chunk of await bound.stream("Hello"))
      gathered = gathered === undefined ? chunk : gathered.concat(chunk);
    expect(gathered?.tool_calls).toMatchObject([{ name: "weather", args: { city: "Köln" } }]);
  });

  it("gets structured output", async () => {
    upstream.script({ kind: "reply", text: '{"city":"Köln"}' });
    const structured = chat().withStructuredOutput(CITY, { name: "place", method: "jsonSchema" });
    expect(await structured.invoke("Where?")).toEqual({ city: "Köln" });
    expect(upstream.requests[0]?.parsed).toMatchObject({
      response_format: { type: "json_schema" },
    });
  });

  it("embeds", async () => {
    const embeddings = new OpenAIEmbeddings({
      model: "text-embedding-3-small",
      apiKey: gateway.masterKey,
      maxRetries: 0,
      configuration: configuration(),
    });
    const vectors = await embeddings.embedDocuments(["one", "two", "three"]);
    expect(vectors).toHaveLength(3);
    expect(new Set(vectors.map((vector) => vector.join())).size).toBe(3);
  });

  it("sees an unknown model as 404 and a wrong key as 401", async () => {
    await expect(chat({ model: "unlisted" }).invoke("Hello")).rejects.toMatchObject({
      status: 404,
    });
    await expect(chat({ apiKey: "sk-wrong" }).invoke("Hello")).rejects.toMatchObject({
      status: 401,
    });
  });
});

describe("the AI SDK", () => {
  const provider = (apiKey = gateway.masterKey) =>
    createOpenAICompatible({
      name: "sluice",
      baseURL: `${gateway.publicUrl}/v1`,
      apiKey,
      includeUsage: true,
      supportsStructuredOutputs: true,
    });
  const once = { maxRetries: 0 };

  it("generates text, with the usage", async () => {
    const { text, usage } = await generateText({
      ...once,
      model: provider()("gpt-4o-mini"),
      prompt: "Hello",
    });
    expect(text).toBe(DEFAULT_TEXT);
    expect(usage.totalTokens).toBe(upstream.requests[0]?.usage?.total_tokens);
  });

  it("streams text", async () => {
    const { textStream } = streamText({
      ...once,
      model: provider()("gpt-4o-mini"),
      prompt: "Hello",
    });
    let text = "";
    for await (const part of textStream) text += part;
    expect(text).toBe(DEFAULT_TEXT);
  });

  it("calls tools", async () => {
    upstream.script({ kind: "reply", toolCalls: [WEATHER] });
    // The SDK's own types do not admit a tool without `execute` under exactOptionalPropertyTypes.
    const weather: ToolSet[string] = tool({ description: "…", inputSchema: jsonSchema(CITY) });
    const { toolCalls, finishReason } = await generateText({
      ...once,
      model: provider()("gpt-4o-mini"),
      prompt: "Hello",
      tools: { weather },
    });
    expect(finishReason).toBe("tool-calls");
    expect(toolCalls).toMatchObject([{ toolName: "weather", input: { city: "Köln" } }]);
  });

  it("gets structured output", async () => {
    upstream.script({ kind: "reply", text: '{"city":"Köln"}' });
    const output = Output.object({ schema: jsonSchema<{ city: string }>(CITY) });
    const result = await generateText({
      ...once,
      model: provider()("gpt-4o-mini"),
      prompt: "Where?",
      output,
    });
    expect(result.output).toEqual({ city: "Köln" });
  });

  it("embeds many", async () => {
    const model = provider().embeddingModel("text-embedding-3-small");
    const { embeddings, usage } = await embedMany({ ...once, model, values: ["one", "two"] });
    expect(embeddings).toHaveLength(2);
    expect(usage.tokens).toBeGreaterThan(0);
  });

  it("makes an image", async () => {
    const { image } = await generateImage({
      ...once,
      model: provider().imageModel("gpt-image-1"),
      prompt: "A sluice",
    });
    expect(image.uint8Array.length).toBeGreaterThan(0);
  });

  it("sees an unknown model as 404 and a wrong key as 401", async () => {
    const fail = (model: string, key?: string) =>
      generateText({ ...once, model: provider(key)(model), prompt: "Hello" });
    const status = async (call: Promise<unknown>) => {
      const error = await call.then(
        () => undefined,
        (reason: unknown) => reason,
      );
      return APICallError.isInstance(error) ? error.statusCode : error;
    };
    expect(await status(fail("unlisted"))).toBe(404);
    expect(await status(fail("gpt-4o-mini", "sk-wrong"))).toBe(401);
  });
});
