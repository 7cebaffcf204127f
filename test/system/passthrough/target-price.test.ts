/** The price of a configured target at the provider's native address. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey, rowsOf, type SpendRow } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";
import { createWorkspace } from "../support/workspace.ts";

const KEY = 'api_key: "${env:OPENAI_API_KEY}"';
const TOKENS = 1_000;
const REPLY = JSON.stringify({
  id: "c",
  choices: [],
  usage: { prompt_tokens: TOKENS, completion_tokens: 0, total_tokens: TOKENS },
});
const GEMINI = JSON.stringify({
  candidates: [{ content: { parts: [{ text: "" }] }, finishReason: "STOP" }],
  usageMetadata: { promptTokenCount: TOKENS, candidatesTokenCount: 0 },
});

/** Dollars of input per million tokens by the table; a configured price differs. */
const PRICES = `version: 1
prices:
  openai/*: { input: 1, output: 1 }
  gemini/*: { input: 1, output: 1 }
`;

const price = (input: number): string => `price: { input: ${input}, output: 1 }`;
const MODELS = [
  `{ id: agreed, targets: [{ provider: openai, model: one, ${price(5)} }] }`,
  `{ id: plain, targets: [{ provider: openai, model: two }] }`,
  `{ id: first, targets: [{ provider: openai, model: three, ${price(7)} }] }`,
  `{ id: second, targets: [{ provider: openai, model: three, ${price(9)} }] }`,
  `{ id: tabled, targets: [{ provider: openai, model: four }] }`,
  `{ id: priced, targets: [{ provider: openai, model: four, ${price(11)} }] }`,
  `{ id: gift, targets: [{ provider: openai, model: five, price: { free: true } }] }`,
  `{ id: by-path, targets: [{ provider: gemini, model: six, ${price(13)} }] }`,
  `{ id: "w/*", targets: [{ provider: openai, model: "w-*", ${price(15)} }] }`,
  `{ id: w-exact, targets: [{ provider: openai, model: w-known, ${price(17)} }] }`,
  `{ id: dear, targets: [{ provider: openai, model: costly, price: { input: 1, output: 1000000 } }] }`,
];

let upstream: NativeUpstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createNativeUpstream();
  const workspace = createWorkspace({
    baseUrl: `${upstream.url}/v1`,
    providers: [`gemini: { use: gemini, ${KEY}, base_url: ${upstream.url} }`],
    models: MODELS,
  });
  writeFileSync(join(workspace.folder, "config/prices.yaml"), PRICES);
  gateway = await startGateway(workspace);
});

afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

async function post(
  path: string,
  body: object,
  key: string,
): Promise<{ status: number; row: SpendRow | undefined }> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const response = await fetch(`${gateway.publicUrl}${path}`, {
    method: "POST",
    body: JSON.stringify(body),
    headers,
  });
  await response.text();
  return {
    status: response.status,
    row: (await rowsOf(gateway, response.headers.get("x-request-id")))[0],
  };
}

/** The price of a call's tokens, in dollars per million. */
async function priceOf(model: string, key = gateway.masterKey): Promise<number> {
  upstream.reply(200, "application/json", REPLY);
  const messages = [{ role: "user", content: "Say it." }];
  const { status, row } = await post(
    "/openai/v1/chat/completions",
    { model, messages, max_tokens: 10 },
    key,
  );
  expect(status).toBe(200);
  return Math.round((Number(row?.spend) / TOKENS) * 1e6);
}

describe("a native call of a configured target", () => {
  it.each([
    ["the target's price", "one", 5],
    ["the table's, where the target has none", "two", 1],
    ["the first of the file, of two that have one", "three", 7],
    ["that of the target that has one, of two", "four", 11],
    ["nothing, where the target is free", "five", 0],
    ["a wildcard's", "w-other", 15],
    ["an exact target's before a wildcard's", "w-known", 17],
    ["the table's, where no model has the target", "unknown", 1],
  ])("costs %s", async (_what, model, dollars) => {
    expect(await priceOf(model)).toBe(dollars);
  });

  it("costs the price of a model that the key may use", async () => {
    const { key } = await createKey(gateway, { models: ["second"] });
    expect(await priceOf("three", key)).toBe(9);
  });

  it("costs it where the path names the model", async () => {
    upstream.reply(200, "application/json", GEMINI);
    const body = { contents: [{ parts: [{ text: "Say it." }] }] };
    const { row } = await post(
      "/gemini/v1beta/models/six:generateContent",
      body,
      gateway.masterKey,
    );
    expect(row?.spend).toBeCloseTo((13 * TOKENS) / 1e6, 9);
  });

  it("is reserved at it: a budget refuses what it cannot pay", async () => {
    const { key } = await createKey(gateway, { max_budget: 5 });
    const before = upstream.requests.length;
    const body = {
      model: "costly",
      messages: [{ role: "user", content: "Say it." }],
      max_tokens: 10,
    };
    expect((await post("/openai/v1/chat/completions", body, key)).status).toBe(429);
    expect(upstream.requests.length).toBe(before);
  });
});
