/**
 * LangChain's model of Anthropic, unmodified, through the Messages face: relayed by an upstream of
 * Anthropic, translated for one of OpenAI. The model is scripted.
 */

import { ChatAnthropic } from "@langchain/anthropic";
import { ContextOverflowError } from "@langchain/core/errors";
import { type AIMessageChunk, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey } from "../support/client.ts";
import { fourProviders, PROVIDER_ENVIRONMENT } from "../support/faces/four-providers.ts";
import { createScriptedModel, type ScriptedModel } from "../support/faces/scripted-model.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";

const KINDS = ["anthropic", "openai"] as const;
const PICTURE = "iVBORw0KGgozqpicturezqAAAAAA";
const CITY = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
} as const;
const WEATHER = { name: "weather", description: "The weather.", input_schema: CITY };
const CALLS = [
  { id: "toolu_1", name: "weather", input: { city: "Lima" } },
  { id: "toolu_2", name: "weather", input: { city: "Köln" } },
];

/**
 * Of a stream, LangChain reads the tokens of the prompt in the first event alone, and adds those of
 * the reply in the first and the last event. OpenAI reports both in its last chunk: the first event
 * has an estimate.
 */
const STREAM_USAGE = {
  anthropic: { input_tokens: 20, output_tokens: 1 + 5 },
  openai: {
    input_tokens: expect.toSatisfy((tokens: number) => tokens > 4 && tokens < 40),
    output_tokens: 5,
  },
};

let model: ScriptedModel;
let gateway: GatewayProcess;

beforeAll(async () => {
  model = await createScriptedModel();
  gateway = await startGateway(fourProviders(model.url), PROVIDER_ENVIRONMENT);
});
afterAll(async () => {
  await gateway?.dispose();
  gateway?.workspace.remove();
  await model?.close();
});

const SIGNED_THOUGHT = JSON.stringify({
  type: "thinking",
  thinking: "zqthoughtzq",
  signature: Buffer.from("a signature of the scripted model").toString("base64"),
});

type Fields = ConstructorParameters<typeof ChatAnthropic>[0] & object;

const chat = (id: string, more: Fields = {}): ChatAnthropic =>
  new ChatAnthropic({
    model: id,
    apiKey: gateway.masterKey,
    anthropicApiUrl: gateway.publicUrl,
    maxTokens: 4_000,
    maxRetries: 0,
    ...more,
  });

/** The chunks of a stream as the one message that they make. */
async function gathered(stream: AsyncIterable<AIMessageChunk>): Promise<AIMessageChunk> {
  let whole: AIMessageChunk | undefined;
  for await (const chunk of stream) whole = whole === undefined ? chunk : whole.concat(chunk);
  if (whole === undefined) throw new Error("The stream has no chunk.");
  return whole;
}

const failure = (asked: Promise<unknown>): Promise<unknown> =>
  asked.then(
    () => undefined,
    (error: unknown) => error,
  );

const sent = (): string => JSON.stringify(model.lastBody());

describe.each(KINDS)("LangChain's ChatAnthropic, on %s", (id) => {
  it("text and usage, whole and streamed", async () => {
    model.says({ text: "Some words.", piece: 4 });
    const whole = await chat(id).invoke("Hi");
    const streamed = await gathered(await chat(id).stream("Hi"));
    for (const { text, response_metadata } of [whole, streamed]) {
      expect(text).toBe("Some words.");
      expect(response_metadata).toMatchObject({ model_provider: "anthropic" });
    }
    expect(whole.usage_metadata).toMatchObject({ input_tokens: 20, output_tokens: 5 });
    expect(streamed.usage_metadata).toMatchObject(STREAM_USAGE[id]);
    expect(whole.response_metadata).toMatchObject({ stop_reason: "end_turn", model: id });
  });

  it("two parallel tools, whole and streamed, and their results", async () => {
    const bound = chat(id).bindTools([WEATHER]);
    const question = new HumanMessage("How is the weather?");
    model.says({ text: "I look.", calls: CALLS, piece: 4 });
    const whole = await bound.invoke([question]);
    const streamed = await gathered(await bound.stream([question]));
    for (const { text, tool_calls } of [whole, streamed]) {
      expect(text).toBe("I look.");
      expect(tool_calls).toMatchObject(
        CALLS.map(({ input, ...call }) => ({ ...call, args: input })),
      );
    }
    model.says({ text: "Rain and sun." });
    for (const reply of [whole, streamed]) {
      const results = CALLS.map(
        (call) => new ToolMessage({ tool_call_id: call.id, content: `zq${call.id}zq` }),
      );
      // oxlint-disable-next-line no-await-in-loop -- one conversation after the other.
      expect((await bound.invoke([question, reply, ...results])).text).toBe("Rain and sun.");
      for (const part of ["I look.", "Lima", "Köln", "zqtoolu_1zq", "zqtoolu_2zq"])
        expect(sent()).toContain(part);
    }
  });

  it("structured output by a schema and by a tool", async () => {
    model.says({ text: '{"city":"Lima"}' });
    const schema = { ...CITY, title: "place" };
    const bySchema = chat(id).withStructuredOutput(schema, { method: "jsonSchema" });
    expect(await bySchema.invoke("Where?")).toEqual({ city: "Lima" });
    expect(sent()).toMatch(/"json_schema"/);
    model.says({ calls: [{ id: "toolu_1", name: "place", input: { city: "Lima" } }] });
    const byTool = chat(id).withStructuredOutput(schema, { name: "place" });
    expect(await byTool.invoke("Where?")).toEqual({ city: "Lima" });
    expect(sent()).toMatch(/"tool_choice":\{[^}]*"(?:tool|function)"/);
  });

  it("images", async () => {
    model.says({ text: "A picture." });
    const content = [
      { type: "text" as const, text: "What is it?" },
      { type: "image" as const, mimeType: "image/png", data: PICTURE },
    ];
    const { text } = await chat(id).invoke([new HumanMessage({ contentBlocks: content })]);
    expect(text).toBe("A picture.");
    expect(sent()).toContain("zqpicturezq");
  });

  it("thoughts, whole and streamed, that come back with the results of tools", async () => {
    const [call] = CALLS;
    const said = { thought: "zqthoughtzq", calls: [call!], piece: 4 };
    const thinking = { type: "enabled" as const, budget_tokens: 2_000 };
    const bound = chat(id, { thinking }).bindTools([WEATHER]);
    const question = new HumanMessage("How is the weather?");
    model.says(said);
    const whole = await bound.invoke([question]);
    const streamed = await gathered(await bound.stream([question]));
    model.says({ text: "Rain." });
    for (const reply of [whole, streamed]) {
      const [thought] = reply.contentBlocks;
      expect(thought).toMatchObject({ type: "reasoning", reasoning: "zqthoughtzq" });
      const result = new ToolMessage({ tool_call_id: "toolu_1", content: "rain" });
      // oxlint-disable-next-line no-await-in-loop -- one conversation after the other.
      expect((await bound.invoke([question, reply, result])).text).toBe("Rain.");
      // Only Anthropic takes thoughts back with their signatures.
      expect(sent().includes(SIGNED_THOUGHT)).toBe(id === "anthropic");
    }
  });

  it("errors of the SDK's own classes, with LangChain's codes", async () => {
    const limited = { status: 429, headers: { "retry-after": "7" } };
    model.says({ failure: limited });
    const { key } = await createKey(gateway, { models: ["gemini"] });
    const failing: [() => Promise<unknown>, string, number, string][] = [
      [() => chat(id).invoke("Hi"), "RateLimitError", 429, "MODEL_RATE_LIMIT"],
      [() => chat(id).stream("Hi"), "RateLimitError", 429, "MODEL_RATE_LIMIT"],
      [() => chat("absent").invoke("Hi"), "NotFoundError", 404, "MODEL_NOT_FOUND"],
      [() => chat(id, { apiKey: key }).invoke("Hi"), "NotFoundError", 404, "MODEL_NOT_FOUND"],
      [
        () => chat(id, { apiKey: "sk-wrong" }).stream("Hi"),
        "AuthenticationError",
        401,
        "MODEL_AUTHENTICATION",
      ],
    ];
    for (const [asked, name, status, code] of failing) {
      // oxlint-disable-next-line no-await-in-loop -- all of them are asked.
      const error = await failure(asked());
      expect((error as Error).constructor.name).toBe(name);
      expect(error).toMatchObject({ status, lc_error_code: code });
    }
  });

  it("a prompt that is too long as the overflow of the context", async () => {
    const message =
      id === "anthropic"
        ? "prompt is too long: 210000 tokens > 200000 maximum"
        : "This model's maximum context length is 128000 tokens. However, your messages resulted in 210000 tokens.";
    model.says({ failure: { status: 400, message } });
    const error = await failure(chat(id).invoke("Hi"));
    expect(ContextOverflowError.isInstance(error)).toBe(true);
  });

  it("a stream that is cut as an error, not as a short reply", async () => {
    model.says({ text: "One two three four.", piece: 4, cutBefore: "ur." });
    const error = await failure(chat(id).stream("Hi").then(gathered));
    expect(String(error)).toContain('"type":"api_error"');
  });
});
