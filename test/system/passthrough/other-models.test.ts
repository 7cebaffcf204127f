/**
 * Members and parameters by which an upstream that is a proxy or a router itself takes another
 * model, other texts or other bounds than the gateway has judged and priced.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";

const NATIVE = "/proxy/v1/chat/completions";
const CHAT = "/v1/chat/completions";
const MESSAGES = [{ role: "user", content: "Hi." }];

let upstream: NativeUpstream;
let gateway: GatewayProcess;
const keys: Record<string, string> = {};

beforeAll(async () => {
  upstream = await createNativeUpstream();
  upstream.reply(
    200,
    "application/json",
    '{"id":"c","object":"chat.completion","created":1,"model":"small","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hi."}}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}',
  );
  gateway = await startGateway({
    providers: [
      `proxy: { use: compatible, preset: custom, api_key: "\${env:OPENAI_API_KEY}", base_url: ${upstream.url}/v1 }`,
    ],
    models: [
      "{ id: small, targets: [{ provider: proxy, model: small }] }",
      "{ id: large, targets: [{ provider: proxy, model: large }] }",
    ],
  });
  keys["limited"] = (await createKey(gateway, { models: ["small"] })).key;
  keys["free"] = (await createKey(gateway, {})).key;
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

interface Asked {
  readonly status: number;
  readonly param: string | undefined;
  readonly calls: number;
}

async function ask(
  name: string,
  path: string,
  more: object | string,
  type = "application/json",
): Promise<Asked> {
  const before = upstream.requests.length;
  const said = { model: "small", messages: MESSAGES };
  const response = await fetch(gateway.publicUrl + path, {
    method: "POST",
    headers: { authorization: `Bearer ${keys[name]}`, "content-type": type },
    body: JSON.stringify(typeof more === "string" ? said : { ...said, ...more }),
  });
  const { error } = (await response.json()) as { readonly error?: { readonly param: string } };
  return {
    status: response.status,
    param: error?.param,
    calls: upstream.requests.length - before,
  };
}

describe.each(["limited", "free"])("a key that is %s", (key) => {
  it.each<readonly [object, string]>([
    [{ extra_body: { model: "large" } }, "extra_body.model"],
    [{ extra_body: { messages: MESSAGES } }, "extra_body.messages"],
    [{ extra_body: { max_tokens: 100_000 } }, "extra_body.max_tokens"],
    [{ extra_body: { extra_body: { n: 8 } } }, "extra_body.extra_body.n"],
    [{ "model\u0000": "large" }, "model\u0000"],
  ])("sends no member that replaces a judged one: %j", async (more, param) => {
    for (const path of [CHAT, NATIVE])
      // oxlint-disable-next-line no-await-in-loop -- calls are counted.
      expect(await ask(key, path, more)).toEqual({ status: 400, param, calls: 0 });
  });

  it("sends an extra body of the upstream's own", async () => {
    const more = { extra_body: { google: { thinking_config: { include_thoughts: true } } } };
    for (const path of [CHAT, NATIVE])
      // oxlint-disable-next-line no-await-in-loop -- calls are counted.
      expect(await ask(key, path, more)).toMatchObject({ status: 200, calls: 1 });
  });

  it.each(["model=large", "x=1&%6dodel=large", "x=1;Model=large", "model[]=large"])(
    "names one model in the query %s",
    async (query) => {
      const refusal = { status: 400, param: "model", calls: 0 };
      expect(await ask(key, `${NATIVE}?${query}`, "")).toEqual(refusal);
    },
  );

  it("may name the same model in the query", async () => {
    const answer = await ask(key, `${NATIVE}?model=small&api-version=1`, "");
    expect(answer).toMatchObject({ status: 200, calls: 1 });
  });
});

/** A body that is one object in JSON, and other members to those who heed its content type. */
const HIDDEN = { x: "&model=large&", y: "+ACI-,+ACI-model+ACI-:+ACI-large" };

it.each<readonly [type: string, sent: string]>([
  ["application/x-www-form-urlencoded", "application/json"],
  ["application/json; charset=utf-7", "application/json"],
  ["application/json; charset=shift_jis", "application/json"],
  ["application/json; charset=utf-8; charset=utf-7", "application/json"],
  ["multipart/form-data; boundary=b", "application/json"],
  ["application/x-protobuf", "application/json"],
  ["text/plain", "application/json"],
  ["application/json;charset=UTF-8", "application/json;charset=UTF-8"],
  ["application/vnd.api+json", "application/vnd.api+json"],
])("an object of JSON under %s is sent as %s", async (type, sent) => {
  for (const path of [NATIVE, "/proxy/own/path"]) {
    // oxlint-disable-next-line no-await-in-loop -- calls are counted.
    expect(await ask("free", path, HIDDEN, type)).toMatchObject({ status: 200, calls: 1 });
    expect(upstream.requests.at(-1)?.headers["content-type"]).toBe(sent);
  }
});

it("embeddings name models of the key alone", async () => {
  const refusal = { status: 403, param: "models", calls: 0 };
  const more = { input: "Hi.", messages: undefined, models: ["large"] };
  expect(await ask("limited", "/v1/embeddings", more)).toEqual(refusal);
});

it("models that an upstream may choose from are those of the key", async () => {
  for (const path of [CHAT, NATIVE]) {
    const choice = { models: ["small", "large"] };
    const refusal = { status: 403, param: "models", calls: 0 };
    // oxlint-disable-next-line no-await-in-loop -- calls are counted.
    expect(await ask("limited", path, choice)).toEqual(refusal);
    // oxlint-disable-next-line no-await-in-loop -- as above.
    expect(await ask("limited", path, { models: ["small"] })).toMatchObject({ calls: 1 });
    // oxlint-disable-next-line no-await-in-loop -- as above.
    expect(await ask("free", path, choice)).toMatchObject({ status: 200, calls: 1 });
  }
});
