/**
 * Replies that name the coding `identity`: they have none. Names of codings differ not by case (RFC
 * 9110, 8.4.1).
 */

import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chat, MESSAGES, rowsOf } from "../support/client.ts";
import { type GatewayProcess, startGateway, UPSTREAM_KEY } from "../support/gateway-process.ts";
import { NEVER_EJECTS } from "../support/workspace.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";

const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
const head = { id: "c", created: 1, model: "gpt-4o-mini" };
/** Quotes the credential that the gateway sent. */
const WORDS = `Hello from ${UPSTREAM_KEY}.`;
const message = { role: "assistant", content: WORDS };
const WHOLE = JSON.stringify({
  ...head,
  object: "chat.completion",
  choices: [{ index: 0, message, finish_reason: "stop" }],
  usage,
});
const STREAM = [
  { choices: [{ index: 0, delta: message, finish_reason: null }] },
  { choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage },
]
  .map((chunk) => ({ ...head, object: "chat.completion.chunk", ...chunk }))
  .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
  .concat("data: [DONE]\n\n")
  .join("");

let upstream: NativeUpstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createNativeUpstream();
  gateway = await startGateway({
    baseUrl: `${upstream.url}/v1`,
    attempts: 1,
    balance: NEVER_EJECTS,
    sections: [
      "guardrails:\n  words: { use: words, lists: [{ name: w, words: [Hello], action: mask }] }",
    ],
  });
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

function answers(stream: boolean, coding: string): void {
  const headers = { "content-encoding": coding };
  if (stream) upstream.reply(200, "text/event-stream", STREAM, headers);
  else upstream.reply(200, "application/json", WHOLE, headers);
}

function ask(path: string, stream: boolean, more: object = {}): Promise<Response> {
  return fetch(`${gateway.publicUrl}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.masterKey}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "gpt-4o-mini", messages: MESSAGES, stream, ...more }),
  });
}

describe.each(["identity", "Identity", "IDENTITY", "", "identity, identity"])(
  "a reply with the coding %j",
  (coding) => {
    it.each([false, true])("is read on chat routes; streamed: %s", async (stream) => {
      answers(stream, coding);
      const response = await ask("/v1/chat/completions", stream);
      expect(await response.text()).toContain("Hello from");
      expect(response.status).toBe(200);
    });

    it.each([false, true])(
      "is searched and metered on native ones; streamed: %s",
      async (stream) => {
        answers(stream, coding);
        const response = await ask("/openai/v1/chat/completions", stream);
        const text = await response.text();
        expect(text).toContain("Hello from");
        expect(text).not.toContain(UPSTREAM_KEY);
        const [row] = await rowsOf(gateway, response.headers.get("x-request-id"));
        expect(row).toMatchObject({
          status: "success",
          usage_source: "provider",
          total_tokens: 18,
        });
      },
    );

    it("is judged on native ones", async () => {
      answers(false, coding);
      const response = await ask("/openai/v1/chat/completions", false, { guardrails: ["words"] });
      expect(await response.text()).not.toContain("Hello");
      expect(response.status).toBe(200);
    });

    it("is an error that is read", async () => {
      upstream.reply(400, "application/json", JSON.stringify({ error: { message: WORDS } }), {
        "content-encoding": coding,
      });
      const response = await ask("/openai/v1/chat/completions", false);
      expect(await response.text()).toContain("Hello from [redacted]");
      expect((await chat(gateway, { model: "gpt-4o-mini", messages: MESSAGES })).status).toBe(400);
    });
  },
);

it("codings in several headers are those of the reply", async () => {
  upstream.answer((response) => {
    const coding = ["content-encoding", "identity", "content-encoding", "GZIP"];
    response.writeHead(200, ["content-type", "application/json", ...coding]).end(gzipSync(WHOLE));
  });
  const response = await ask("/openai/v1/chat/completions", false);
  expect(await response.text()).toContain("Hello from");
  const [row] = await rowsOf(gateway, response.headers.get("x-request-id"));
  expect(row).toMatchObject({ usage_source: "provider", total_tokens: 18 });
});

it("a coding that was not asked for is refused on chat routes", async () => {
  answers(false, "identity, gzip");
  expect((await ask("/v1/chat/completions", false)).status).toBe(502);
});
