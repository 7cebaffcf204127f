/** Models that only keys reach whose list names them: their targets are closed natively too. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey, MESSAGES } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";

const CREDENTIAL = 'api_key: "${env:OPENAI_API_KEY}"';

let upstream: NativeUpstream;
let gateway: GatewayProcess;
const keys: Record<string, string> = {};

beforeAll(async () => {
  upstream = await createNativeUpstream();
  upstream.reply(200, "application/json", "{}");
  gateway = await startGateway({
    baseUrl: `${upstream.url}/v1`,
    providers: [
      `gemini: { use: gemini, ${CREDENTIAL}, base_url: ${upstream.url} }`,
      `all: { use: openai, ${CREDENTIAL}, base_url: ${upstream.url}/v1 }`,
    ],
    models: [
      "{ id: hidden, only_named: true, targets: [{ provider: openai, model: up-hidden }] }",
      "{ id: shared, only_named: true, targets: [{ provider: openai, model: up-shared }] }",
      "{ id: open, targets: [{ provider: openai, model: up-shared }] }",
      "{ id: seen, only_named: true, targets: [{ provider: gemini, model: up-seen }] }",
      '{ id: "all/*", only_named: true, targets: [{ provider: all, model: "*" }] }',
    ],
  });
  keys["plain"] = (await createKey(gateway, {})).key;
  keys["trusted"] = (await createKey(gateway, { passthrough: true })).key;
  keys["named"] = (await createKey(gateway, { models: ["hidden", "shared", "seen", "all/*"] })).key;
  keys["master"] = gateway.masterKey;
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

async function ask(name: string, path: string, body: object): Promise<readonly number[]> {
  const before = upstream.requests.length;
  const response = await fetch(gateway.publicUrl + path, {
    method: "POST",
    headers: { authorization: `Bearer ${keys[name]}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  await response.text();
  return [response.status, upstream.requests.length - before];
}

const CHAT = "/openai/v1/chat/completions";
const CLOSED = [
  [CHAT, { model: "up-hidden", messages: MESSAGES }],
  ["/ref/v1/responses", { model: "up-hidden", input: "Hi." }],
  ["/gemini/v1beta/models/up-seen:generateContent", { contents: [] }],
  ["/gemini/v1beta/models/up-seen:countTokens", { contents: [] }],
  ["/all/v1/chat/completions", { model: "any", messages: MESSAGES }],
] as const;
/** Other spellings of a name, as some upstreams take them. */
const SPELLED = [
  ["/gemini/v1beta/openai/chat/completions", { model: "models/up-seen", messages: MESSAGES }],
  [CHAT, { model: "UP-Hidden", messages: MESSAGES }],
  [CHAT, { model: "up-hidden:latest", messages: MESSAGES }],
] as const;

describe.each([...CLOSED, ...SPELLED])("%s with %j", (path, body) => {
  it.each(["plain", "trusted"])("is 404 for a key without a list: %s", async (name) => {
    expect(await ask(name, path, body)).toEqual([404, 0]);
  });

  it("reaches the upstream for the master key", async () => {
    expect(await ask("master", path, body)).toEqual([200, 1]);
  });
});

it.each(CLOSED)("%s with %j reaches the upstream for a key that names it", async (path, body) => {
  expect(await ask("named", path, body)).toEqual([200, 1]);
});

it("is 403 in a tool of a key without a list", async () => {
  const tools = [{ type: "image_generation", model: "up-hidden" }];
  const body = { model: "up-shared", input: "Hi.", tools };
  expect(await ask("plain", "/openai/v1/responses", body)).toEqual([403, 0]);
  expect(await ask("named", "/openai/v1/responses", body)).toEqual([200, 1]);
});

it.each(["up-shared", "up-of-no-model"])("a target that others have is open: %s", async (model) => {
  expect(await ask("plain", CHAT, { model, messages: MESSAGES })).toEqual([200, 1]);
});
