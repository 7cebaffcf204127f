/**
 * Successful replies that quote the provider's credential, on every lane of a face: its client gets
 * a mask of its length, wherever the bytes of the reply are divided.
 */

import { afterAll, beforeAll, expect, it } from "vitest";
import { fourProviders, PROVIDER_ENVIRONMENT } from "../support/faces/four-providers.ts";
import { type GatewayProcess, startGateway, UPSTREAM_KEY } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";

const { NATIVE_KEY } = PROVIDER_ENVIRONMENT;
let upstream: NativeUpstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createNativeUpstream();
  gateway = await startGateway(fourProviders(upstream.url), PROVIDER_ENVIRONMENT);
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const event = (type: string, rest: object = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
const USAGE = { input_tokens: 3, output_tokens: 1 };
const message = (echo: string) => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "anthropic",
  content: [{ type: "text", text: `Hi ${echo}.` }],
  of_next_year: { echo },
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: USAGE,
});
const text = (piece: string, more: object = {}): string =>
  event("content_block_delta", { index: 0, delta: { type: "text_delta", text: piece }, ...more });
const messageStream = (echo: string): string =>
  [
    event("message_start", {
      message: { ...message(echo), content: [], stop_reason: null },
    }),
    event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    ...Array.from({ length: 8 }, (_, at) => text(` w${at}`)),
    text(` ${echo}`),
    text(" Hi.", { of_next_year: echo }),
    event("of_next_year", { echo }),
    event("content_block_stop", { index: 0 }),
    event("message_delta", {
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: USAGE,
    }),
    event("message_stop", { of_next_year: echo }),
  ].join("");

const MESSAGES = { path: "/v1/messages", model: "anthropic", secret: NATIVE_KEY };

async function ask(path: string, body: object): Promise<string> {
  const response = await fetch(`${gateway.publicUrl}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.masterKey}`, "content-type": "application/json" },
    body: JSON.stringify({ messages: [{ role: "user", content: "Hi." }], ...body }),
  });
  expect(response.status).toBe(200);
  return response.text();
}

const mask = (secret: string): string => "*".repeat(secret.length);

it("a whole message is relayed with masks", async () => {
  const { path, model, secret } = MESSAGES;
  upstream.reply(200, "application/json", JSON.stringify(message(secret)));
  const said = await ask(path, { model, max_tokens: 9 });
  expect(said).toBe(JSON.stringify(message(mask(secret))));
});

it.each(Array.from({ length: NATIVE_KEY.length + 1 }, (_, at) => at))(
  "a stream of messages is relayed with masks, each value divided at %i",
  async (at) => {
    const { path, model, secret } = MESSAGES;
    upstream.answer(async (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const parts = messageStream(secret).split(secret);
      for (const [index, part] of parts.entries()) {
        response.write(`${index === 0 ? "" : secret.slice(at)}${part}`);
        await new Promise((resolve) => setTimeout(resolve, 2));
        if (index < parts.length - 1) response.write(secret.slice(0, at));
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      response.end();
    });
    const said = await ask(path, { model, max_tokens: 9, stream: true });
    expect(said).toBe(messageStream(mask(secret)));
  },
);

const choice = (member: "delta" | "message", echo: string, reason: string | null) => ({
  index: 0,
  [member]: { role: "assistant", content: `Hi ${echo}.`, of_next_year: echo },
  finish_reason: reason,
});
const chat = (choices: object[], echo: string): string =>
  JSON.stringify({ id: "c", created: 1, model: "openai", of_next_year: echo, choices });

it("a chat reply has masks, in known and unknown members", async () => {
  const whole = (echo: string): string => chat([choice("message", echo, "stop")], echo);
  upstream.reply(200, "application/json", whole(UPSTREAM_KEY));
  const said = await ask("/v1/chat/completions", { model: "openai" });
  expect(JSON.parse(said)).toMatchObject(JSON.parse(whole(mask(UPSTREAM_KEY))));
});

it("a chat stream has masks, in known and unknown members", async () => {
  const event = (reason: string | null): string =>
    `data: ${chat([choice("delta", UPSTREAM_KEY, reason)], UPSTREAM_KEY)}\n\n`;
  const events = [...Array.from({ length: 9 }, () => event(null)), event("stop")];
  upstream.reply(200, "text/event-stream", `${events.join("")}data: [DONE]\n\n`);
  const said = await ask("/v1/chat/completions", { model: "openai", stream: true });
  expect(said).not.toContain(UPSTREAM_KEY);
  expect(said.split(mask(UPSTREAM_KEY))).toHaveLength(3 * events.length + 1);
});

it("a translated message has masks", async () => {
  upstream.reply(200, "application/json", JSON.stringify(message(NATIVE_KEY)));
  const said = await ask("/v1/chat/completions", { model: "anthropic" });
  expect(said).not.toContain(NATIVE_KEY);
  expect(said).toContain(mask(NATIVE_KEY));
});
