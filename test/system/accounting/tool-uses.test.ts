/** The cost of tools that a provider runs and bills by the use: searches, containers, grounding. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey, rowsOf, type SpendRow } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";
import { createWorkspace } from "../support/workspace.ts";

const KEY = 'api_key: "${env:OPENAI_API_KEY}"';
/** Tokens cost nothing beside a use: a millionth of a dollar for a million. */
const TOKENS = "input: 0.000001, output: 0.000001";
const PRICES = `version: 1
prices:
  openai/m: { ${TOKENS}, tools: { web_search: 0.5, file_search: 0.25, code_interpreter: 0.125 } }
  openai/listed: { ${TOKENS} }
  anthropic/m: { ${TOKENS}, tools: { web_search: 0.5 } }
  gemini/gemini-2.5-flash: { ${TOKENS}, tools: { web_search: 0.5, maps: 0.25 } }
  gemini/gemini-3-pro: { ${TOKENS}, tools: { web_search: 0.5 } }
  mistral/m: { ${TOKENS} }
`;
const model = (provider: string, name: string): string =>
  `{ id: ${provider}-${name}, targets: [{ provider: ${provider}, model: ${name} }] }`;
const MODELS = [
  model("openai", "m"),
  model("openai", "listed"),
  model("anthropic", "m"),
  model("gemini", "gemini-2.5-flash"),
  model("gemini", "gemini-3-pro"),
  model("mistral", "m"),
  `{ id: agreed, targets: [{ provider: anthropic, model: agreed, price: { ${TOKENS}, tools: { web_search: 0.75 } } }] }`,
];
const MESSAGES = [{ role: "user", content: "Say it." }];

let upstream: NativeUpstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createNativeUpstream();
  const at = `${KEY}, base_url: ${upstream.url}`;
  const workspace = createWorkspace({
    baseUrl: `${upstream.url}/v1`,
    providers: [
      `anthropic: { use: anthropic, ${at} }`,
      `gemini: { use: gemini, ${at} }`,
      `mistral: { use: mistral, ${at}/v1 }`,
    ],
    models: MODELS,
  });
  writeFileSync(join(workspace.folder, "config/prices.yaml"), PRICES);
  gateway = await startGateway(workspace);
});

afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

async function post(path: string, body: object, key = gateway.masterKey) {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const response = await fetch(`${gateway.publicUrl}${path}`, {
    method: "POST",
    body: JSON.stringify(body),
    headers,
  });
  const text = await response.text();
  const [row]: SpendRow[] = await rowsOf(gateway, response.headers.get("x-request-id"));
  return { status: response.status, text, row };
}

const json = (reply: object): void =>
  upstream.reply(200, "application/json", JSON.stringify(reply));
const events = (
  ...list: readonly { readonly type?: string; readonly [member: string]: unknown }[]
): void =>
  upstream.reply(
    200,
    "text/event-stream",
    list
      .map((event) => `event: ${event.type ?? "message"}\ndata: ${JSON.stringify(event)}\n\n`)
      .join(""),
  );

const anthropicUsage = {
  input_tokens: 10,
  output_tokens: 5,
  server_tool_use: { web_search_requests: 3, web_fetch_requests: 2 },
};
const anthropicMessage = {
  id: "m",
  type: "message",
  role: "assistant",
  model: "m",
  content: [{ type: "text", text: "It." }],
  stop_reason: "end_turn",
  usage: anthropicUsage,
};
const anthropicStream = [
  {
    type: "message_start",
    message: {
      ...anthropicMessage,
      content: [],
      stop_reason: null,
      usage: { input_tokens: 10, output_tokens: 1 },
    },
  },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "It." } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: anthropicUsage },
  { type: "message_stop" },
];
const search = { type: "web_search_20250305", name: "web_search", max_uses: 3 };

const output = [
  { type: "web_search_call", id: "w1", action: { type: "search", query: "a" } },
  { type: "web_search_call", id: "w2", action: { type: "open_page", url: "https://a.example" } },
  { type: "web_search_call", id: "w3", action: { type: "search", query: "b" } },
  { type: "file_search_call", id: "f1", queries: ["a"] },
  { type: "code_interpreter_call", id: "c1", container_id: "k1" },
  { type: "code_interpreter_call", id: "c2", container_id: "k1" },
  { type: "message", content: [{ type: "output_text", text: "It." }] },
];
/** Two searches, a file search and a container. */
const OUTPUT_USD = 2 * 0.5 + 0.25 + 0.125;
const response = {
  id: "r",
  object: "response",
  output,
  usage: { input_tokens: 10, output_tokens: 5 },
};
const tools = [
  { type: "web_search" },
  { type: "file_search", vector_store_ids: ["v"] },
  { type: "code_interpreter" },
];

const gemini = (
  modelVersion: string,
  queries: readonly string[],
  chunks: readonly object[] = [],
) => ({
  candidates: [
    {
      content: { role: "model", parts: [{ text: "It." }] },
      finishReason: "STOP",
      groundingMetadata: { webSearchQueries: queries, groundingChunks: chunks },
    },
  ],
  modelVersion,
  usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5 },
});
const grounded = { contents: [{ parts: [{ text: "Say it." }] }], tools: [{ google_search: {} }] };
const chatReply = {
  id: "c",
  object: "chat.completion",
  choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "It." } }],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
};

/** What a case asks, what the upstream answers, and dollars. */
const CASES: readonly [
  what: string,
  answer: () => void,
  path: string,
  body: object,
  dollars: number,
][] = [
  [
    "Anthropic, native",
    () => json(anthropicMessage),
    "/anthropic/v1/messages",
    { model: "m", messages: MESSAGES, max_tokens: 9, tools: [search] },
    1.5,
  ],
  [
    "Anthropic, native stream",
    () => events(...anthropicStream),
    "/anthropic/v1/messages",
    { model: "m", stream: true, messages: MESSAGES, max_tokens: 9, tools: [search] },
    1.5,
  ],
  [
    "Anthropic, chat",
    () => json(anthropicMessage),
    "/v1/chat/completions",
    { model: "anthropic-m", messages: MESSAGES, tools: [search] },
    1.5,
  ],
  [
    "Anthropic, chat stream",
    () => events(...anthropicStream),
    "/v1/chat/completions",
    { model: "anthropic-m", stream: true, messages: MESSAGES, tools: [search] },
    1.5,
  ],
  [
    "a target's own price",
    () => json(anthropicMessage),
    "/v1/chat/completions",
    { model: "agreed", messages: MESSAGES, tools: [search] },
    2.25,
  ],
  [
    "a target's own price, native",
    () => json(anthropicMessage),
    "/anthropic/v1/messages",
    { model: "agreed", messages: MESSAGES, max_tokens: 9, tools: [search] },
    2.25,
  ],
  [
    "OpenAI responses",
    () => json(response),
    "/openai/v1/responses",
    { model: "m", input: "Say it.", tools },
    OUTPUT_USD,
  ],
  [
    "OpenAI responses, stream",
    () =>
      events(
        { type: "response.created" },
        ...output.map((item) => ({ type: "response.output_item.done", item })),
        {
          type: "response.completed",
          response,
        },
      ),
    "/openai/v1/responses",
    { model: "m", stream: true, input: "Say it.", tools },
    OUTPUT_USD,
  ],
  [
    "OpenAI responses, the built-in price",
    () => json(response),
    "/openai/v1/responses",
    { model: "listed", input: "Say it.", tools },
    2 * 0.01 + 0.0025 + 0.03,
  ],
  [
    "OpenAI chat, which reports no search",
    () => json(chatReply),
    "/v1/chat/completions",
    { model: "openai-m", messages: MESSAGES, web_search_options: {} },
    0.5,
  ],
  [
    "OpenAI chat, native",
    () => json(chatReply),
    "/openai/v1/chat/completions",
    { model: "m", messages: MESSAGES, web_search_options: {} },
    0.5,
  ],
  [
    "Gemini before 3, by the prompt",
    () => json(gemini("gemini-2.5-flash", ["a", "b"])),
    "/gemini/v1beta/models/gemini-2.5-flash:generateContent",
    grounded,
    0.5,
  ],
  [
    "Gemini 3, by the query",
    () => json(gemini("gemini-3-pro", ["a", "b"])),
    "/gemini/v1beta/models/gemini-3-pro:generateContent",
    grounded,
    1,
  ],
  [
    "Gemini with maps",
    () => json(gemini("gemini-2.5-flash", [], [{ maps: { uri: "https://a.example" } }])),
    "/gemini/v1beta/models/gemini-2.5-flash:generateContent",
    { ...grounded, tools: [{ googleMaps: {} }] },
    0.25,
  ],
  [
    "Gemini, chat",
    () => json(gemini("gemini-2.5-flash", ["a"])),
    "/v1/chat/completions",
    { model: "gemini-gemini-2.5-flash", messages: MESSAGES, web_search_options: {} },
    0.5,
  ],
  [
    "Gemini, chat that did not search",
    () => json(gemini("gemini-2.5-flash", [])),
    "/v1/chat/completions",
    { model: "gemini-gemini-2.5-flash", messages: MESSAGES, web_search_options: {} },
    0,
  ],
];

describe("uses of a provider's tools cost their price", () => {
  it.each(CASES)("%s", async (_what, answer, path, body, dollars) => {
    answer();
    const { status, text, row } = await post(path, body);
    expect([status, text]).toEqual([200, expect.any(String)]);
    expect(row?.cost_status).toBe("priced");
    expect(row?.spend ?? Number.NaN).toBeCloseTo(dollars, 6);
  });

  it("in a stream that the upstream cuts before its total", async () => {
    const before = [
      { type: "response.created" },
      ...output.slice(0, 4).map((item) => ({ type: "response.output_item.done", item })),
    ];
    upstream.answer((reply) => {
      reply.writeHead(200, { "content-type": "text/event-stream" });
      reply.write(before.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""), () =>
        reply.destroy(),
      );
    });
    const headers = {
      authorization: `Bearer ${gateway.masterKey}`,
      "content-type": "application/json",
    };
    const body = JSON.stringify({ model: "m", stream: true, input: "Say it.", tools });
    const cut = await fetch(`${gateway.publicUrl}/openai/v1/responses`, {
      method: "POST",
      body,
      headers,
    });
    await cut.text().catch(() => "cut");
    const [row] = await rowsOf(gateway, cut.headers.get("x-request-id"));
    expect(row?.spend ?? Number.NaN).toBeCloseTo(2 * 0.5 + 0.25, 6);
  });
});

describe("a budget", () => {
  it("reserves the uses that a request may make", async () => {
    const { key } = await createKey(gateway, { max_budget: 1.4 });
    json(anthropicMessage);
    const body = { model: "anthropic-m", messages: MESSAGES, tools: [search] };
    expect((await post("/v1/chat/completions", body, key)).status).toBe(429);
    expect(
      (await post("/v1/chat/completions", { ...body, tools: [{ ...search, max_uses: 2 }] }, key))
        .status,
    ).toBe(200);
    expect(
      (await post("/anthropic/v1/messages", { ...body, model: "m", max_tokens: 9 }, key)).status,
    ).toBe(429);
  });

  it("refuses a tool without a price, by its name", async () => {
    const { key } = await createKey(gateway, { max_budget: 1 });
    const before = upstream.requests.length;
    const body = { messages: MESSAGES, tools: [{ type: "web_search" }] };
    for (const [path, name] of [
      ["/v1/chat/completions", "mistral-m"],
      ["/mistral/v1/chat/completions", "m"],
    ] as const) {
      const { status, text } = await post(path, { ...body, model: name }, key);
      expect([status, text]).toEqual([
        429,
        expect.stringContaining("The tool web_search of the model"),
      ]);
    }
    expect(upstream.requests.length).toBe(before);
  });
});
