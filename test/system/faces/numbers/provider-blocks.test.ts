/**
 * Numbers beside the calls of a client, which no double holds: in blocks of tools that a provider
 * runs itself, in objects in place of arguments, and in bodies that a guardrail has edited.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { guardedWorkspace } from "../../guardrails/guardrails.fixture.ts";
import { fourProviders, PROVIDER_ENVIRONMENT } from "../../support/faces/four-providers.ts";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../../support/native-upstream.ts";

const WORD = "zqforbiddenzq";

let upstream: NativeUpstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createNativeUpstream();
  const { providers = [], models, ...rest } = fourProviders(upstream.url);
  const workspace = guardedWorkspace({
    ...rest,
    providers: [
      ...providers,
      `mistral: { use: mistral, api_key: "\${env:NATIVE_KEY}", base_url: ${upstream.url} }`,
    ],
    models: [...models, "{ id: mistral, targets: [{ provider: mistral, model: m }] }"],
    guardrails: [`masking: { use: forbid, word: ${WORD}, action: mask }`],
    step: "{ input: [masking], output: [masking] }",
  });
  gateway = await startGateway(workspace, PROVIDER_ENVIRONMENT);
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const NUMBERS = '"id":1234567890123456789,"rows":[-9007199254740993,1e400],"z":-0';

const event = (type: string, members: string): string =>
  `event: ${type}\ndata: {"type":"${type}",${members}}\n\n`;

/** Replies of Anthropic with a tool that it has run, and a text. */
const USE = `{"type":"mcp_tool_use","id":"mcptoolu_1","name":"rows","server_name":"s","input":{${NUMBERS}}}`;
const RESULT = `{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{${NUMBERS}}]}`;
const said = (text: string): string => `{"type":"text","text":"${text}"}`;
const message = (text: string): string =>
  `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[${USE},${RESULT},${said(text)}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":2}}`;
const block = (index: number, begun: string, deltas: readonly string[]): string =>
  [
    event("content_block_start", `"index":${index},"content_block":${begun}`),
    ...deltas.map((delta) => event("content_block_delta", `"index":${index},"delta":${delta}`)),
    event("content_block_stop", `"index":${index}`),
  ].join("");
const messageStream = (text: string): string =>
  [
    event(
      "message_start",
      '"message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":3,"output_tokens":1}}',
    ),
    block(0, USE.replace(NUMBERS, ""), [
      `{"type":"input_json_delta","partial_json":${JSON.stringify(`{${NUMBERS}}`)}}`,
    ]),
    block(1, RESULT, []),
    block(2, said(""), [`{"type":"text_delta","text":"${text}"}`]),
    event(
      "message_delta",
      '"delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":2}',
    ),
    'event: message_stop\ndata: {"type":"message_stop"}\n\n',
  ].join("");

/** What a client gets for a body. */
async function ask(path: string, body: string): Promise<string> {
  const response = await fetch(gateway.publicUrl + path, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.masterKey}`, "content-type": "application/json" },
    body,
  });
  const text = await response.text();
  expect([response.status, text]).toEqual([200, text]);
  return text;
}

const TOOL = '"tools":[{"name":"f","input_schema":{"type":"object"}}]';
const messages = (more: string): string =>
  `{"model":"anthropic","max_tokens":9,${TOOL},"messages":[{"role":"user","content":"x"}]${more}}`;
const count = (text: string): number => text.replaceAll('\\"', '"').split(NUMBERS).length - 1;

describe.each([
  ["without an edit", "fine"],
  ["with an edit", WORD],
])("a guarded reply %s", (_what, text) => {
  it("has the numbers of the provider's blocks", async () => {
    upstream.reply(200, "application/json", message(text));
    expect(count(await ask("/v1/messages", messages("")))).toBe(2);
  });

  it("has them in a stream", async () => {
    upstream.reply(200, "text/event-stream", messageStream(text));
    expect(count(await ask("/v1/messages", messages(',"stream":true')))).toBe(2);
  });

  it.each([false, true])("has them in a chat completion, streamed: %s", async (stream) => {
    if (stream) upstream.reply(200, "text/event-stream", messageStream(text));
    else upstream.reply(200, "application/json", message(text));
    const body = `{"model":"anthropic","stream":${stream},"messages":[{"role":"user","content":"x"}]}`;
    expect(count(await ask("/v1/chat/completions", body))).toBe(2);
  });
});

it.each([false, true])("arguments that are an object: Mistral, streamed: %s", async (stream) => {
  const call = `{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":{${NUMBERS}}}}`;
  const choice = (member: string): string =>
    `{"index":0,"${member}":{"role":"assistant","content":null,"tool_calls":[${call}]},"finish_reason":"tool_calls"}`;
  const usage = '"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}';
  const head = '"id":"c","created":1,"model":"m"';
  if (stream)
    upstream.reply(
      200,
      "text/event-stream",
      `data: {${head},"object":"chat.completion.chunk","choices":[${choice("delta")}],${usage}}\n\ndata: [DONE]\n\n`,
    );
  else
    upstream.reply(
      200,
      "application/json",
      `{${head},"object":"chat.completion","choices":[${choice("message")}],${usage}}`,
    );
  const body = messages(`,"stream":${stream}`).replace('"anthropic"', '"mistral"');
  expect(count(await ask("/v1/messages", body))).toBe(1);
});

describe("an edit of a native body", () => {
  const request = `{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"${WORD}"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{${NUMBERS}}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]}]`;

  it.each([
    ["whole", message(WORD), "application/json", ""],
    ["streamed", messageStream(WORD), "text/event-stream", ',"stream":true'],
  ])("keeps the numbers of request and reply: %s", async (_what, reply, type, more) => {
    upstream.reply(200, type, reply);
    const response = await fetch(`${gateway.publicUrl}/anthropic/v1/messages`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${gateway.masterKey}`,
        "content-type": "application/json",
      },
      body: `${request}${more}}`,
    });
    const text = await response.text();
    expect([response.status, text.includes(WORD)]).toEqual([200, false]);
    const sent = String(upstream.requests.at(-1)?.body);
    expect([sent.includes(WORD), count(sent)]).toEqual([false, 1]);
    expect(count(text)).toBe(2);
  });
});
