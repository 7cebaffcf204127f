/**
 * Requests with as many messages, blocks, calls, tools and schemas as a body may hold, at every kind
 * of provider. They are translated in time linear in their size, and no turn of the event loop takes
 * long. CPU of the serving thread is counted, which other work on the machine hardly changes.
 */

import type { JsonObject } from "@sluice/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chat } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startOwnProcess } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";

/** Five times the goal of `proof:bodies`: a test is compiled and collected meanwhile. */
const MAX_TURN_MS = 250;
const KEY = `api_key: "\${env:OPENAI_API_KEY}"`;
const PROVIDERS = ["openai", "anthropic", "gemini", "mistral", "cohere"] as const;
const USER = { role: "user", content: "x" };

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const named = (count: number, value: JsonObject): JsonObject =>
  Object.fromEntries(times(count, (index) => [`p${index}`, value]));
const tool = (name: string, parameters: JsonObject = {}): JsonObject => ({
  type: "function",
  function: { name, parameters },
});
const call = (index: number): JsonObject => ({
  id: `call-${index}`,
  type: "function",
  function: { name: "f", arguments: "{}" },
});
const result = (id: string): JsonObject => ({ role: "tool", tool_call_id: id, content: "x" });

const SHAPES: Readonly<Record<string, JsonObject>> = {
  "24,000 messages of one role": { messages: times(24_000, () => USER) },
  "24,000 messages in turn": {
    messages: times(24_000, (n) => ({ role: n % 2 === 0 ? "user" : "assistant", content: "x" })),
  },
  "24,000 blocks": {
    messages: [{ role: "user", content: times(24_000, () => ({ type: "text", text: "x" })) }],
  },
  "7,500 calls, answered in reverse": {
    messages: [
      USER,
      { role: "assistant", content: null, tool_calls: times(7_500, call) },
      ...times(7_500, (n) => result(`call-${7_499 - n}`)),
    ],
  },
  "results of 12,000 calls that do not exist": {
    messages: [
      USER,
      { role: "assistant", content: null, tool_calls: times(6_000, call) },
      ...times(12_000, (n) => result(`none-${n}`)),
    ],
  },
  "3,800 allowed ones of 3,800 tools": {
    messages: [USER],
    tools: times(3_800, (n) => tool(`tool-${n}`)),
    tool_choice: {
      type: "allowed_tools",
      allowed_tools: {
        mode: "auto",
        tools: times(3_800, (n) => tool(`tool-${3_799 - n}`)),
      },
    },
  },
  "a schema of 15,000 members and as many required names": {
    messages: [USER],
    tools: [
      tool("f", {
        type: "object",
        properties: named(15_000, { type: "string" }),
        required: times(60_000, (n) => `p${60_000 - n}`),
      }),
    ],
  },
  "4,500 parts of an allOf": {
    messages: [USER],
    tools: [
      tool("f", {
        type: "object",
        allOf: times(4_500, (n) => ({ properties: { [`p${n}`]: {} }, required: [`p${n}`] })),
      }),
    ],
  },
};

describe("a request with many parts", () => {
  let upstream: NativeUpstream;
  let gateway: GatewayProcess;

  beforeAll(async () => {
    upstream = await createNativeUpstream();
    const refusal = { type: "error", error: { type: "invalid_request_error", message: "no" } };
    upstream.reply(400, "application/json", JSON.stringify(refusal));
    gateway = await startOwnProcess(
      {
        baseUrl: `${upstream.url}/v1`,
        providers: PROVIDERS.slice(1).map(
          (name) => `${name}: { use: ${name}, ${KEY}, base_url: "${upstream.url}" }`,
        ),
        models: PROVIDERS.map(
          (name) => `{ id: ${name}, targets: [{ provider: ${name}, model: any }] }`,
        ),
      },
      {
        NODE_OPTIONS: `--import ${new URL("../../soak/loop-probe.ts", import.meta.url).pathname}`,
      },
    );
  });
  afterAll(async () => {
    await gateway?.dispose();
    await upstream.close();
  });

  async function longestTurnMs(): Promise<number> {
    const from = gateway.stderr.length;
    gateway.signal("SIGUSR2");
    const [, line = ""] = await eventually(
      "the loop probe",
      () => /^loop (.*)$/m.exec(gateway.stderr.slice(from)) ?? undefined,
    );
    return (JSON.parse(line) as { mostMs: number }).mostMs;
  }

  it.each(Object.keys(SHAPES))("%s: each provider translates or refuses it", async (shape) => {
    const seen: Record<string, number> = {};
    for (const model of PROVIDERS) {
      await longestTurnMs();
      const response = await chat(gateway, { model, ...SHAPES[shape] });
      const text = await response.text();
      // The upstream's refusal, or the provider's own.
      expect(response.status).toBe(400);
      expect(text).not.toContain("lists and objects");
      seen[model] = await longestTurnMs();
    }
    const long = Object.entries(seen).filter(([, ms]) => ms > MAX_TURN_MS);
    expect(long).toEqual([]);
  });

  it.each(["chat/completions", "embeddings"])(
    "of %s: an object of 21,000 members is refused",
    async (path) => {
      const value = { model: "openai", messages: [USER], input: "x", odd: named(21_000, {}) };
      const body = JSON.stringify(value).replaceAll("{}", `"${"x".repeat(10)}"`);
      const response = await fetch(`${gateway.publicUrl}/v1/${path}`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${gateway.masterKey}`,
          "content-type": "application/json",
        },
        body,
      });
      expect([response.status, await response.text()]).toEqual([
        400,
        expect.stringContaining("an object with more than 20000 members"),
      ]);
    },
  );

  it("with arguments of 30,000 members is refused where they are read", async () => {
    const values = Object.fromEntries(times(30_000, (index) => [`p${index}`, index]));
    const asked = { ...call(0), function: { name: "f", arguments: JSON.stringify(values) } };
    const messages = [
      USER,
      { role: "assistant", content: null, tool_calls: [asked] },
      result("call-0"),
    ];
    for (const model of PROVIDERS) {
      const text = await (await chat(gateway, { model, messages })).text();
      const isRead = model !== "openai";
      expect([
        model,
        text.includes("messages[1].tool_calls[0].function.arguments must be smaller"),
      ]).toEqual([model, isRead]);
    }
  });

  it("beyond 25,000 lists and objects is refused", async () => {
    const response = await chat(gateway, { model: "openai", messages: times(26_000, () => USER) });
    expect([response.status, await response.text()]).toEqual([
      400,
      expect.stringContaining("The body has more than 25000 lists and objects."),
    ]);
  });
});
