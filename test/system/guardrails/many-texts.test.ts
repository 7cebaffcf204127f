/** Bodies and events with more texts than guardrails find in one turn of the event loop. */

import type { JsonObject } from "@sluice/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chat } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";
import { guardedWorkspace } from "./guardrails.fixture.ts";

let upstream: NativeUpstream;
let gateway: GatewayProcess;
beforeAll(async () => {
  upstream = await createNativeUpstream();
  const workspace = guardedWorkspace({
    baseUrl: `${upstream.url}/v1`,
    attempts: 1,
    balance: "{ breaker: { eject_single: false } }",
    guardrails: ["mask: { use: forbid, word: secret, action: mask }"],
    step: "{ input: [mask], output: [mask] }",
  });
  gateway = await startGateway(workspace, { OPENAI_API_KEY: "credential-of-the-tests-01234" });
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const ask = (more: object = {}): Promise<Response> =>
  chat(gateway, { model: "gpt-4o", messages: [{ role: "user", content: "Hi." }], ...more });
const words = (count: number): string[] => Array.from({ length: count }, (_, at) => `word ${at}`);
const chunk = (delta: JsonObject): JsonObject => ({
  id: "c",
  choices: [{ index: 0, delta, finish_reason: null }],
});
const END = `data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`;

function stream(...chunks: readonly JsonObject[]): void {
  const text = chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`).join("");
  upstream.reply(200, "text/event-stream", text + END);
}

function reply(message: JsonObject): void {
  const choice = { index: 0, message: { role: "assistant", ...message }, finish_reason: "stop" };
  upstream.reply(200, "application/json", JSON.stringify({ id: "c", choices: [choice] }));
}

describe("texts that guardrails check", () => {
  it("are refused beyond 25,000 in a request, and nothing is sent", async () => {
    const tool = { type: "function", function: { name: "f", parameters: { enum: words(26_000) } } };
    const before = upstream.requests.length;
    const response = await ask({ tools: [tool] });
    expect([response.status, await response.text()]).toEqual([
      400,
      expect.stringContaining("more than 25000 texts, which guardrails check"),
    ]);
    expect(upstream.requests.length).toBe(before);
  });

  it("are refused beyond 25,000 in a whole reply, and none of it is shown", async () => {
    reply({ content: "x", odd: { many: words(26_000) } });
    const response = await ask();
    const text = await response.text();
    expect([response.status, text.includes("word 1")]).toEqual([502, false]);
    expect(text).toContain("more than 25000 texts, which guardrails check");
  });

  it("are refused beyond 25,000 in an event, and none of it is shown", async () => {
    // 300,000 are more than an array takes as arguments of one call.
    for (const count of [26_000, 300_000]) {
      stream(chunk({ content: "First." }), chunk({ content: "x", odd: { many: words(count) } }));
      const text = await (await ask({ stream: true })).text();
      expect(text.includes("word 1")).toBe(false);
      expect(text).toContain("more than 25000 texts, which guardrails check");
    }
  });

  it("are all edited below that", async () => {
    reply({ content: "x", odd: { many: words(20_000).map((word) => `secret ${word}`) } });
    const whole = await (await ask()).text();
    expect([whole.match(/\*\*\* word/g)?.length, whole.includes("secret")]).toEqual([
      20_000,
      false,
    ]);
    const odd = { many: words(5_000).map((word) => `secret ${word}`) };
    stream(chunk({ content: "x", odd }));
    const event = await (await ask({ stream: true })).text();
    expect([event.match(/\*\*\* word/g)?.length, event.includes("secret")]).toEqual([5_000, false]);
    const choices = Array.from({ length: 128 }, (_, index) => ({
      index,
      delta: { content: "secret ".repeat(300) },
      finish_reason: null,
    }));
    stream({ id: "c", choices });
    const streamed = await (await ask({ stream: true })).text();
    expect(streamed.match(/\*\*\*/g)?.length).toBe(128 * 300);
    expect(streamed.includes("secret")).toBe(false);
  });
});

describe("events before the first content", () => {
  it("are refused beyond 8,192", async () => {
    stream(...Array.from({ length: 8_200 }, () => chunk({ role: "assistant" })));
    const response = await ask({ stream: true });
    expect([response.status, await response.text()]).toEqual([
      502,
      expect.stringContaining("more than 8192 events before a content"),
    ]);
  });
});
