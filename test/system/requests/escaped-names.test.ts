/**
 * Names with escapes behind requests that make V8 misread them (nodejs/node#63785): the gateway
 * judges, limits and prices what an upstream reads.
 */

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createKey } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";
import { guardedWorkspace } from "../guardrails/guardrails.fixture.ts";

const KEYS = 'api_key: "${env:NATIVE_KEY}"';

let upstream: NativeUpstream;
let gateway: GatewayProcess;
let limited = "";

beforeAll(async () => {
  upstream = await createNativeUpstream();
  const workspace = guardedWorkspace({
    baseUrl: `${upstream.url}/v1`,
    attempts: 1,
    balance: "{ breaker: { eject_single: false } }",
    providers: [
      `anthropic: { use: anthropic, ${KEYS}, base_url: ${upstream.url} }`,
      `gemini: { use: gemini, ${KEYS}, base_url: ${upstream.url} }`,
    ],
    models: [
      "{ id: m, targets: [{ provider: openai, model: m }] }",
      "{ id: dear, targets: [{ provider: openai, model: dear }] }",
      "{ id: claude, targets: [{ provider: anthropic, model: c }] }",
      "{ id: flash, targets: [{ provider: gemini, model: g }] }",
    ],
    guardrails: ["no-bad: { use: forbid, word: forbidden }"],
    step: "{ input: [no-bad], output: [no-bad] }",
  });
  gateway = await startGateway(workspace, { NATIVE_KEY: "a-native-credential-0123456789" });
  limited = (await createKey(gateway, { models: ["m"] })).key;
});
beforeEach(() => void upstream.reply(200, "application/json", "{}"));
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

interface Answer {
  readonly status: number;
  readonly text: string;
  /** Requests that reached the upstream. */
  readonly calls: number;
}

async function ask(path: string, body: string, key = gateway.masterKey): Promise<Answer> {
  const before = upstream.requests.length;
  const response = await fetch(gateway.publicUrl + path, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body,
  });
  const text = await response.text();
  return { status: response.status, text, calls: upstream.requests.length - before };
}

/**
 * The name with its first character escaped, and the name as V8 takes it to be: as many characters
 * of the escaped text as the name has.
 */
function spellings(name: string): { readonly escaped: string; readonly misread: string } {
  const escaped = `\\u${name.charCodeAt(0).toString(16).padStart(4, "0")}${name.slice(1)}`;
  return { escaped: `"${escaped}"`, misread: JSON.stringify(escaped.slice(0, name.length)) };
}

/** A body where `NAME` stands for the name in either spelling. */
async function behindMisread(
  path: string,
  name: string,
  body: string,
  key?: string,
): Promise<Answer> {
  const { escaped, misread } = spellings(name);
  for (let time = 0; time < 3; time += 1)
    // oxlint-disable-next-line no-await-in-loop -- each is parsed before the next.
    await ask(path, body.replace("NAME", misread).replace("forbidden", "allowed"), key);
  return ask(path, body.replace("NAME", escaped), key);
}

const CHAT = "/v1/chat/completions";
const USER = '{"role":"user","content":"x"}';
const LONG = `{"role":"user","content":"${"a lot of text, ".repeat(30_000)}"}`;

describe("a forbidden text under a name with an escape", () => {
  it.each([
    [
      "chat",
      CHAT,
      "description",
      `{"model":"m","messages":[${USER}],"tools":[{"type":"function","function":{"name":"f","zq":1,NAME:"forbidden"}}]}`,
    ],
    [
      "a large request",
      CHAT,
      "description",
      `{"model":"m","messages":[${LONG}],"tools":[{"type":"function","function":{"name":"f","zq":1,NAME:"forbidden"}}]}`,
    ],
    [
      "Messages",
      "/v1/messages",
      "system",
      `{"model":"claude","max_tokens":9,"messages":[${USER}],"zq":1,NAME:"forbidden"}`,
    ],
    [
      "Responses",
      "/v1/responses",
      "instructions",
      '{"model":"m","input":"x","zq":1,NAME:"forbidden"}',
    ],
    [
      "Gemini",
      "/v1beta/models/flash:generateContent",
      "systemInstruction",
      '{"contents":[{"role":"user","parts":[{"text":"x"}]}],NAME:{"parts":[{"text":"forbidden"}]}}',
    ],
    [
      "a native route",
      "/anthropic/v1/messages",
      "system",
      `{"model":"c","max_tokens":9,"messages":[${USER}],"zq":1,NAME:"forbidden"}`,
    ],
  ])("is found in %s", async (_what, path, name, body) => {
    const answer = await behindMisread(path, name, body);
    expect(answer).toMatchObject({ status: 400, calls: 0 });
    expect(answer.text).toContain("guardrail");
  });
});

describe("a second member of one name, with an escape", () => {
  it.each([
    ["chat", CHAT, "model", `{"model":"m","messages":[${USER}],"zq":1,NAME:"dear"}`],
    [
      "a message",
      CHAT,
      "content",
      '{"model":"m","messages":[{"role":"user","content":"x","zq":1,NAME:"y"}]}',
    ],
    ["a native route", "/openai/v1/chat/completions", "model", '{"model":"m","zq":1,NAME:"dear"}'],
  ])("is refused in %s", async (_what, path, name, body) => {
    const answer = await behindMisread(path, name, body, limited);
    expect(answer).toMatchObject({ status: 400, calls: 0 });
    expect(answer.text).toContain("is repeated");
  });
});

describe("a model under a name with an escape", () => {
  it.each([
    ["chat", CHAT, `{"messages":[${USER}],"zq":1,NAME:"dear"}`, 404],
    [
      "a native route",
      "/openai/v1/chat/completions",
      `{"messages":[${USER}],"zq":1,NAME:"dear"}`,
      404,
    ],
  ])("is refused to a key without it in %s", async (_what, path, body, status) => {
    expect(await behindMisread(path, "model", body, limited)).toMatchObject({ status, calls: 0 });
  });
});

describe("a reply whose content has a name with an escape", () => {
  const reply = (name: string, text: string): string =>
    `{"id":"c","object":"chat.completion","created":1,"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","zq":1,${name}:"${text}"}}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`;

  it("is judged, and given to the client under its name", async () => {
    const { escaped, misread } = spellings("content");
    const body = `{"model":"m","messages":[${USER}]}`;
    upstream.reply(200, "application/json", reply(misread, "x"));
    for (let time = 0; time < 3; time += 1)
      // oxlint-disable-next-line no-await-in-loop -- each is parsed before the next.
      await ask(CHAT, body);
    upstream.reply(200, "application/json", reply(escaped, "forbidden"));
    expect(await ask(CHAT, body)).toMatchObject({ status: 400, calls: 1 });
    upstream.reply(200, "application/json", reply(escaped, "allowed"));
    const { status, text } = await ask(CHAT, body);
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ choices: [{ message: { content: "allowed" } }] });
  });
});
