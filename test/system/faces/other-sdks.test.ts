/**
 * Clients of the faces other than the vendors' own SDKs, unmodified: the AI SDK with its OpenAI and
 * Anthropic providers, and the Agents SDK. The model is scripted: it asks for two commands, then it
 * says that it is done.
 */

import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from "@openai/agents";
import {
  APICallError,
  generateText,
  jsonSchema,
  type LanguageModel,
  stepCountIs,
  streamText,
  tool as aiTool,
} from "ai";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dialectOf } from "../../agents/dialects.ts";
import { answerOf, DONE } from "../../agents/script.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";

const CREDENTIAL = 'api_key: "${env:SOME_KEY}"';
const COMMANDS = ["printf 'one\\n' > result.txt", "printf 'two\\n' >> result.txt"];
const COMMAND = {
  type: "object",
  properties: { command: { type: "string" } },
  required: ["command"] as string[],
  additionalProperties: false,
} as const;
const KINDS = ["openai", "anthropic", "gemini", "bedrock"] as const;
const PROVIDERS: Readonly<Record<(typeof KINDS)[number], readonly [string, string]>> = {
  openai: [`use: openai, ${CREDENTIAL}, base_url: @/v1`, "gpt-4o"],
  anthropic: [`use: anthropic, ${CREDENTIAL}, base_url: @`, "claude-sonnet-4-5"],
  gemini: [`use: gemini, ${CREDENTIAL}, base_url: @`, "gemini-2.5-flash"],
  bedrock: [
    `use: bedrock, ${CREDENTIAL}, region: us-east-1, base_url: @`,
    "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
  ],
};

let upstream: NativeUpstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createNativeUpstream();
  upstream.answer((response, request) => {
    const dialect = dialectOf(request.url);
    const turn = dialect.read(JSON.parse(request.body.toString() || "null"), request.url);
    const { type, body } = dialect.write(answerOf(turn), turn);
    response.writeHead(200, { "content-type": type }).end(body);
  });
  gateway = await startGateway(
    {
      providers: KINDS.map(
        (name) => `p-${name}: { ${PROVIDERS[name][0].replaceAll("@", upstream.url)} }`,
      ),
      models: KINDS.map(
        (name) =>
          `{ id: ${name}, targets: [{ provider: p-${name}, model: "${PROVIDERS[name][1]}" }] }`,
      ),
    },
    { SOME_KEY: "a-credential-of-the-tests-0123456789" },
  );
  setTracingDisabled(true);
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

/** Models of the AI SDK by its provider packages. */
const FACES: Readonly<Record<string, (id: string) => LanguageModel>> = {
  responses: (id) =>
    createOpenAI({ baseURL: `${gateway.publicUrl}/v1`, apiKey: gateway.masterKey })(id),
  messages: (id) =>
    createAnthropic({ baseURL: `${gateway.publicUrl}/v1`, apiKey: gateway.masterKey })(id),
};

describe.each(Object.keys(FACES))("the AI SDK through %s", (face) => {
  const options = (id: string, done: string[]) => ({
    model: FACES[face]!(id),
    prompt: "Make the file.",
    maxRetries: 0,
    stopWhen: stepCountIs(5),
    tools: {
      bash: aiTool({
        description: "Runs a command.",
        inputSchema: jsonSchema<{ command: string }>(COMMAND),
        execute: ({ command }) => {
          done.push(command);
          return "ok";
        },
      }),
    },
  });

  it.each(KINDS)("runs two tools whole, on %s", async (id) => {
    const done: string[] = [];
    const { text, totalUsage } = await generateText(options(id, done));
    expect([done, text]).toEqual([COMMANDS, DONE]);
    expect(totalUsage).toMatchObject({ inputTokens: 60, outputTokens: 15 });
  });

  it.each(KINDS)("runs two tools streamed, on %s", async (id) => {
    const done: string[] = [];
    const result = streamText(options(id, done));
    let text = "";
    for await (const piece of result.textStream) text += piece;
    expect([done, text]).toEqual([COMMANDS, DONE]);
    expect(await result.finishReason).toBe("stop");
  });

  it("gets errors as the SDK's own", async () => {
    const failing = generateText({ model: FACES[face]!("nothere"), prompt: "Hi.", maxRetries: 0 });
    const error: unknown = await failing.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(APICallError);
    expect(error).toMatchObject({ statusCode: 404, isRetryable: false });
    expect(String(error)).toContain("nothere");
  });
});

describe("the AI SDK with stored responses", () => {
  it.each(KINDS)("refers to what the gateway has stored, on %s", async (id) => {
    const bodies: string[] = [];
    const model = createOpenAI({
      baseURL: `${gateway.publicUrl}/v1`,
      apiKey: gateway.masterKey,
      fetch: (url, init) => {
        bodies.push(String(init?.body));
        return fetch(url, init);
      },
    })(id);
    const user = (content: string) => ({ role: "user" as const, content });
    const first = await generateText({
      model,
      messages: [user("Make the file.")],
      maxRetries: 0,
      providerOptions: { openai: { store: true } },
    });
    const later = [...first.response.messages, user("Is it made?")];
    const referring = await generateText({
      model,
      messages: [user("Make the file."), ...later],
      maxRetries: 0,
      providerOptions: { openai: { store: true } },
    });
    expect(bodies.at(-1)).toContain("item_reference");
    expect(upstream.requests.at(-1)?.body.toString()).toContain(first.text);
    const previousResponseId = referring.providerMetadata?.["openai"]?.["responseId"] as string;
    await generateText({
      model,
      messages: [user("And now?")],
      maxRetries: 0,
      providerOptions: { openai: { previousResponseId } },
    });
    for (const text of ["Make the file.", "Is it made?", "And now?"])
      expect(upstream.requests.at(-1)?.body.toString()).toContain(text);
  });
});

describe("the Agents SDK", () => {
  it.each(KINDS)("continues by previousResponseId, on %s", async (id) => {
    const done: string[] = [];
    const first = await runner().run(agentOf(id, done), "Make the file.");
    const previousResponseId = first.lastResponseId ?? "";
    expect(previousResponseId).toMatch(/^resp_/);
    const options = { previousResponseId };
    const second = await runner().run(agentOf(id, done), "Is it made?", options);
    expect([done, second.finalOutput]).toEqual([COMMANDS, DONE]);
    expect(upstream.requests.at(-1)?.body.toString()).toContain("Make the file.");
  });

  const agentOf = (model: string, done: string[]) =>
    new Agent({
      name: "file maker",
      model,
      tools: [
        tool({
          name: "bash",
          description: "Runs a command.",
          parameters: COMMAND,
          strict: true,
          execute: (input) => {
            done.push((input as { command: string }).command);
            return "ok";
          },
        }),
      ],
    });
  const runner = (): Runner => {
    const openAIClient = new OpenAI({
      baseURL: `${gateway.publicUrl}/v1`,
      apiKey: gateway.masterKey,
      maxRetries: 0,
    });
    return new Runner({
      modelProvider: new OpenAIProvider({ openAIClient, useResponses: true }),
      tracingDisabled: true,
    });
  };

  it.each(KINDS)("runs two tools, on %s", async (id) => {
    const done: string[] = [];
    const result = await runner().run(agentOf(id, done), "Make the file.");
    expect([done, result.finalOutput]).toEqual([COMMANDS, DONE]);
  });

  it.each(KINDS)("runs two tools streamed, on %s", async (id) => {
    const done: string[] = [];
    const result = await runner().run(agentOf(id, done), "Make the file.", { stream: true });
    let text = "";
    for await (const piece of result.toTextStream()) text += String(piece);
    await result.completed;
    expect([done, text]).toEqual([COMMANDS, DONE]);
  });
});
