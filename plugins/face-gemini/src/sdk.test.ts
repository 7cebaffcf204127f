/** The unmodified SDK of the API, @google/genai, in front of the face. */

import { ApiError, FunctionCallingConfigMode, GoogleGenAI, Type } from "@google/genai";
import { GatewayError, type JsonObject } from "@sluice/contract";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { completion, delta, serve, type Served, USAGE } from "./serve.fixture.ts";

let served: Served;
let ai: GoogleGenAI;
beforeAll(async () => {
  served = await serve();
  ai = new GoogleGenAI({
    apiKey: "k",
    vertexai: false,
    httpOptions: { baseUrl: served.url, retryOptions: { attempts: 1 } },
  });
});
afterAll(() => served.close());
beforeEach(() => {
  served.bodies.length = 0;
  served.isReadAtOnce = false;
});

const CALL = {
  id: "toolu_1",
  type: "function",
  function: { name: "weather", arguments: '{"city":"Bern"}' },
};
const WEATHER = {
  functionDeclarations: [
    {
      name: "weather",
      description: "Weather of a city.",
      parameters: {
        type: Type.OBJECT,
        properties: { city: { type: Type.STRING, nullable: true } },
        required: ["city"],
      },
    },
  ],
};

describe("generateContent", () => {
  it("answers with text, usage and reason", async () => {
    served.reply = completion({ content: "Hello." });
    const reply = await ai.models.generateContent({
      model: "openai/gpt-5:mini",
      contents: "Hi",
      config: {
        systemInstruction: "Be brief.",
        temperature: 0.5,
        maxOutputTokens: 9,
        stopSequences: ["END"],
      },
    });
    expect(reply.text).toBe("Hello.");
    expect(reply.candidates?.[0]?.finishReason).toBe("STOP");
    expect(reply.modelVersion).toBe("m");
    expect(reply.usageMetadata).toMatchObject({
      promptTokenCount: 5,
      cachedContentTokenCount: 2,
      candidatesTokenCount: 2,
      thoughtsTokenCount: 4,
      totalTokenCount: 11,
    });
    expect(served.bodies).toEqual([
      {
        model: "openai/gpt-5:mini",
        messages: [
          { role: "system", content: "Be brief." },
          { role: "user", content: "Hi" },
        ],
        temperature: 0.5,
        max_completion_tokens: 9,
        stop: ["END"],
      },
    ]);
  });

  it("takes images, and asks for JSON of a schema", async () => {
    served.reply = completion({ content: '{"a":1}' });
    const reply = await ai.models.generateContent({
      model: "m",
      contents: ["What is it?", { inlineData: { mimeType: "image/png", data: "AAAA" } }],
      config: {
        responseMimeType: "application/json",
        responseSchema: { type: Type.OBJECT, properties: { a: { type: Type.INTEGER } } },
      },
    });
    expect(JSON.parse(reply.text ?? "")).toEqual({ a: 1 });
    expect(served.bodies[0]).toMatchObject({
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "What is it?" },
            { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
          ],
        },
      ],
      response_format: {
        type: "json_schema",
        json_schema: {
          name: "response",
          schema: { type: "object", properties: { a: { type: "integer" } } },
        },
      },
    });
  });

  it("shows thoughts where they are asked for", async () => {
    served.reply = completion({ content: "Yes.", reasoning_content: "Hm." });
    const ask = async (includeThoughts: boolean) =>
      ai.models.generateContent({
        model: "m",
        contents: "Why?",
        config: { thinkingConfig: { includeThoughts, thinkingBudget: 4_000 } },
      });
    const parts = (await ask(true)).candidates?.[0]?.content?.parts;
    expect(parts).toEqual([{ text: "Hm.", thought: true }, { text: "Yes." }]);
    expect((await ask(false)).candidates?.[0]?.content?.parts).toEqual([{ text: "Yes." }]);
    expect(served.bodies[0]).toMatchObject({ reasoning_effort: "low" });
  });

  it("gives a choice of tools on", async () => {
    served.reply = completion({ content: null, tool_calls: [CALL] }, "tool_calls");
    const reply = await ai.models.generateContent({
      model: "m",
      contents: "Weather?",
      config: {
        tools: [WEATHER],
        toolConfig: {
          functionCallingConfig: {
            mode: FunctionCallingConfigMode.ANY,
            allowedFunctionNames: ["weather"],
          },
        },
      },
    });
    expect(reply.functionCalls).toEqual([
      { id: "toolu_1", name: "weather", args: { city: "Bern" } },
    ]);
    expect(served.bodies[0]).toMatchObject({
      tools: [
        {
          type: "function",
          function: {
            name: "weather",
            parameters: { type: "object", properties: { city: { type: ["string", "null"] } } },
          },
        },
      ],
      tool_choice: { type: "function", function: { name: "weather" } },
    });
  });
});

const STREAM: readonly JsonObject[] = [
  delta({ role: "assistant", content: "" }),
  delta({ reasoning_content: "H" }),
  delta({ reasoning_content: "m." }),
  delta({ thinking_blocks: [{ type: "thinking", thinking: "Hm.", signature: "c2ln" }] }),
  delta({ content: "Grü" }),
  delta({ content: "ße." }),
  delta({ tool_calls: [{ index: 0, ...CALL, function: { name: "weather", arguments: "" } }] }),
  delta({ tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] }),
  delta({ tool_calls: [{ index: 0, function: { arguments: '"Bern"}' } }] }),
  delta({}, "tool_calls"),
  { choices: [], usage: USAGE },
];

describe("a chat on streams", () => {
  it("sends calls whole, and what the model thought comes back with their results", async () => {
    served.reply = STREAM;
    const config = { tools: [WEATHER], thinkingConfig: { includeThoughts: true } };
    const chat = ai.chats.create({ model: "m", config });
    const texts: string[] = [];
    let calls: unknown[] = [];
    let tokens: number | undefined;
    for await (const chunk of await chat.sendMessageStream({ message: "Weather?" })) {
      for (const part of chunk.candidates?.[0]?.content?.parts ?? [])
        if (part.text !== undefined && part.thought !== true) texts.push(part.text);
      calls = [...calls, ...(chunk.functionCalls ?? [])];
      tokens = chunk.usageMetadata?.totalTokenCount ?? tokens;
    }
    expect(texts.join("")).toBe("Grüße.");
    expect(calls).toEqual([{ id: "toolu_1", name: "weather", args: { city: "Bern" } }]);
    expect(tokens).toBe(11);

    served.reply = completion({ content: "Sun." });
    const answer = await chat.sendMessage({
      message: [
        { functionResponse: { id: "toolu_1", name: "weather", response: { output: "sunny" } } },
      ],
    });
    expect(answer.text).toBe("Sun.");
    expect(served.bodies[1]?.messages).toEqual([
      { role: "user", content: "Weather?" },
      {
        role: "assistant",
        content: "Grüße.",
        thinking_blocks: [{ type: "thinking", thinking: "Hm.", signature: "c2ln" }],
        tool_calls: [CALL],
      },
      { role: "tool", tool_call_id: "toolu_1", content: "sunny" },
    ]);
  });

  it("returns what a provider needs without thoughts and without calls", async () => {
    served.reply = [...STREAM.slice(0, 6), delta({}, "stop"), { choices: [], usage: USAGE }];
    const chat = ai.chats.create({ model: "m" });
    for await (const chunk of await chat.sendMessageStream({ message: "Hi" }))
      expect(chunk.responseId).toBe("r-1");
    served.reply = completion({ content: "Bye." });
    await chat.sendMessage({ message: "Bye" });
    expect(served.bodies[1]?.messages).toMatchObject([
      { role: "user", content: "Hi" },
      {
        role: "assistant",
        content: "Grüße.",
        thinking_blocks: [{ type: "thinking", thinking: "Hm.", signature: "c2ln" }],
      },
      { role: "user", content: "Bye" },
    ]);
  });
});

describe("an error", () => {
  it("is the SDK's own class with status and body", async () => {
    served.reply = new GatewayError("rate_limited", "Slow down.", { retryAfterMs: 1_500 });
    const error = await ai.models
      .generateContent({ model: "m", contents: "Hi" })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect((error as ApiError).status).toBe(429);
    const body = JSON.parse((error as ApiError).message) as { error: JsonObject };
    expect(body.error).toMatchObject({ code: 429, status: "RESOURCE_EXHAUSTED" });
  });

  it.each([false, true])("within a stream ends it, all read at once: %s", async (isReadAtOnce) => {
    served.isReadAtOnce = isReadAtOnce;
    served.reply = [...STREAM.slice(0, 6), new GatewayError("upstream_failed", "It failed.")];
    const read = async (): Promise<void> => {
      const stream = await ai.models.generateContentStream({ model: "m", contents: "Hi" });
      for await (const chunk of stream) expect(chunk.candidates).toHaveLength(1);
    };
    const error = await read().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect((error as ApiError).status).toBe(502);
    expect((error as ApiError).message).toContain("It failed.");
  });

  it("names the client's own path", async () => {
    await expect(
      ai.models.generateContent({ model: "m", contents: "Hi", config: { temperature: 3 } }),
    ).rejects.toThrow(/generationConfig\.temperature must be a number from 0 to 2/);
  });
});

describe("the other calls", () => {
  it("count tokens", async () => {
    const { totalTokens } = await ai.models.countTokens({ model: "m", contents: "Hi" });
    expect(totalTokens).toBe(7);
    expect(served.bodies).toEqual([{ model: "m", messages: [{ role: "user", content: "Hi" }] }]);
  });

  it("list models", async () => {
    const names: (string | undefined)[] = [];
    for await (const { name } of await ai.models.list()) names.push(name);
    expect(names).toEqual(["models/a/b:c"]);
    const model = await ai.models.get({ model: "a/b:c" });
    expect(model).toMatchObject({ name: "models/a/b:c", inputTokenLimit: 1_000 });
  });
});
