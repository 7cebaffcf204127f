/**
 * Models that tools of a request name: a key with a list of models reaches no other one through
 * them, on routes of each face as on native ones.
 */

import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { createKey, MESSAGES } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";
import { NEVER_EJECTS } from "../support/workspace.ts";

const CREDENTIAL = 'api_key: "${env:OPENAI_API_KEY}"';

let upstream: NativeUpstream;
let gateway: GatewayProcess;
const keys: Record<string, string> = {};

beforeAll(async () => {
  upstream = await createNativeUpstream();
  gateway = await startGateway({
    baseUrl: `${upstream.url}/v1`,
    attempts: 1,
    balance: NEVER_EJECTS,
    provider: "responses: true",
    providers: [
      `anthropic: { use: anthropic, ${CREDENTIAL}, base_url: ${upstream.url} }`,
      `gemini: { use: gemini, ${CREDENTIAL}, base_url: ${upstream.url} }`,
      `router: { use: compatible, preset: openrouter, ${CREDENTIAL}, base_url: ${upstream.url}/v1 }`,
    ],
    models: [
      "{ id: m, targets: [{ provider: openai, model: m }] }",
      "{ id: images, targets: [{ provider: openai, model: up-images }] }",
      "{ id: a, targets: [{ provider: anthropic, model: a }] }",
      "{ id: g, targets: [{ provider: gemini, model: g }] }",
      "{ id: r, targets: [{ provider: router, model: r }] }",
    ],
  });
  keys["limited"] = (await createKey(gateway, { models: ["m", "images", "a", "g", "r"] })).key;
  keys["free"] = (await createKey(gateway, {})).key;
});
// What it answers is of no matter.
beforeEach(() => {
  upstream.reply(400, "application/json", '{"error":{"message":"No."}}');
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

async function ask(name: string, path: string, body: object) {
  const before = upstream.requests.length;
  const response = await fetch(gateway.publicUrl + path, {
    method: "POST",
    headers: { authorization: `Bearer ${keys[name]}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  await response.text();
  return { status: response.status, calls: upstream.requests.length - before };
}

const responses = (...tools: readonly object[]) => ({ model: "m", input: "Hi.", tools });
const messages = (...tools: readonly object[]) => ({
  model: "a",
  max_tokens: 9,
  messages: MESSAGES,
  tools,
});
const routed = (...tools: readonly object[]) => ({ model: "r", messages: MESSAGES, tools });
const declared = (declaration: object) => ({
  contents: [{ parts: [{ text: "Hi." }] }],
  tools: [{ functionDeclarations: [{ name: "f", description: "f", ...declaration }] }],
});
const SCHEMA = { type: "object", properties: { model: { type: "string" } } };
const ADVISOR = { type: "openrouter:advisor", parameters: { model: "other" } };

it.each<readonly [string, object]>([
  ["/v1/responses", responses({ type: "image_generation", model: "other" })],
  ["/v1/responses", responses({ type: "image_generation" })],
  ["/openai/v1/responses", responses({ type: "image_generation", model: "other" })],
  [
    "/v1/chat/completions",
    { model: "m", messages: MESSAGES, tools: [{ type: "image_generation", model: "other" }] },
  ],
  ["/v1/messages", messages({ type: "advisor_20260301", name: "advisor", model: "other" })],
  ["/anthropic/v1/messages", messages({ type: "advisor_20260301", name: "a", model: "other" })],
  ["/anthropic/v1/messages", { ...messages(), fallbacks: "default" }],
  // No list of the gateway's.
  ["/anthropic/v1/messages", { ...messages(), fallbacks: { model: "other" } }],
  ["/v1/chat/completions", routed(ADVISOR)],
  ["/router/v1/chat/completions", routed(ADVISOR)],
])("%s is refused for a key with a list: %j", async (path, body) => {
  expect(await ask("limited", path, body)).toEqual({ status: 403, calls: 0 });
  expect(await ask("free", path, body)).toMatchObject({ calls: 1 });
});

it.each<readonly [string, object]>([
  ["/v1/responses", responses({ type: "image_generation", model: "up-images" })],
  ["/openai/v1/responses", responses({ type: "image_generation", model: "up-images" })],
  ["/v1/responses", responses({ type: "function", name: "f", parameters: SCHEMA })],
  ["/v1/messages", messages({ name: "f", input_schema: SCHEMA })],
  [
    "/anthropic/v1/messages",
    messages({ name: "f", input_schema: SCHEMA, input_examples: [{ model: "x" }] }),
  ],
  [
    "/v1/chat/completions",
    routed({ type: "function", function: { name: "f", parameters: SCHEMA } }),
  ],
  ["/v1beta/models/g:generateContent", declared({ parametersJsonSchema: SCHEMA })],
  ["/gemini/v1beta/models/g:generateContent", declared({ parametersJsonSchema: SCHEMA })],
  ["/gemini/v1beta/models/g:generateContent", declared({ parameters: SCHEMA, response: SCHEMA })],
])("%s reaches the upstream for a key with a list: %j", async (path, body) => {
  expect(await ask("limited", path, body)).toMatchObject({ calls: 1 });
});

it("keeps a list of stand-ins of the gateway from a native upstream, whatever stands beside it", async () => {
  for (const other of [{}, { timeout: "soon" }, { tags: "no list" }, { num_retries: -1 }]) {
    const body = { ...messages(), ...other, fallbacks: [{ model: "other" }], api_key: "sk-other" };
    // oxlint-disable-next-line no-await-in-loop -- the upstream has one last body.
    expect(await ask("limited", "/anthropic/v1/messages", body)).toMatchObject({ calls: 1 });
    expect(upstream.lastBody()).toEqual({ ...messages(), ...other });
  }
});
