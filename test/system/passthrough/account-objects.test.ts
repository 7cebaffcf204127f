/**
 * Files, batches and responses in a provider's account: a key without the right to its paths gets
 * the same refusal for an object that exists as for one that does not, and nothing is asked.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";

const CREDENTIAL = 'api_key: "${env:OPENAI_API_KEY}"';
const OWNED = "owned-0123456789";
const MISSING = "absent-012345678";

let upstream: NativeUpstream;
let gateway: GatewayProcess;
const keys: Record<string, string> = {};

beforeAll(async () => {
  upstream = await createNativeUpstream();
  // The account has the objects of one id.
  upstream.answer((response, { url }) => {
    response.writeHead(url.includes(OWNED) ? 200 : 404, { "content-type": "application/json" });
    response.end(url.includes(OWNED) ? '{"secret":"zqsecretzq"}' : '{"error":{"message":"No."}}');
  });
  gateway = await startGateway({
    baseUrl: `${upstream.url}/v1`,
    providers: [
      `anthropic: { use: anthropic, ${CREDENTIAL}, base_url: ${upstream.url} }`,
      `azure: { use: azure, ${CREDENTIAL}, endpoint: ${upstream.url} }`,
      `gemini: { use: gemini, ${CREDENTIAL}, base_url: ${upstream.url} }`,
    ],
  });
  const made = {
    owner: { passthrough: true },
    other: {},
    limited: { models: ["gpt-4o-mini", "openai/gpt-4o-mini"], passthrough: true },
  };
  for (const [name, fields] of Object.entries(made))
    // oxlint-disable-next-line no-await-in-loop -- three keys.
    keys[name] = (await createKey(gateway, fields)).key;
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

interface Answer {
  readonly status: number;
  /** The body without what the two ids and two requests differ in. */
  readonly text: string;
  /** Requests that reached the upstream. */
  readonly calls: number;
}

async function ask(name: string, line: string, id: string): Promise<Answer> {
  const [method = "", path = ""] = line.split(" ");
  const before = upstream.requests.length;
  const response = await fetch(gateway.publicUrl + path.replace("ID", id), {
    method,
    headers: { authorization: `Bearer ${keys[name]}`, "content-type": "application/json" },
    ...(method === "POST" ? { body: '{"model":"gpt-4o-mini"}' } : {}),
  });
  const text = (await response.text())
    .replaceAll(id, "ID")
    .replaceAll(/"request_id":"[^"]*"/g, '"request_id":"R"');
  return { status: response.status, text, calls: upstream.requests.length - before };
}

const NATIVE = [
  "GET /openai/v1/files/ID",
  "DELETE /openai/v1/files/ID",
  "GET /openai/v1/files/ID/content",
  "GET /openai/v1/batches/ID",
  "POST /openai/v1/batches/ID/cancel",
  "GET /openai/v1/responses/ID",
  "DELETE /openai/v1/responses/ID",
  "POST /openai/v1/responses/ID/cancel",
  "GET /openai/v1/responses/ID/input_items",
  "GET /openai/v1/conversations/ID/items",
  "GET /openai/v1/chat/completions/ID",
  "GET /openai/v1/containers/ID/files",
  "POST /openai/v1/vector_stores/ID/search",
  "GET /azure/openai/files/ID?api-version=2024-10-21",
  "GET /azure/openai/v1/responses/ID",
  "GET /anthropic/v1/files/ID/content",
  "GET /anthropic/v1/messages/batches/ID",
  "GET /anthropic/v1/messages/batches/ID/results",
  "GET /gemini/v1beta/files/ID",
  "DELETE /gemini/v1beta/cachedContents/ID",
  "GET /gemini/v1beta/batches/ID",
];

describe("an object of the account", () => {
  it.each(NATIVE)("is refused as one that does not exist: %s", async (line) => {
    expect(await ask("owner", line, OWNED)).toMatchObject({ status: 200, calls: 1 });
    expect(await ask("owner", line, MISSING)).toMatchObject({ status: 404, calls: 1 });
    for (const name of ["other", "limited"]) {
      // oxlint-disable-next-line no-await-in-loop -- calls are counted.
      const foreign = await ask(name, line, OWNED);
      expect(foreign).toMatchObject({ status: 403, calls: 0 });
      // oxlint-disable-next-line no-await-in-loop -- as above.
      expect(await ask(name, line, MISSING)).toEqual(foreign);
    }
  });

  it.each([
    "GET /v1/files/ID",
    "DELETE /v1/files/ID",
    "GET /v1/files/ID/content",
    "GET /v1/batches/ID",
    "POST /v1/batches/ID/cancel",
    "GET /v1/responses/resp_ID",
    "DELETE /v1/responses/resp_ID",
    "POST /v1/responses/resp_ID/cancel",
    "GET /v1/responses/resp_ID/input_items",
    "GET /v1/messages/batches/ID",
  ])("is 404 at the gateway's own address: %s", async (line) => {
    for (const name of ["owner", "other", "limited"]) {
      // oxlint-disable-next-line no-await-in-loop -- calls are counted.
      const foreign = await ask(name, line, OWNED);
      expect(foreign).toMatchObject({ status: 404, calls: 0 });
      // oxlint-disable-next-line no-await-in-loop -- as above.
      expect(await ask(name, line, MISSING)).toEqual(foreign);
    }
  });
});
