/**
 * The cost of native streams that are cut before their total, in every dialect, and of replies
 * without a usage.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { ServerResponse } from "node:http";
import { eventFrame } from "@sluice/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey, rowsOf, type SpendRow, spendRows } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

const KEY = 'api_key: "${env:OPENAI_API_KEY}"';
/** Words of a reply, a token each. */
const WORDS = 400;
const PIECES = Array.from({ length: 40 }, () => " word".repeat(WORDS / 40));
/** 0.02 dollars for each thousand tokens of output: a reply costs 0.008. */
const OUTPUT_USD = 20e-6;
const BUDGET = 0.02;

type Event = Record<string, unknown>;

/** A dialect: the events of a stream, the one with its usage last, and how they are framed. */
interface Dialect {
  readonly path: string;
  readonly body: object;
  readonly events: readonly Event[];
  readonly end: readonly Event[];
  readonly type?: string;
  readonly frame?: (event: Event) => string | Buffer;
}

const sse = (event: Event): string =>
  `event: ${String(event.type ?? "message")}\ndata: ${JSON.stringify(event)}\n\n`;
const frame = (event: Event): Buffer =>
  eventFrame({ ":message-type": "event", ":event-type": "e" }, JSON.stringify(event));
const inner = (event: Event): Buffer =>
  frame({ bytes: Buffer.from(JSON.stringify(event)).toString("base64"), p: "abcdefgh" });
const MESSAGES = [{ role: "user", content: "Say it." }];
const CHAT = { model: "m", stream: true, max_tokens: WORDS, messages: MESSAGES };
const chatUsage = { prompt_tokens: 10, completion_tokens: WORDS, total_tokens: WORDS + 10 };

const chat = (path: string): Dialect => ({
  path,
  body: CHAT,
  events: PIECES.map((content) => ({
    id: "c",
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta: { content } }],
  })),
  end: [
    { id: "c", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
    { id: "c", choices: [], usage: chatUsage },
  ],
});

const anthropic: Pick<Dialect, "events" | "end"> = {
  events: [
    {
      type: "message_start",
      message: {
        id: "m",
        type: "message",
        content: [],
        usage: { input_tokens: 10, output_tokens: 1 },
      },
    },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    ...PIECES.map((text) => ({
      type: "content_block_delta",
      index: 0,
      delta: { type: "text_delta", text },
    })),
  ],
  end: [
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: WORDS } },
    { type: "message_stop" },
  ],
};

const gemini: Pick<Dialect, "body" | "events" | "end"> = {
  body: {
    contents: [{ parts: [{ text: "Say it." }] }],
    generationConfig: { maxOutputTokens: WORDS },
  },
  events: PIECES.map((text) => ({
    candidates: [{ index: 0, content: { role: "model", parts: [{ text }] } }],
  })),
  end: [
    {
      candidates: [{ index: 0, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: WORDS },
    },
  ],
};

const converse = {
  messages: [{ role: "user", content: [{ text: "Say it." }] }],
  inferenceConfig: { maxTokens: WORDS },
};
const STREAM = "application/vnd.amazon.eventstream";

const VERTEX = "/vertex/v1/projects/p/locations/l/publishers";

const DIALECTS: Record<string, Dialect> = {
  "OpenAI chat": chat("/openai/v1/chat/completions"),
  "Azure chat": {
    ...chat("/azure/openai/deployments/m/chat/completions"),
    body: { ...CHAT, model: undefined },
  },
  "Mistral chat": chat("/mistral/v1/chat/completions"),
  "OpenAI responses": {
    path: "/openai/v1/responses",
    body: { model: "m", stream: true, max_output_tokens: WORDS, input: "Say it." },
    events: [
      {
        type: "response.created",
        response: { id: "r", object: "response", status: "in_progress", usage: null },
      },
      ...PIECES.map((delta) => ({
        type: "response.output_text.delta",
        item_id: "i",
        content_index: 0,
        delta,
      })),
      { type: "response.output_text.done", item_id: "i", content_index: 0, text: PIECES.join("") },
    ],
    end: [
      {
        type: "response.completed",
        response: { id: "r", usage: { input_tokens: 10, output_tokens: WORDS } },
      },
    ],
  },
  "Anthropic messages": {
    ...anthropic,
    path: "/anthropic/v1/messages",
    body: CHAT,
  },
  "Gemini events": { ...gemini, path: "/gemini/v1beta/models/m:streamGenerateContent?alt=sse" },
  "Gemini list": {
    ...gemini,
    path: "/gemini/v1beta/models/m:streamGenerateContent",
    type: "application/json",
    frame: (event) => (event === gemini.events[0] ? "[" : ",\n") + JSON.stringify(event),
  },
  "Vertex events": { ...gemini, path: `${VERTEX}/google/models/m:streamGenerateContent?alt=sse` },
  "Vertex Claude": {
    ...anthropic,
    path: `${VERTEX}/anthropic/models/m:streamRawPredict`,
    body: {
      anthropic_version: "vertex-2023-10-16",
      stream: true,
      max_tokens: WORDS,
      messages: MESSAGES,
    },
  },
  "Cohere chat": {
    path: "/cohere/v2/chat",
    body: CHAT,
    events: PIECES.map((text) => ({
      type: "content-delta",
      index: 0,
      delta: { message: { content: { text } } },
    })),
    end: [
      {
        type: "message-end",
        delta: { usage: { billed_units: { input_tokens: 10, output_tokens: WORDS } } },
      },
    ],
  },
  "Bedrock ConverseStream": {
    path: "/bedrock/model/m/converse-stream",
    body: converse,
    type: STREAM,
    frame,
    events: [
      { role: "assistant", p: "abc" },
      ...PIECES.map((text) => ({ contentBlockIndex: 0, delta: { text }, p: "abcdefghijk" })),
    ],
    end: [
      { stopReason: "end_turn" },
      { usage: { inputTokens: 10, outputTokens: WORDS }, metrics: { latencyMs: 1 } },
    ],
  },
  "Bedrock InvokeModel stream": {
    ...anthropic,
    path: "/bedrock/model/m/invoke-with-response-stream",
    body: { anthropic_version: "bedrock-2023-05-31", max_tokens: WORDS, messages: MESSAGES },
    type: STREAM,
    frame: inner,
  },
  "Ollama chat": {
    path: "/ollama/api/chat",
    body: { model: "m", messages: MESSAGES, options: { num_predict: WORDS } },
    type: "application/x-ndjson",
    frame: (event) => `${JSON.stringify(event)}\n`,
    events: PIECES.map((content) => ({
      model: "m",
      message: { role: "assistant", content },
      done: false,
    })),
    end: [
      {
        model: "m",
        message: { role: "assistant", content: "" },
        done: true,
        prompt_eval_count: 10,
        eval_count: WORDS,
      },
    ],
  },
};

const names = Object.keys(DIALECTS);
const dialect = (name: string): Dialect => DIALECTS[name] as Dialect;

let upstream: NativeUpstream;
/** Google's metadata server. */
let tokens: NativeUpstream;
let workspace: Workspace;
let gateway: GatewayProcess;

beforeAll(async () => {
  [upstream, tokens] = await Promise.all([createNativeUpstream(), createNativeUpstream()]);
  const token = { access_token: "token", expires_in: 3_599, token_type: "Bearer" };
  tokens.reply(200, "application/json", JSON.stringify(token));
  const at = `${KEY}, base_url: ${upstream.url}`;
  workspace = createWorkspace({
    baseUrl: `${upstream.url}/v1`,
    providers: [
      `anthropic: { use: anthropic, ${at} }`,
      `gemini: { use: gemini, ${at} }`,
      `vertex: { use: vertex, project: p, location: l, base_url: ${upstream.url}, metadata_url: ${tokens.url} }`,
      `cohere: { use: cohere, ${at} }`,
      `mistral: { use: mistral, ${at} }`,
      `azure: { use: azure, ${KEY}, endpoint: ${upstream.url} }`,
      `bedrock: { use: bedrock, ${KEY}, region: eu-west-1, base_url: ${upstream.url} }`,
      `ollama: { use: compatible, preset: ollama, price_as: ollama, ${at}/v1 }`,
    ],
  });
  const prices = join(workspace.folder, "config/prices.yaml");
  const plugins = [
    "openai",
    "anthropic",
    "gemini",
    "vertex",
    "cohere",
    "mistral",
    "azure",
    "bedrock",
    "ollama",
  ];
  const lines = plugins
    .map((name) => `  ${name}/m: { input: 0.1, output: ${OUTPUT_USD * 1e6} }\n`)
    .join("");
  writeFileSync(prices, readFileSync(prices, "utf8").replace("prices:\n", `prices:\n${lines}`));
  gateway = await startGateway(workspace);
});

afterAll(async () => {
  await gateway.dispose();
  await Promise.all([upstream.close(), tokens.close()]);
  workspace.remove();
});

/** Writes the events, and the end only where the reply is whole. */
function streams(
  { type = "text/event-stream", frame: framed = sse, events, end }: Dialect,
  isWhole: boolean,
  headers = {},
): void {
  upstream.answer((response: ServerResponse) => {
    response.writeHead(200, { "content-type": type, ...headers });
    for (const event of events) response.write(framed(event));
    if (isWhole) response.end(Buffer.concat(end.map((event) => Buffer.from(framed(event)))));
  });
}

function post(name: string, key: string, signal?: AbortSignal): Promise<Response> {
  const { path, body } = dialect(name);
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  return fetch(`${gateway.publicUrl}${path}`, {
    method: "POST",
    body: JSON.stringify(body),
    headers,
    signal: signal ?? null,
  });
}

/**
 * A client that reads everything up to the last content, and leaves. Returns the status and the
 * row.
 */
async function leave(
  name: string,
  key: string,
): Promise<{ readonly status: number; readonly row: SpendRow | undefined }> {
  const { events, frame: framed = sse } = dialect(name);
  const wanted = events.reduce((sum, event) => sum + Buffer.byteLength(framed(event)), 0);
  const controller = new AbortController();
  const response = await post(name, key, controller.signal);
  if (response.status !== 200) {
    await response.text();
    return { status: response.status, row: undefined };
  }
  const reader = response.body!.getReader();
  for (let seen = 0; seen < wanted;) seen += (await reader.read()).value?.length ?? wanted;
  controller.abort();
  const id = response.headers.get("x-request-id");
  const row = await eventually(
    "the row",
    async () => (await spendRows(gateway, { request_id: id ?? "" }))[0],
  );
  return { status: 200, row };
}

/** Calls until one is refused, and what they truly cost. */
async function spendAll(name: string, key: string): Promise<number> {
  let calls = 0;
  while (calls < 8 && (await leave(name, key)).status === 200) calls++;
  return calls * WORDS * OUTPUT_USD;
}

describe("a native stream that the client leaves before its total (F3, H2)", () => {
  it.each(names)("%s costs what it said", async (name) => {
    streams(dialect(name), false);
    const { row } = await leave(name, gateway.masterKey);
    expect(row).toMatchObject({
      status: "partial",
      usage_source: "estimated",
      cost_status: "priced",
    });
    expect(row?.completion_tokens).toBeGreaterThanOrEqual(WORDS * 0.9);
    // A tokenizer that is busy gives way to a fourth of the bytes.
    expect(row?.completion_tokens).toBeLessThanOrEqual(WORDS * 1.3);
    expect(row?.prompt_tokens).toBeGreaterThan(0);
  });

  it.each(names)("%s: what is reported in full is not counted", async (name) => {
    streams(dialect(name), true);
    const response = await post(name, gateway.masterKey);
    await response.text();
    const [row] = await rowsOf(gateway, response.headers.get("x-request-id"));
    expect(row).toMatchObject({
      status: "success",
      usage_source: "provider",
      prompt_tokens: 10,
      completion_tokens: WORDS,
    });
  });
});

describe("a budget against streams that are left", () => {
  it("holds in every dialect, and after a restart", async () => {
    const keys = new Map<string, string>();
    for (const name of names) {
      streams(dialect(name), false);
      const { key } = await createKey(gateway, { max_budget: BUDGET });
      keys.set(name, key);
      const cost = await spendAll(name, key);
      const isWithin = cost > 0 && cost <= BUDGET * 1.1;
      expect([name, cost, isWithin]).toEqual([name, cost, true]);
    }
    // What cannot be read costs what was reserved, in the ledger too.
    const unread = await createKey(gateway, { max_budget: BUDGET });
    const sound = async (): Promise<number> => {
      upstream.reply(200, "audio/wav", Buffer.from([1, 2, 3, 4, 200, 201]));
      const response = await post("OpenAI chat", unread.key);
      await response.arrayBuffer();
      return response.status;
    };
    expect([await sound(), await sound(), await sound()]).toEqual([200, 200, 429]);
    await gateway.kill();
    gateway = await startGateway(workspace);
    expect(await sound()).toBe(429);
    for (const [name, key] of keys) {
      streams(dialect(name), false);
      expect([name, (await leave(name, key)).status]).toEqual([name, 429]);
    }
  });
});

describe("a reply without a usage (P5)", () => {
  const name = "OpenAI chat";
  const withoutUsage = {
    ...dialect(name),
    end: [{ id: "c", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }],
  };

  const rowOf = async (key = gateway.masterKey): Promise<SpendRow | undefined> => {
    const response = await post(name, key);
    await response.arrayBuffer();
    return (await rowsOf(gateway, response.headers.get("x-request-id")))[0];
  };

  it("is counted, and the request is sent as it came", async () => {
    streams(withoutUsage, true);
    const row = await rowOf();
    expect(row).toMatchObject({
      status: "success",
      usage_source: "estimated",
      cost_status: "priced",
    });
    expect(row?.completion_tokens).toBeGreaterThanOrEqual(WORDS * 0.9);
    expect(upstream.requests.at(-1)?.body.toString()).toBe(JSON.stringify(dialect(name).body));
  });

  it.each(["text/plain", "application/octet-stream", "application/json", "audio/wav"])(
    "is read as %s too",
    async (type) => {
      streams({ ...dialect(name), type }, true);
      expect(await rowOf()).toMatchObject({ usage_source: "provider", completion_tokens: WORDS });
    },
  );

  it("is read through a coding", async () => {
    const { events, end } = dialect(name);
    const bytes = gzipSync([...events, ...end].map(sse).join(""));
    upstream.reply(200, "text/event-stream", bytes, { "content-encoding": "gzip" });
    expect(await rowOf()).toMatchObject({ usage_source: "provider", completion_tokens: WORDS });
  });

  it("has the reserved usage in its row where it cannot be read and a budget holds", async () => {
    upstream.reply(200, "audio/wav", Buffer.from([1, 2, 3, 4, 200, 201]));
    const { key } = await createKey(gateway, { max_budget: BUDGET });
    expect(await rowOf(key)).toMatchObject({
      usage_source: "estimated",
      cost_status: "priced",
      completion_tokens: WORDS,
    });
    expect(await rowOf()).toMatchObject({
      usage_source: null,
      cost_status: "unpriced",
      spend: null,
    });
  });

  it("has the reserved usage in its row where the upstream goes on in the background", async () => {
    upstream.reply(
      200,
      "application/json",
      '{"id":"r","object":"response","status":"queued","usage":null}',
    );
    const { key } = await createKey(gateway, { max_budget: BUDGET });
    const response = await fetch(`${gateway.publicUrl}/openai/v1/responses`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "m",
        input: "Say it.",
        background: true,
        max_output_tokens: WORDS,
      }),
    });
    await response.text();
    const [row] = await rowsOf(gateway, response.headers.get("x-request-id"));
    expect(row).toMatchObject({ usage_source: "estimated", completion_tokens: WORDS });
  });

  it.each<readonly [string, object, string]>([
    ["/anthropic/v1/messages/count_tokens", CHAT, '{"input_tokens":12}'],
    ["/gemini/v1beta/models/m:countTokens", { contents: [] }, '{"totalTokens":12}'],
    [`${VERTEX}/google/models/m:countTokens`, { contents: [] }, '{"totalTokens":12}'],
    [
      "/bedrock/model/m/count-tokens",
      { input: { converse: { messages: [] } } },
      '{"inputTokens":12}',
    ],
  ])("is free where the endpoint counts tokens: %s", async (path, body, counted) => {
    upstream.reply(200, "application/json", counted);
    const headers = {
      authorization: `Bearer ${gateway.masterKey}`,
      "content-type": "application/json",
    };
    const url = gateway.publicUrl + path;
    const response = await fetch(url, { method: "POST", body: JSON.stringify(body), headers });
    expect([response.status, await response.text()]).toEqual([200, counted]);
    const [row] = await rowsOf(gateway, response.headers.get("x-request-id"));
    expect(row).toMatchObject({ cost_status: "free", spend: 0 });
  });
});
