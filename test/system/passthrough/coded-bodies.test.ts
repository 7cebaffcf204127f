/** Native bodies with a content coding: what is checked is what the upstream reads. */

import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey, rowsOf } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";

const BODY = JSON.stringify({
  model: "gpt-4o-mini",
  messages: [{ role: "user", content: "Say it." }],
});
const PATH = "/openai/v1/chat/completions";

let upstream: NativeUpstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createNativeUpstream();
  const usage = { prompt_tokens: 1, completion_tokens: 0, total_tokens: 1 };
  upstream.reply(200, "application/json", JSON.stringify({ id: "c", choices: [], usage }));
  gateway = await startGateway({ baseUrl: `${upstream.url}/v1` });
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

function post(
  body: Uint8Array | string,
  coding: string,
  key = gateway.masterKey,
): Promise<Response> {
  const headers = {
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
    "content-encoding": coding,
  };
  return fetch(`${gateway.publicUrl}${PATH}`, { method: "POST", body, headers });
}

describe("a native body with a content coding", () => {
  it.each([
    ["gzip", gzipSync(BODY)],
    ["x-gzip", gzipSync(BODY)],
    ["GZIP", gzipSync(BODY)],
    ["deflate", deflateSync(BODY)],
    ["identity", Buffer.from(BODY)],
  ])("reaches the upstream without it: %s", async (coding, bytes) => {
    const answer = await post(bytes, coding);
    await answer.text();
    expect(answer.status).toBe(200);
    const { headers, body } = upstream.requests.at(-1)!;
    expect([headers["content-encoding"], headers["content-length"], body.toString()]).toEqual([
      undefined,
      String(BODY.length),
      BODY,
    ]);
    expect((await rowsOf(gateway, answer.headers.get("x-request-id")))[0]).toMatchObject({
      model: "gpt-4o-mini",
    });
  });

  it("is no way around a model list", async () => {
    const { key } = await createKey(gateway, { models: ["gpt-4o"] });
    const answer = await post(gzipSync(BODY), "gzip", key);
    await answer.text();
    expect(answer.status).toBe(404);
  });

  it.each([
    ["br", brotliCompressSync(BODY), 415],
    ["zstd", Buffer.from(BODY), 415],
    ["gzip, gzip", gzipSync(gzipSync(BODY)), 415],
    ["gzip", Buffer.from(BODY), 400],
    ["gzip", gzipSync(BODY).subarray(0, 40), 400],
  ])("is refused where it cannot be read: %s", async (coding, bytes, status) => {
    const before = upstream.requests.length;
    const answer = await post(bytes, coding);
    await answer.text();
    expect([answer.status, upstream.requests.length]).toEqual([status, before]);
  });

  it("is bounded by its size without it", async () => {
    const bomb = gzipSync(
      Buffer.concat([
        Buffer.from('{"model":"gpt-4o-mini","a":"'),
        Buffer.alloc(30 * 1024 * 1024, "a"),
        Buffer.from('"}'),
      ]),
    );
    const before = upstream.requests.length;
    const answer = await post(bomb, "gzip");
    await answer.text();
    expect([answer.status, upstream.requests.length]).toEqual([413, before]);
  });
});
