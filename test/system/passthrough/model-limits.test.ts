/** Limits of single models at native routes: they hold for the target's model. */

import { afterAll, beforeAll, expect, it } from "vitest";
import { createKey, MESSAGES, rowsOf } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";

const CREDENTIAL = 'api_key: "${env:OPENAI_API_KEY}"';
const PRICE = "price: { input: 0, output: 0, request: 0.01 }";
const LIMITS = [{ rpm: 1 }, { max_budget: 0.015 }];

let upstream: NativeUpstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createNativeUpstream();
  upstream.reply(200, "application/json", JSON.stringify({ id: "c", choices: [] }));
  gateway = await startGateway({
    baseUrl: `${upstream.url}/v1`,
    attempts: 1,
    providers: [
      `down: { use: openai, ${CREDENTIAL}, base_url: "http://127.0.0.1:9/v1" }`,
      `gemini: { use: gemini, ${CREDENTIAL}, base_url: ${upstream.url} }`,
    ],
    models: [
      `{ id: fast, targets: [{ provider: openai, model: up-fast, ${PRICE} }], access_groups: [some] }`,
      `{ id: "wild/*", targets: [{ provider: openai, model: "*", ${PRICE} }] }`,
      `{ id: first, targets: [{ provider: down, model: m, ${PRICE} }], fallbacks: { general: [fast] } }`,
      `{ id: seen, targets: [{ provider: gemini, model: up-seen, ${PRICE} }] }`,
    ],
  });
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

async function ask(key: string, path: string, model: string): Promise<Response> {
  const contents = [{ role: "user", parts: [{ text: "Hi." }] }];
  const body = path.includes("gemini")
    ? { contents }
    : { model, max_tokens: 5, messages: MESSAGES };
  const response = await fetch(gateway.publicUrl + path, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  await response.text();
  return response;
}

const OPENAI = "/openai/v1/chat/completions";
const GEMINI = "/gemini/v1beta/models/up-seen:generateContent";
const CALLS: readonly (readonly [limited: string, path: string, model: string])[] = [
  ["fast", OPENAI, "up-fast"],
  ["some", OPENAI, "up-fast"],
  // In another spelling, as Azure and Ollama take it.
  ["fast", OPENAI, "UP-Fast:latest"],
  ["wild/other", OPENAI, "other"],
  ["wild/*", OPENAI, "other"],
  ["seen", GEMINI, "up-seen"],
];

it.each(CALLS.flatMap((call) => LIMITS.map((limit) => [...call, limit] as const)))(
  "of %s hold at %s with %s: %j",
  async (limited, path, model, limit) => {
    const { key } = await createKey(gateway, { per_model: { [limited]: limit } });
    const first = await ask(key, path, model);
    expect(first.status).toBe(200);
    expect(first.headers.get("x-sluice-model")).toBe(model);
    const [row] = await rowsOf(gateway, first.headers.get("x-request-id"));
    expect(row).toMatchObject({ model, spend: 0.01 });
    expect((await ask(key, path, model)).status).toBe(429);
  },
);

it.each(["gemini/lone", "gemini/*"])(
  "of %s hold where no model has the target",
  async (limited) => {
    const { key } = await createKey(gateway, { per_model: { [limited]: { rpm: 1 } } });
    const path = "/gemini/v1beta/models/lone:generateContent";
    expect((await ask(key, path, "lone")).status).toBe(200);
    expect((await ask(key, path, "lone")).status).toBe(429);
  },
);

it("hold at their model alone", async () => {
  const { key } = await createKey(gateway, { per_model: { fast: { rpm: 1 } } });
  for (const [model, status] of [
    ["other", 200],
    ["up-fast", 200],
    ["other", 200],
    ["up-fast", 429],
  ] as const)
    expect((await ask(key, OPENAI, model)).status).toBe(status);
});

it("hold for a model that stands in, where the key has no other limit", async () => {
  const whole = { role: "assistant", content: "Hello." };
  const choices = [{ index: 0, message: whole, finish_reason: "stop" }];
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const reply = { id: "c", object: "chat.completion", created: 1, model: "m", choices, usage };
  upstream.reply(200, "application/json", JSON.stringify(reply));
  const { key } = await createKey(gateway, { per_model: { fast: { rpm: 1 } } });
  expect((await ask(key, "/v1/chat/completions", "first")).status).toBe(200);
  expect((await ask(key, "/v1/chat/completions", "first")).status).not.toBe(200);
});
