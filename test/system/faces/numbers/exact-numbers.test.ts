/**
 * Numbers in the arguments of calls, in every direction between faces and providers: what a double
 * does not hold arrives with the digits that it was sent with.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  fourProviders,
  PROVIDER_ENVIRONMENT,
  PROVIDERS,
} from "../../support/faces/four-providers.ts";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../../support/native-upstream.ts";
import { createWorkspace } from "../../support/workspace.ts";

let upstream: NativeUpstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createNativeUpstream();
  gateway = await startGateway(createWorkspace(fourProviders(upstream.url)), PROVIDER_ENVIRONMENT);
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const FACES = ["chat", "messages", "responses", "gemini"] as const;
type Face = (typeof FACES)[number];
type Provider = (typeof PROVIDERS)[number];

/** Members with numbers that no double holds, in one spelling. */
const NUMBERS = '"id":1234567890123456789,"rows":[-9007199254740993,1e400],"z":-0';
const ARGUMENTS = `{${NUMBERS},"n":7,"text":"1234567890123456789, 1e5"}`;
const TEXT = JSON.stringify(ARGUMENTS);

const TOOL = { name: "f", parameters: { type: "object", properties: {} } };

/** The members of a request that a face needs beside the conversation. */
const TOOLS: Readonly<Record<Face, string>> = {
  chat: `"tools":${JSON.stringify([{ type: "function", function: TOOL }])}`,
  messages: `"max_tokens":9,"tools":${JSON.stringify([{ name: "f", input_schema: TOOL.parameters }])}`,
  responses: `"tools":${JSON.stringify([{ type: "function", ...TOOL }])}`,
  gemini: `"tools":${JSON.stringify([{ functionDeclarations: [TOOL] }])}`,
};

const QUESTION = '{"role":"user","content":"x"}';

/** A conversation with a call and its result. */
const HISTORIES: Readonly<Record<Face, string>> = {
  chat: `"messages":[${QUESTION},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":${TEXT}}}]},{"role":"tool","tool_call_id":"c1","content":"ok"}]`,
  messages: `"messages":[${QUESTION},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":${ARGUMENTS}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"ok"}]}]`,
  responses: `"input":[${QUESTION},{"type":"function_call","call_id":"c1","name":"f","arguments":${TEXT}},{"type":"function_call_output","call_id":"c1","output":"ok"}]`,
  gemini: `"contents":[{"role":"user","parts":[{"text":"x"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":${ARGUMENTS}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"a":1}}}]}]`,
};

const QUESTIONS: Readonly<Record<Face, string>> = {
  chat: `"messages":[${QUESTION}]`,
  messages: `"messages":[${QUESTION}]`,
  responses: '"input":"x"',
  gemini: '"contents":[{"role":"user","parts":[{"text":"x"}]}]',
};

/** What a client of a face gets for a conversation. */
async function ask(face: Face, provider: Provider, said: string, stream = false): Promise<string> {
  const action = stream ? "streamGenerateContent?alt=sse" : "generateContent";
  const path = {
    chat: "/v1/chat/completions",
    messages: "/v1/messages",
    responses: "/v1/responses",
    gemini: `/v1beta/models/${provider}:${action}`,
  }[face];
  const named = face === "gemini" ? "" : `"model":"${provider}","stream":${stream},`;
  const response = await fetch(gateway.publicUrl + path, {
    method: "POST",
    headers: {
      authorization: `Bearer ${gateway.masterKey}`,
      "content-type": "application/json",
    },
    body: `{${named}${TOOLS[face]},${said}}`,
  });
  const text = await response.text();
  expect([response.status, text]).toEqual([200, text]);
  return text;
}

/** Whole replies with one call. */
const WHOLE: Readonly<Record<Provider, string>> = {
  openai: `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":${TEXT}}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}`,
  anthropic: `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"c1","name":"f","input":${ARGUMENTS}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":2}}`,
  gemini: `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":${ARGUMENTS}}}],"role":"model"},"index":0,"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":2,"totalTokenCount":5},"modelVersion":"m"}`,
  bedrock: `{"output":{"message":{"role":"assistant","content":[{"toolUse":{"toolUseId":"c1","name":"f","input":${ARGUMENTS}}}]}},"stopReason":"tool_use","usage":{"inputTokens":3,"outputTokens":2,"totalTokens":5}}`,
};

const event = (type: string, members: string): string =>
  `event: ${type}\ndata: {"type":"${type}",${members}}\n\n`;

/** The same replies as streams of events. */
const STREAMED = {
  openai: `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":${TEXT}}}]},"finish_reason":null}]}\n\ndata: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n`,
  anthropic: [
    event(
      "message_start",
      '"message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":3,"output_tokens":1}}',
    ),
    event(
      "content_block_start",
      '"index":0,"content_block":{"type":"tool_use","id":"c1","name":"f","input":{}}',
    ),
    event(
      "content_block_delta",
      `"index":0,"delta":{"type":"input_json_delta","partial_json":${TEXT}}`,
    ),
    event("content_block_stop", '"index":0'),
    event(
      "message_delta",
      '"delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":2}',
    ),
    'event: message_stop\ndata: {"type":"message_stop"}\n\n',
  ].join(""),
  gemini: `data: ${WHOLE.gemini}\r\n\r\n`,
};

/** The text of arguments, whether they stand as an object or within a string. */
const plain = (text: string): string => text.replaceAll('\\"', '"');

const cases = FACES.flatMap((face) => PROVIDERS.map((provider) => ({ face, provider })));

describe("numbers of a call's arguments", () => {
  it.each(cases)("are those of a whole reply of $provider: $face", async ({ face, provider }) => {
    upstream.reply(200, "application/json", WHOLE[provider]);
    expect(plain(await ask(face, provider, QUESTIONS[face]))).toContain(NUMBERS);
  });

  it.each(cases.filter(({ provider }) => provider !== "bedrock"))(
    "are those of a stream of $provider: $face",
    async ({ face, provider }) => {
      upstream.reply(200, "text/event-stream", STREAMED[provider as keyof typeof STREAMED]);
      expect(plain(await ask(face, provider, QUESTIONS[face], true))).toContain(NUMBERS);
    },
  );

  it.each(cases)("are those of the history: $face to $provider", async ({ face, provider }) => {
    upstream.reply(200, "application/json", WHOLE[provider]);
    await ask(face, provider, HISTORIES[face]);
    expect(plain(String(upstream.requests.at(-1)?.body))).toContain(NUMBERS);
  });
});

it("numbers of a function's response are those of the client: gemini", async () => {
  upstream.reply(200, "application/json", WHOLE.openai);
  const response = `{"functionResponse":{"name":"f","response":{${NUMBERS}}}}`;
  const history = HISTORIES.gemini.replace(/\{"functionResponse".*?\}\}\}/, response);
  await ask("gemini", "openai", history);
  expect(plain(String(upstream.requests.at(-1)?.body))).toContain(`{${NUMBERS}}`);
});

it.each([
  ["messages", "openai"],
  ["messages", "gemini"],
  ["gemini", "anthropic"],
] as const)("a large history has them too: %s to %s", async (face, provider) => {
  upstream.reply(200, "application/json", WHOLE[provider]);
  await ask(face, provider, HISTORIES[face].replace('"x"', `"${"x".repeat(3_000_000)}"`));
  expect(plain(String(upstream.requests.at(-1)?.body))).toContain(NUMBERS);
});
