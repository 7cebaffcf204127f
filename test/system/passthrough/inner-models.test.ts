/** Models in requests within a native request: each is the one that the path names. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";

const KEY = 'api_key: "${env:OPENAI_API_KEY}"';
const CONTENTS = [{ role: "user", parts: [{ text: "Say it." }] }];

let upstream: NativeUpstream;
let gateway: GatewayProcess;
const keys: Record<string, string> = {};

beforeAll(async () => {
  upstream = await createNativeUpstream();
  upstream.reply(200, "application/json", JSON.stringify({ totalTokens: 3 }));
  gateway = await startGateway({
    providers: [`gemini: { use: gemini, ${KEY}, base_url: ${upstream.url} }`],
  });
  keys["limited"] = (await createKey(gateway, { models: ["gemini/small"] })).key;
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

async function ask(key: string, method: string, body: unknown): Promise<Asked> {
  const before = upstream.requests.length;
  const response = await fetch(`${gateway.publicUrl}/gemini/v1beta/models/small:${method}`, {
    method: "POST",
    headers: { authorization: `Bearer ${keys[key]}`, "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const { error } = (await response.json()) as { readonly error?: { readonly param: string } };
  return {
    status: response.status,
    param: error?.param,
    calls: upstream.requests.length - before,
  };
}

const counted = (model: unknown) => ({ model, contents: CONTENTS });
const embedded = (model: unknown) => ({ model, content: CONTENTS[0] });

describe.each(["limited", "free"])("a key that is %s", (key) => {
  it.each<readonly [string, unknown, string]>([
    [
      "countTokens",
      { generateContentRequest: counted("models/large") },
      "generateContentRequest.model",
    ],
    ["countTokens", { generateContentRequest: counted("large") }, "generateContentRequest.model"],
    ["countTokens", { generateContentRequest: counted(["large"]) }, "generateContentRequest.model"],
    [
      "countTokens",
      { generate_content_request: counted("models/large") },
      "generate_content_request.model",
    ],
    [
      "batchEmbedContents",
      { requests: [embedded("models/small"), embedded("models/large")] },
      "requests[1].model",
    ],
  ])("%s with %j is refused", async (method, body, param) => {
    expect(await ask(key, method, body)).toEqual({ status: 400, param, calls: 0 });
  });

  it("a request within that stands there twice is refused", async () => {
    const [small, large] = ["small", "large"].map((name) =>
      JSON.stringify(counted(`models/${name}`)),
    );
    const twice = `{"generateContentRequest":${large},"generateContentRequest":${small}}`;
    const inner = `{"generateContentRequest":{"model":"models/large",${small?.slice(1)}}`;
    for (const body of [twice, inner])
      expect(await ask(key, "countTokens", body)).toMatchObject({ status: 400, calls: 0 });
  });

  it("a model that stands twice in a request of a list is refused", async () => {
    const item = JSON.stringify(embedded("models/small")).slice(1);
    const body = `{"requests":[{"model":"models/large",${item}]}`;
    expect(await ask(key, "batchEmbedContents", body)).toEqual({
      status: 400,
      param: "requests",
      calls: 0,
    });
  });

  it.each<readonly [string, unknown]>([
    ["countTokens", { contents: CONTENTS }],
    ["countTokens", { generateContentRequest: counted("models/small") }],
    ["countTokens", { generateContentRequest: counted(undefined) }],
    ["batchEmbedContents", { requests: [embedded("models/small"), embedded("small")] }],
    ["generateContent", { contents: CONTENTS, requests: "no list" }],
  ])("%s with %j reaches the upstream", async (method, body) => {
    expect(await ask(key, method, body)).toEqual({ status: 200, param: undefined, calls: 1 });
  });
});
