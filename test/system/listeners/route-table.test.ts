/**
 * Every public route without a key, and with a wrong key, another tenant's key, its own key and the
 * master key.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";

let upstream: NativeUpstream;
let gateway: GatewayProcess;
let keys: { readonly own: string; readonly other: string };

beforeAll(async () => {
  upstream = await createNativeUpstream();
  gateway = await startGateway({
    baseUrl: `${upstream.url}/v1`,
    models: [
      "{ id: echo, targets: [{ provider: echo, model: echo }] }",
      "{ id: native, targets: [{ provider: openai, model: native }] }",
      "{ id: else, targets: [{ provider: echo, model: else }] }",
    ],
  });
  const [own, other] = await Promise.all([
    createKey(gateway, { models: ["echo", "native"] }),
    createKey(gateway, { models: ["else"] }),
  ]);
  keys = { own: own.key, other: other.key };
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const messages = [{ role: "user", content: "Hello" }];
const chat = { model: "echo", messages };
/** Method and path, body, and the status for another tenant: `else` is all it may use. */
const ROUTES: readonly (readonly [string, object | undefined, number])[] = [
  ["POST /v1/chat/completions", chat, 404],
  ["POST /chat/completions", chat, 404],
  ["POST /v1/chat/completions", { ...chat, stream: true }, 404],
  ["POST /ref/deployments/echo/chat/completions", { messages }, 404],
  ["POST /v1/embeddings", { model: "echo", input: "Hello" }, 404],
  ["POST /embeddings", { model: "echo", input: "Hello" }, 404],
  ["POST /ref/deployments/echo/embeddings", { input: "Hello" }, 404],
  ["POST /v1/images/generations", { model: "echo", prompt: "Hello" }, 404],
  ["POST /images/generations", { model: "echo", prompt: "Hello" }, 404],
  ["POST /ref/deployments/echo/images/generations", { prompt: "Hello" }, 404],
  ["POST /openai/v1/chat/completions", { model: "native" }, 404],
  ["POST /openai/v1/embeddings", { model: "native", input: "Hello" }, 404],
  ["GET /v1/models", undefined, 200],
  ["GET /models", undefined, 200],
  ["GET /v1/models/echo", undefined, 404],
  ["GET /v1/model/info", undefined, 200],
  ["GET /model/info", undefined, 200],
  ["GET /spend/logs", undefined, 200],
  ["GET /spend/tags", undefined, 200],
  ["GET /spend/report", undefined, 200],
  ["POST /spend/calculate", chat, 404],
];

async function ask(
  route: string,
  body: object | undefined,
  key?: string,
): Promise<{ status: number; text: string }> {
  const [method = "", path = ""] = route.split(" ");
  const response = await fetch(`${gateway.publicUrl}${path}`, {
    method,
    headers: {
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

describe.each(ROUTES)("%s %j", (route, body, forOthers) => {
  it("is 401, in the same words, without a key and with a wrong one", async () => {
    const [none, wrong] = [await ask(route, body), await ask(route, body, "sk-unknown")];
    expect([none.status, wrong.status]).toEqual([401, 401]);
    expect(wrong.text).toBe(none.text);
  });

  it(`is ${forOthers} for a key of another purpose, and names nothing that the key may not use`, async () => {
    const { status, text } = await ask(route, body, keys.other);
    expect(status).toBe(forOthers);
    // Its own refusals are its own rows: what they asked for may stand there.
    const shown = route.includes("/spend/") ? "" : text;
    expect(shown).not.toMatch(/"(?:id|model_name)":"(?:echo|native)"/);
  });

  it("serves the key it is for, and the master key", async () => {
    expect((await ask(route, body, keys.own)).status).toBe(200);
    expect((await ask(route, body, gateway.masterKey)).status).toBe(200);
  });
});
