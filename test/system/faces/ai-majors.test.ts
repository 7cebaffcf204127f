/**
 * The older majors of the AI SDK, unmodified, through the Responses and Messages faces: text, tools,
 * structured output, images, reasoning, errors.
 */

import * as five from "ai-5";
import * as six from "ai-6";
import { createAnthropic as anthropic2 } from "ai-sdk-anthropic-2";
import { createAnthropic as anthropic3 } from "ai-sdk-anthropic-3";
import { createOpenAI as openai2 } from "ai-sdk-openai-2";
import { createOpenAI as openai3 } from "ai-sdk-openai-3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fourProviders, PROVIDER_ENVIRONMENT, PROVIDERS } from "../support/faces/four-providers.ts";
import { createScriptedModel, type ScriptedModel } from "../support/faces/scripted-model.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";

let model: ScriptedModel;
let gateway: GatewayProcess;

beforeAll(async () => {
  model = await createScriptedModel();
  gateway = await startGateway(fourProviders(model.url), PROVIDER_ENVIRONMENT);
});
afterAll(async () => {
  await gateway?.dispose();
  await model?.close();
});

const place = () => ({ baseURL: `${gateway.publicUrl}/v1`, apiKey: gateway.masterKey });
/** A model of a major, by the package of its provider. */
const MODELS = [
  ["5, responses", five, (id: string) => openai2(place())(id)],
  ["5, messages", five, (id: string) => anthropic2(place())(id)],
  ["6, responses", six, (id: string) => openai3(place())(id)],
  ["6, messages", six, (id: string) => anthropic3(place())(id)],
] as const;
const CASES = MODELS.flatMap(([name, sdk, of]) =>
  // The majors have types of their own, and the same calls.
  PROVIDERS.map((id) => [name, id, sdk as typeof six, of as unknown as typeof openModel] as const),
);
declare const openModel: (id: string) => six.LanguageModel;

const PICTURE = "iVBORw0KGgozqpicturezqAAAAAA";

describe.each(CASES)("the AI SDK %s, on %s", (name, id, sdk, of) => {
  const base = () => ({ model: of(id), prompt: "Hi", maxRetries: 0 });

  it("text and usage, whole and streamed", async () => {
    model.says({ text: "Some words.", piece: 4 });
    const { text, usage } = await sdk.generateText(base());
    let streamed = "";
    for await (const piece of sdk.streamText(base()).textStream) streamed += piece;
    expect([text, streamed]).toEqual(["Some words.", "Some words."]);
    expect(usage).toMatchObject({ inputTokens: 20, outputTokens: 5 });
  });

  it("tools, and thoughts that come back", async () => {
    const call = { id: "call_1", name: "weather", input: { city: "Lima" } };
    model.says({ thought: "zqthoughtzq", calls: [call], piece: 4 }, { text: "It rains." });
    const asked: unknown[] = [];
    const result = sdk.streamText({
      ...base(),
      stopWhen: sdk.stepCountIs(3),
      // By default the SDK sends references to thoughts that the API keeps.
      providerOptions: { openai: { store: false, include: ["reasoning.encrypted_content"] } },
      tools: {
        weather: sdk.tool({
          inputSchema: sdk.jsonSchema<{ city: string }>({
            type: "object",
            properties: { city: { type: "string" } },
            required: ["city"],
            additionalProperties: false,
          }),
          execute: (input) => {
            asked.push(input);
            return "rain";
          },
        }),
      },
    });
    expect([await result.text, asked]).toEqual(["It rains.", [{ city: "Lima" }]]);
    const [first] = await result.steps;
    // Through Responses these majors ask models of OpenAI's names alone for summaries.
    const isMessages = name.endsWith("messages");
    expect(first?.reasoningText ?? "").toContain(isMessages ? "zqthoughtzq" : "");
    expect(model.lastBody()).toSatisfy((body: unknown) => JSON.stringify(body).includes("rain"));
  });

  it("structured output", async () => {
    model.says({ text: '{"city":"Lima"}' });
    const schema = sdk.jsonSchema<{ city: string }>({
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
      additionalProperties: false,
    });
    const { object } = await sdk.generateObject({ ...base(), schema });
    expect(object).toEqual({ city: "Lima" });
  });

  it("images", async () => {
    model.says({ text: "A picture." });
    const { model: asked, maxRetries } = base();
    const content = [
      { type: "text" as const, text: "What is it?" },
      { type: "image" as const, image: `data:image/png;base64,${PICTURE}` },
    ];
    const messages = [{ role: "user" as const, content }];
    expect((await sdk.generateText({ model: asked, maxRetries, messages })).text).toBe(
      "A picture.",
    );
    expect(JSON.stringify(model.lastBody())).toContain("zqpicturezq");
  });

  it("errors of its own class", async () => {
    model.says({ failure: { status: 429, headers: { "retry-after": "7" } } });
    const limited: unknown = await sdk.generateText(base()).catch((error: unknown) => error);
    expect(sdk.APICallError.isInstance(limited)).toBe(true);
    expect(limited).toMatchObject({ statusCode: 429, isRetryable: true });
    const absent: unknown = await sdk
      .generateText({ ...base(), model: of("absent") })
      .catch((error: unknown) => error);
    expect(absent).toMatchObject({ statusCode: 404, isRetryable: false });
  });
});
