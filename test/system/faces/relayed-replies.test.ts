/**
 * Replies of the native lane through the front door: the upstream's own, with the client's name of
 * the model, for Anthropic's and Google's SDKs; translated where a step reads or edits them.
 */

import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { guardedWorkspace } from "../guardrails/guardrails.fixture.ts";
import { anthropicClient, googleClient } from "../support/faces/face-clients.ts";
import { fourProviders, PROVIDER_ENVIRONMENT } from "../support/faces/four-providers.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";

const WORD = "zqforbiddenzq";
let upstream: NativeUpstream;
let gateway: GatewayProcess;
const place = () => ({ publicUrl: gateway.publicUrl, key: gateway.masterKey });

beforeAll(async () => {
  upstream = await createNativeUpstream();
  const four = fourProviders(upstream.url);
  const workspace = guardedWorkspace({
    ...four,
    models: [
      ...four.models,
      "{ id: chain, targets: [{ provider: anthropic, model: claude-sonnet-4-5 }], fallbacks: { general: [openai] } }",
      "{ id: back, targets: [{ provider: openai, model: gpt-5-mini }], fallbacks: { general: [anthropic] } }",
    ],
    guardrails: [`masking: { use: forbid, word: ${WORD}, action: mask }`],
    step: "{}",
  });
  gateway = await startGateway(workspace, PROVIDER_ENVIRONMENT);
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const event = (type: string, rest: object = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
const text = (piece: string): string =>
  event("content_block_delta", { index: 0, delta: { type: "text_delta", text: piece } });
const MESSAGE = {
  id: "msg_upstream",
  type: "message",
  role: "assistant",
  model: "claude-sonnet-4-5-20250929",
  content: [],
  of_next_year: { a: [1] },
  stop_reason: null,
  stop_sequence: null,
  usage: { input_tokens: 3, output_tokens: 1, of_next_year: 7 },
};
const START = event("message_start", { message: MESSAGE });
const OPEN = event("content_block_start", { index: 0, content_block: { type: "text", text: "" } });
const NEXT_YEAR = event("of_next_year", { value: 12 });
const CLOSE = event("content_block_stop", { index: 0 });
const DELTA = event("message_delta", {
  delta: { stop_reason: "end_turn", stop_sequence: null },
  usage: { output_tokens: 9, of_next_year: 8 },
});
const STOP = event("message_stop", { of_next_year: true });
const WORDS = Array.from({ length: 40 }, (_, index) => text(` w${index}`));
const STREAM = [START, OPEN, ...WORDS, NEXT_YEAR, text(" ü."), CLOSE, DELTA, STOP];
const shown = (events: readonly string[]): string =>
  events.join("").replace("claude-sonnet-4-5-20250929", "anthropic");

function sendEvents(response: ServerResponse, events: readonly string[]): ServerResponse {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const each of events) response.write(each);
  return response;
}

async function ask(body: object, headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(`${gateway.publicUrl}/v1/messages`, {
    method: "POST",
    headers: { "x-api-key": gateway.masterKey, "content-type": "application/json", ...headers },
    body: JSON.stringify({
      model: "anthropic",
      max_tokens: 100,
      messages: [{ role: "user", content: "Hi." }],
      ...body,
    }),
  });
  return { response, said: await response.text() };
}

async function rowOf(response: Response): Promise<Record<string, unknown>> {
  const id = response.headers.get("x-request-id");
  const list = await fetch(`${gateway.publicUrl}/spend/logs?request_id=${id}`, {
    headers: { authorization: `Bearer ${gateway.masterKey}` },
  });
  const rows = (await list.json()) as Record<string, unknown>[];
  expect(rows).toHaveLength(1);
  return rows[0]!;
}

describe("a stream of messages", () => {
  it("is the upstream's, unknown events and members too", async () => {
    upstream.answer((response) => sendEvents(response, STREAM).end());
    const { response, said } = await ask({ stream: true });
    expect(said).toBe(shown(STREAM));
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    expect(await rowOf(response)).toMatchObject({ prompt_tokens: 3, completion_tokens: 9 });
  });

  it("comes to Anthropic's SDK whole", async () => {
    upstream.answer((response) => sendEvents(response, STREAM).end());
    const events: unknown[] = [];
    const stream = anthropicClient(place()).messages.stream({
      model: "anthropic",
      max_tokens: 100,
      messages: [{ role: "user", content: "Hi." }],
    });
    stream.on("streamEvent", (each) => events.push(each));
    const message = await stream.finalMessage();
    expect(message).toMatchObject({
      id: "msg_upstream",
      model: "anthropic",
      of_next_year: { a: [1] },
      stop_reason: "end_turn",
    });
    expect(events).toHaveLength(STREAM.length);
  });

  it("that breaks ends with the error of the dialect", async () => {
    upstream.answer((response) => {
      sendEvents(response, STREAM.slice(0, 10));
      setTimeout(() => response.destroy(), 50);
    });
    const { response, said } = await ask({ stream: true });
    const sent = shown(STREAM.slice(0, 10));
    expect(said.startsWith(sent)).toBe(true);
    const rest = said.slice(sent.length);
    expect(rest).toMatch(/^event: error\ndata: \{"type":"error","error":\{"type":"api_error"/);
    expect(said).not.toContain("message_stop");
    expect(await rowOf(response)).toMatchObject({ status: "partial" });
  });

  it("that reports an error ends with the error of the gateway", async () => {
    const error = event("error", { error: { type: "overloaded_error", message: "Busy" } });
    upstream.answer((response) => sendEvents(response, [...STREAM.slice(0, 10), error]).end());
    const { said } = await ask({ stream: true });
    expect(said.slice(shown(STREAM.slice(0, 10)).length)).toMatch(
      /^event: error\ndata: .*"overloaded_error".*"request_id"/,
    );
  });

  it("that fails before its first content goes to the other model, as if it had never begun", async () => {
    const chat = [
      { choices: [{ index: 0, delta: { role: "assistant", content: "From the bridge." } }] },
      { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
    ].map((chunk) => `data: ${JSON.stringify({ id: "c", model: "gpt", ...chunk })}\n\n`);
    upstream.answer((response, { url }) => {
      if (url.includes("chat/completions"))
        sendEvents(response, [...chat, "data: [DONE]\n\n"]).end();
      else {
        sendEvents(response, [START, event("ping"), OPEN]);
        setTimeout(() => response.destroy(), 20);
      }
    });
    const { response, said } = await ask({ model: "chain", stream: true });
    expect(response.headers.get("x-sluice-attempts")).toBe("2");
    expect(said).not.toContain("msg_upstream");
    expect(said).not.toContain("of_next_year");
    expect(said.match(/event: message_start/g)).toHaveLength(1);
    expect(said).toContain("From the bridge.");
    expect(said).toContain("message_stop");
  });

  it("of a fallback is relayed too", async () => {
    upstream.answer((response, { url }) => {
      if (url.includes("chat/completions")) response.writeHead(500).end("{}");
      else sendEvents(response, STREAM).end();
    });
    const { said } = await ask({ model: "back", stream: true });
    expect(said).toBe(shown(STREAM));
  });

  it("that a guardrail reads is translated, and masked", async () => {
    const events = [START, OPEN, text(`A ${WORD.slice(0, 5)}`), text(`${WORD.slice(5)} b.`)];
    upstream.answer((response) => sendEvents(response, [...events, CLOSE, DELTA, STOP]).end());
    const { said } = await ask({ stream: true, guardrails: ["masking"] });
    expect(said).not.toContain("zqforb");
    expect(said).not.toContain("of_next_year");
    expect(said).toContain("***");
    expect(said).toContain("message_stop");
  });

  it("is shared by identical requests that wait for it", async () => {
    const { promise, resolve } = Promise.withResolvers<ServerResponse>();
    upstream.answer((response) => resolve(sendEvents(response, STREAM.slice(0, 20))));
    const body = { stream: true, cache: { "use-cache": true }, metadata: { user_id: "shared" } };
    const first = ask(body);
    const sent = await promise;
    const second = ask(body);
    setTimeout(() => {
      for (const each of STREAM.slice(20)) sent.write(each);
      sent.end();
    }, 300);
    const [a, b] = await Promise.all([first, second]);
    expect([a.said, b.said]).toEqual([shown(STREAM), shown(STREAM)]);
    expect(b.response.headers.get("x-sluice-cache")).toBe("hit");
  });

  it("is kept as it was, for requests whose documents are alike", async () => {
    upstream.answer((response) => sendEvents(response, STREAM).end());
    const cached = { stream: true, cache: { "use-cache": true }, system: "Of the cache." };
    const [first, hit] = [await ask(cached), await ask({ ...cached, metadata: { user_id: "b" } })];
    expect(hit.response.headers.get("x-sluice-cache")).toBe("hit");
    expect([first.said, hit.said]).toEqual([shown(STREAM), shown(STREAM)]);
    // The translation says nothing of this member, and the upstream gets it.
    const other = await ask({ ...cached, context_management: { edits: [] } });
    expect(other.response.headers.get("x-sluice-cache")).toBe("miss");
    const beta = await ask(cached, { "anthropic-beta": "next-2027-01-01" });
    expect(beta.response.headers.get("x-sluice-cache")).toBe("miss");
    const whole = await ask({ ...cached, stream: false });
    expect(whole.response.headers.get("x-sluice-cache")).toBe("hit");
    expect(JSON.parse(whole.said)).toMatchObject({ type: "message", stop_reason: "end_turn" });
  });

  it("is repeated as it was for an idempotency key", async () => {
    upstream.answer((response) => sendEvents(response, STREAM).end());
    const headers = { "idempotency-key": "relayed" };
    const first = await ask({ stream: true }, headers);
    const calls = upstream.requests.length;
    const repeat = await ask({ stream: true }, headers);
    expect([first.said, repeat.said]).toEqual([shown(STREAM), shown(STREAM)]);
    expect(upstream.requests).toHaveLength(calls);
  });

  it("holds the upstream back while its client does not read", async () => {
    let written = 0;
    let isFull = false;
    upstream.answer((response) => {
      sendEvents(response, [START, OPEN]);
      const more = (): void => {
        while (written < 400) {
          written += 1;
          if (!response.write(text("x".repeat(262_144)))) {
            response.once("drain", more);
            return;
          }
        }
        response.end([CLOSE, DELTA, STOP].join(""));
      };
      response.on("close", () => (isFull = true));
      more();
    });
    const response = await fetch(`${gateway.publicUrl}/v1/messages`, {
      method: "POST",
      headers: { "x-api-key": gateway.masterKey, "content-type": "application/json" },
      body: JSON.stringify({
        model: "anthropic",
        max_tokens: 9,
        stream: true,
        messages: [{ role: "user", content: "Hi." }],
      }),
    });
    const reader = response.body!.getReader();
    await reader.read();
    let before = -1;
    while (before !== written) {
      before = written;
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    expect(written).toBeLessThan(400);
    expect(isFull).toBe(false);
    let bytes = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      bytes += value.length;
    }
    expect(bytes).toBeGreaterThan(400 * 262_144 - 70_000_000);
    expect(written).toBe(400);
  });
});

describe("a whole message", () => {
  const whole = {
    ...MESSAGE,
    content: [{ type: "text", text: "Fine.", of_next_year: 1 }],
    stop_reason: "end_turn",
  };

  it("is the upstream's, unknown members and the form of its text too", async () => {
    const written = JSON.stringify(whole, undefined, 1);
    upstream.reply(200, "application/json", written);
    const { response, said } = await ask({});
    expect(said).toBe(written.replace("claude-sonnet-4-5-20250929", "anthropic"));
    expect(await rowOf(response)).toMatchObject({ prompt_tokens: 3, completion_tokens: 1 });
  });

  it("without a usage is relayed all the same", async () => {
    const { usage: _usage, ...unbilled } = whole;
    upstream.reply(200, "application/json", JSON.stringify(unbilled));
    const { response, said } = await ask({});
    expect(JSON.parse(said)).toEqual({ ...unbilled, model: "anthropic" });
    expect(Number((await rowOf(response)).prompt_tokens)).toBeGreaterThan(0);
  });

  it("is kept as it was, in the cache and for an idempotency key", async () => {
    const written = JSON.stringify(whole, undefined, 1);
    upstream.reply(200, "application/json", written);
    const wanted = written.replace("claude-sonnet-4-5-20250929", "anthropic");
    const cached = { cache: { "use-cache": true }, system: "Of the whole cache." };
    expect([(await ask(cached)).said, (await ask(cached)).said]).toEqual([wanted, wanted]);
    const headers = { "idempotency-key": "relayed-whole" };
    const calls = upstream.requests.length;
    expect([(await ask({}, headers)).said, (await ask({}, headers)).said]).toEqual([
      wanted,
      wanted,
    ]);
    expect(upstream.requests).toHaveLength(calls + 1);
    // The stream of a stored whole reply is made by the gateway.
    const streamed = await ask({ ...cached, stream: true });
    expect(streamed.response.headers.get("x-sluice-cache")).toBe("hit");
    expect(streamed.said).toContain('"text":"Fine."');
  });

  it("that a guardrail has edited is translated", async () => {
    const said = { ...whole, content: [{ type: "text", text: `A ${WORD}.`, of_next_year: 1 }] };
    upstream.reply(200, "application/json", JSON.stringify(said));
    const { said: masked } = await ask({ guardrails: ["masking"] });
    expect(JSON.parse(masked)).toMatchObject({ content: [{ type: "text", text: "A ***." }] });
    expect(masked).not.toContain("of_next_year");
  });

  it("for a client that asked for a stream is a stream", async () => {
    upstream.reply(200, "application/json", JSON.stringify(whole));
    const { said } = await ask({ stream: true });
    expect(said).toMatch(/^event: message_start\n/);
    expect(said).toContain('"text":"Fine."');
    expect(said).toContain("event: message_stop");
  });
});

describe("a client of Gemini", () => {
  const reply = (piece: string, more: object = {}): object => ({
    candidates: [{ content: { parts: [{ text: piece }], role: "model" }, index: 0, ...more }],
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 2, totalTokenCount: 7 },
    modelVersion: "gemini-2.5-flash-001",
    responseId: "upstream-1",
    ofNextYear: { a: 1 },
  });

  it("gets the upstream's stream", async () => {
    const replies = [
      ...Array.from({ length: 20 }, (_, index) => reply(` w${index}`)),
      reply("", { finishReason: "STOP", avgLogprobs: -0.5 }),
    ];
    const events = replies.map((each) => `data: ${JSON.stringify(each)}\r\n\r\n`);
    upstream.answer((response) => sendEvents(response, events).end());
    const got = [];
    const asked = { model: "gemini", contents: "Hi." };
    for await (const each of await googleClient(place()).models.generateContentStream(asked))
      got.push(each);
    expect(got).toHaveLength(replies.length);
    expect(got.map(({ modelVersion }) => modelVersion)).toEqual(replies.map(() => "gemini"));
    expect(got.at(-1)).toMatchObject({
      responseId: "upstream-1",
      candidates: [{ finishReason: "STOP", avgLogprobs: -0.5 }],
    });
  });

  it("gets the upstream's whole reply", async () => {
    upstream.reply(
      200,
      "application/json",
      JSON.stringify(reply("Fine.", { finishReason: "STOP" })),
    );
    const said = await fetch(`${gateway.publicUrl}/v1beta/models/gemini:generateContent`, {
      method: "POST",
      headers: { "x-goog-api-key": gateway.masterKey, "content-type": "application/json" },
      body: JSON.stringify({ contents: [{ parts: [{ text: "Hi." }] }] }),
    });
    expect(await said.json()).toEqual({
      ...reply("Fine.", { finishReason: "STOP" }),
      modelVersion: "gemini",
    });
  });
});
