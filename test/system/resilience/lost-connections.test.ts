/**
 * Connections that are lost after the upstream has read the request: no step may see fewer calls
 * than the upstream.
 */

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type SpendRow, MESSAGES, rowsOf } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { NEVER_EJECTS } from "../support/workspace.ts";

/** Longer than any round trip on this machine, and than the longest that the transport assumes. */
const WORK_MS = 400;

let server: Server;
let gateway: GatewayProcess;
/** Method and path of every request that was read in full. */
const read: string[] = [];
/** Whether the next request that was read is worked on, and lost. */
let isLosing = false;

beforeAll(async () => {
  server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    request.resume().on("end", () => {
      read.push(`${request.method} ${request.url}`);
      if (isLosing) setTimeout(() => request.socket.resetAndDestroy(), WORK_MS);
      else response.writeHead(200, { "content-type": "application/json" }).end(REPLY);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  gateway = await startGateway({
    baseUrl,
    provider: "connections: 1, endpoints: all",
    balance: NEVER_EJECTS,
    models: [
      "{ id: m, targets: [{ provider: openai, model: gpt-4o-mini }] }",
      "{ id: painter, mode: image, targets: [{ provider: openai, model: dall-e-3 }] }",
      "{ id: vectors, mode: embedding, targets: [{ provider: openai, model: text-embedding-3-small }] }",
    ],
  });
});
afterEach(() => {
  isLosing = false;
  read.length = 0;
});
afterAll(async () => {
  await gateway?.dispose();
  server?.closeAllConnections();
  await new Promise((resolve) => server?.close(resolve));
});

const REPLY = JSON.stringify({
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1_700_000_000,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

/** Sends a request whose connection was used before. */
async function send(
  method: string,
  path: string,
  body?: object,
): Promise<{ response: Response; rows: SpendRow[] }> {
  const headers = {
    authorization: `Bearer ${gateway.masterKey}`,
    "content-type": "application/json",
  };
  const first = JSON.stringify({ model: "m", messages: MESSAGES });
  await (
    await fetch(`${gateway.publicUrl}/v1/chat/completions`, {
      method: "POST",
      headers,
      body: first,
    })
  ).text();
  read.length = 0;
  isLosing = true;
  const init = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(`${gateway.publicUrl}${path}`, { method, headers, ...init });
  await response.text();
  return { response, rows: await rowsOf(gateway, response.headers.get("x-request-id")) };
}

describe("a call that the upstream has read and worked on", () => {
  const chatBody = { model: "m", messages: MESSAGES, num_retries: 0 };
  it.each<[string, string, object]>([
    ["chat", "/v1/chat/completions", chatBody],
    ["a stream", "/v1/chat/completions", { ...chatBody, stream: true }],
    ["embeddings", "/v1/embeddings", { model: "vectors", input: "text", num_retries: 0 }],
    ["images", "/v1/images/generations", { model: "painter", prompt: "A gate." }],
    [
      "a native job",
      "/openai/v1/fine_tuning/jobs",
      { model: "gpt-4o-mini", training_file: "file-1" },
    ],
    ["a native prompt", "/openai/v1/responses", { model: "gpt-4o-mini", input: "Hello" }],
  ])("is not sent again by the transport: %s (V1)", async (_what, path, body) => {
    const { response, rows } = await send("POST", path, body);
    expect([response.status, read.length, rows.length]).toEqual([502, 1, 1]);
    expect(response.headers.get("x-sluice-attempts")).toBe("1");
    expect(rows[0]).toMatchObject({
      status: "failure",
      error_code: "upstream_unreachable",
      metadata: { ambiguous: true },
    });
  });

  it("is repeated by the step `retry`, each time with a row", async () => {
    const { response, rows } = await send("POST", "/v1/chat/completions", {
      ...chatBody,
      num_retries: 1,
    });
    expect([response.status, read.length, rows.length]).toEqual([502, 2, 2]);
    expect(rows.every(({ metadata }) => metadata["ambiguous"] === true)).toBe(true);
  });

  it("is sent again where its method may be repeated", async () => {
    const { response } = await send("GET", "/openai/v1/models");
    expect([response.status, read.length]).toEqual([502, 2]);
  });
});
