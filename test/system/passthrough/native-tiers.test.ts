/**
 * Tiers that native requests ask for: where a budget holds, one without a known price is refused
 * before the call, and one with a price is reserved and billed by it.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey, MESSAGES, rowsOf } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";

const KEY = 'api_key: "${env:OPENAI_API_KEY}"';
const PRICE = "price: { input: 1, output: 1 }";

let upstream: NativeUpstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createNativeUpstream();
  gateway = await startGateway({
    providers: [
      `anthropic: { use: anthropic, ${KEY}, base_url: ${upstream.url} }`,
      `bedrock: { use: bedrock, ${KEY}, region: eu-west-1, base_url: ${upstream.url} }`,
    ],
    models: [
      `{ id: a, targets: [{ provider: anthropic, model: a, ${PRICE} }] }`,
      `{ id: b, targets: [{ provider: bedrock, model: b, ${PRICE} }] }`,
    ],
  });
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

async function ask(path: string, body: object, max_budget?: number): Promise<Response> {
  const { key } = await createKey(gateway, max_budget === undefined ? {} : { max_budget });
  const response = await fetch(gateway.publicUrl + path, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  await response.text();
  return response;
}

const CLAUDE = "/anthropic/v1/messages";
const CONVERSE = "/bedrock/model/b/converse";
const SAID = { model: "a", max_tokens: 5, messages: MESSAGES };
const CONVERSED = { messages: [{ role: "user", content: [{ text: "Hi." }] }] };

describe("a tier without a price", () => {
  it.each<readonly [string, object]>([
    [CLAUDE, { ...SAID, speed: "fast" }],
    [CONVERSE, { ...CONVERSED, serviceTier: { type: "priority" } }],
  ])("is refused where a budget holds: %s with %j", async (path, body) => {
    const before = upstream.requests.length;
    expect((await ask(path, body, 1)).status).toBe(429);
    expect(upstream.requests.length).toBe(before);
  });

  it("makes a row without a price where none holds", async () => {
    const usage = { input_tokens: 1, output_tokens: 1, service_tier: "standard", speed: "fast" };
    upstream.reply(200, "application/json", JSON.stringify({ type: "message", usage }));
    const answer = await ask(CLAUDE, { ...SAID, speed: "fast" });
    expect(answer.status).toBe(200);
    const [row] = await rowsOf(gateway, answer.headers.get("x-request-id"));
    expect(row).toMatchObject({ cost_status: "unpriced" });
  });
});

it.each<readonly [string, object]>([
  [CLAUDE, { ...SAID, speed: "standard", service_tier: "auto" }],
  [CONVERSE, { ...CONVERSED, serviceTier: { type: "default" } }],
])("the standard tier has the price of the model: %s", async (path, body) => {
  upstream.reply(200, "application/json", "{}");
  expect((await ask(path, body, 1)).status).toBe(200);
});
