/**
 * Native replies that are not handed on, or that no HTTP has: the connection comes back, and the
 * row says what was paid.
 */

import { type AddressInfo, createServer, type Server } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey, rowsOf } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { guardedWorkspace } from "../guardrails/guardrails.fixture.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";

let upstream: NativeUpstream;
let gateway: GatewayProcess;
let key: string;

beforeAll(async () => {
  upstream = await createNativeUpstream();
  const workspace = guardedWorkspace({
    baseUrl: `${upstream.url}/v1`,
    provider: "connections: 4",
    guardrails: ["no-bad: { use: forbid, word: forbidden }"],
    step: "{ output: [no-bad] }",
  });
  gateway = await startGateway(workspace);
  ({ key } = await createKey(gateway, { max_budget: 1 }));
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

function ask(stream = false): Promise<Response> {
  return fetch(`${gateway.publicUrl}/openai/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({
      model: "gpt-4o-mini",
      stream,
      messages: [{ role: "user", content: "Hi" }],
    }),
  });
}

it("a reply that the guardrails cannot read gives its connection back, and costs what was reserved", async () => {
  // Such a reply does not end by itself: a client that leaves it open keeps its connection.
  upstream.answer((response) =>
    response.writeHead(200, { "content-type": "audio/mpeg" }).write("x".repeat(100)),
  );
  for (let request = 0; request < 8; request++) {
    const answer = await ask();
    expect(answer.status).toBe(400);
    const [row] = await rowsOf(gateway, answer.headers.get("x-request-id"));
    expect(row).toMatchObject({
      status: "partial",
      error_code: "guardrail_violation",
      usage_source: "estimated",
    });
    expect(row?.spend).toBeGreaterThan(0);
  }
});

const chunk = (content: string): string =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: { content } }] })}\n\n`;

it.each(["text/plain", ""])("events under another type are judged as events: %s", async (type) => {
  upstream.answer((response) => {
    response.writeHead(200, type === "" ? {} : { "content-type": type });
    response.end(`\ufeff\n${chunk("forb")}${chunk("idden")}data: [DONE]\n\n`);
  });
  const answer = await ask(true);
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain("no-bad");
});

it.each([400, 401, 429, 500])(
  "a native call that is refused with %i costs nothing",
  async (status) => {
    upstream.reply(status, "application/json", '{"error":{"message":"no"}}');
    const answer = await ask();
    expect(answer.status).toBe(status);
    const [row] = await rowsOf(gateway, answer.headers.get("x-request-id"));
    expect(row).toMatchObject({ status: "failure", spend: 0 });
  },
);

describe("a reply that HTTP does not allow is the upstream's failure", () => {
  let reply = "";
  let server: Server;
  let other: GatewayProcess;
  beforeAll(async () => {
    server = createServer((socket) =>
      socket.on("error", () => {}).once("data", () => socket.end(reply)),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    other = await startGateway({ baseUrl: `http://127.0.0.1:${port}/v1` });
  });
  afterAll(async () => {
    await other?.dispose();
    server?.close();
  });

  it.each([
    ["a status that HTTP does not have", "HTTP/1.1 999 X\r\ncontent-length: 2\r\n\r\n{}"],
    [
      "a body that breaks before its first byte",
      "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\nZZ\r\n",
    ],
  ])("%s", async (_name, sent) => {
    reply = sent;
    const answer = await fetch(`${other.publicUrl}/openai/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${other.masterKey}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "gpt-4o-mini", messages: [] }),
    });
    expect(answer.status).toBe(502);
    const [row] = await rowsOf(other, answer.headers.get("x-request-id"));
    expect(row).toMatchObject({ error_code: "upstream_invalid_response" });
  });
});
