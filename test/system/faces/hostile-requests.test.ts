/**
 * Requests of faces that two readers could read differently: escaped and repeated parts of the
 * address, repeated members, another method, another key, several requests in one piece.
 */

import { connect } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createKey } from "../support/client.ts";
import { createScriptedModel, type ScriptedModel } from "../support/faces/scripted-model.ts";
import { end, sdkOf, storedGateway } from "../support/faces/stored-gateway.ts";
import type { GatewayProcess } from "../support/gateway-process.ts";
import { type RawAnswer, sendRaw } from "../support/raw-client.ts";

let model: ScriptedModel;
let gateway: GatewayProcess;
/** A stored response of the master key. */
let id = "";

beforeAll(async () => {
  model = await createScriptedModel();
  model.says({ text: "Fine." });
  gateway = await storedGateway(model.url, { provider: "responses: true" });
  id = (await sdkOf(gateway).responses.create({ model: "anthropic", input: "Hello." })).id;
});
beforeEach(() => model.says({ text: "Fine." }));
afterAll(async () => {
  await end(gateway);
  await model?.close();
});

/** Sends a head as it is; `{id}` stands for the stored response. */
function ask(line: string, body = "", key = gateway.masterKey): Promise<RawAnswer> {
  const [method = "", path = ""] = line.replace("{id}", id).split(" ");
  const head = [
    `${method} ${path} HTTP/1.1`,
    "host: x",
    "connection: close",
    `authorization: Bearer ${key}`,
    ...(body === ""
      ? []
      : ["content-type: application/json", `content-length: ${Buffer.byteLength(body)}`]),
  ];
  return sendRaw(gateway.publicUrl, head, body);
}

/** The status, and the member or the parameter that a refusal names. */
async function outcome(line: string, body?: string): Promise<readonly unknown[]> {
  const answer = await ask(line, body);
  const { error } = JSON.parse(answer.body) as {
    readonly error?: { readonly param?: unknown } | null;
  };
  return (error ?? undefined) === undefined ? [answer.status] : [answer.status, error?.param];
}

describe("a stored response", () => {
  it.each([
    ["GET /v1/responses/{id}", 200],
    ["GET /v1/responses/%72esp_{id}", 200],
    ["GET /v1/responses/%2572esp_{id}", 404],
    ["GET /v1/responses/{id}%2finput_items", 404],
    ["GET /v1/responses/{id};v=1", 404],
    ["GET /v1/responses/__proto__", 404],
    ["GET /v1/responses/{id}%00", 400],
    ["GET /v1/./responses/{id}", 400],
    ["GET http://other.example/v1/responses/{id}", 400],
  ])("is named by %s: %i", async (line, status) => {
    const escaped = line.includes("esp_{id}") ? line.replace("{id}", id.slice(5)) : line;
    expect((await ask(escaped)).status).toBe(status);
  });

  it.each([
    ["stream=false", [200]],
    ["stream=TRUE", [400, "stream"]],
    ["stream=1", [400, "stream"]],
    ["stream=false&stream=true", [400, "stream"]],
    ["%73tream=true&stream=false", [400, "stream"]],
    ["include[]=a&include[]=b", [200]],
  ])("is read with ?%s: %o", async (query, expected) => {
    expect(await outcome(`GET /v1/responses/{id}?${query}`)).toEqual(expected);
  });

  it.each([
    ["limit=1", [200]],
    ["limit=%31", [200]],
    ["limit=1e1", [400, "limit"]],
    ["limit=0x1", [400, "limit"]],
    ["limit=1&limit=2", [400, "limit"]],
    ["order=asc&order=desc", [400, "order"]],
    ["after=a&after=b", [400, "after"]],
  ])("has its items listed with ?%s: %o", async (query, expected) => {
    expect(await outcome(`GET /v1/responses/{id}/input_items?${query}`)).toEqual(expected);
  });

  it("is of its key alone, whatever a body or a header says", async () => {
    const { key } = await createKey(gateway, {});
    const body = JSON.stringify({ response_id: id, model: "openai" });
    for (const line of [
      "GET /v1/responses/{id}",
      "DELETE /v1/responses/{id}",
      "GET /v1/responses/{id}/input_items",
      "POST /v1/responses/{id}/cancel",
    ]) {
      // oxlint-disable-next-line no-await-in-loop -- a few.
      const foreign = await ask(line, body, key);
      // oxlint-disable-next-line no-await-in-loop -- as above.
      const missing = await ask(line.replace("{id}", `resp_${"0".repeat(32)}`), body, key);
      expect(foreign.status).toBe(404);
      expect(foreign.body.replace(id, "")).toBe(missing.body.replace(`resp_${"0".repeat(32)}`, ""));
    }
    expect((await ask("GET /v1/responses/{id}")).status).toBe(200);
  });

  it("is gone after requests in one piece, which are answered in order", async () => {
    const { id: doomed } = await sdkOf(gateway).responses.create({ model: "openai", input: "Hi." });
    const head = (method: string, last = ""): string =>
      `${method} /v1/responses/${doomed} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.masterKey}\r\n${last}\r\n`;
    const text = await new Promise<string>((resolve, reject) => {
      let read = "";
      const socket = connect(Number(new URL(gateway.publicUrl).port), "127.0.0.1", () =>
        socket.write(
          head("GET") + head("DELETE") + head("GET") + head("DELETE", "connection: close\r\n"),
        ),
      );
      socket.on("data", (bytes: Buffer) => (read += bytes.toString()));
      socket.on("close", () => resolve(read));
      socket.on("error", reject);
    });
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    expect(statuses).toHaveLength(4);
    expect(text.indexOf('"object":"response"')).toBeLessThan(text.indexOf('"deleted":true'));
    expect((await ask(`GET /v1/responses/${doomed}`)).status).toBe(404);
  });
});

describe("a method that a path does not take", () => {
  it.each([
    ["PUT /v1/responses/{id}", { error: { code: expect.any(String) } }],
    ["GET /v1/responses/compact", { error: { code: expect.any(String) } }],
    ["GET /v1/messages", { type: "error", error: { type: "invalid_request_error" } }],
    ["GET /v1/messages/count_tokens", { type: "error" }],
    ["GET /v1beta/models/openai:generateContent", { error: { status: expect.any(String) } }],
    ["PUT /v1/chat/completions", { error: { code: 405 } }],
  ])("%s is refused in the client's form", async (line, body) => {
    const answer = await ask(line);
    expect([answer.status, answer.headers["allow"]]).toEqual([405, expect.any(String)]);
    expect(JSON.parse(answer.body)).toMatchObject(body);
  });

  it("is served for other words behind the colon, which the refusal names", async () => {
    const answer = await ask("POST /v1beta/models/openai:embedContent", "{}");
    expect(answer.status).toBe(405);
    expect(answer.body).toContain(":generateContent");
    expect(answer.body).toContain(":countTokens");
  });
});

describe("a request of Gemini's form", () => {
  const CONTENTS = '"contents":[{"parts":[{"text":"Hi."}]}]';
  it.each([
    ["openai:generateContent", [200]],
    ["openai%3AgenerateContent", [200]],
    ["open%61i:generateContent", [200]],
    ["models%2Fopenai:generateContent", [200]],
    ["openai:generateContent?alt=json&alt=sse", [400, undefined]],
    ["openai:generateContent?alt=json&$alt=json", [400, undefined]],
    ["openai:GenerateContent", [405, undefined]],
    ["..%2fopenai:generateContent", [404, undefined]],
  ])("at %s: %o", async (path, expected) => {
    expect(await outcome(`POST /v1beta/models/${path}`, `{${CONTENTS}}`)).toEqual(expected);
  });

  it.each(["openai", "gemini"])("for %s names one model, in path and body", async (name) => {
    const path = `POST /v1beta/models/${name}:generateContent`;
    const calls = model.requests.length;
    const same = await ask(path, `{"model":"models/${name}",${CONTENTS}}`);
    const other = await ask(path, `{"model":"models/anthropic",${CONTENTS}}`);
    expect([same.status, other.status]).toEqual([200, 400]);
    expect(other.body).toContain("the model of the path");
    expect(model.requests).toHaveLength(calls + 1);
  });
});

describe("a repeated member is refused by its name, and nothing is called", () => {
  const input = '"input":"Hi."';
  const message = '"messages":[{"role":"user","content":"Hi."}]';
  const contents = '"contents":[{"parts":[{"text":"Hi."}]}]';
  it.each([
    ["/v1/responses", `{"model":"openai",${input},"max_output_tokens":9,"max_output_tokens":1}`],
    ["/v1/responses", `{"model":"openai",${input},"store":true,"st\\u006fre":false}`],
    ["/v1/responses", `{"model":"openai",${input},"instructions":"a","instructions":"b"}`],
    ["/v1/responses", `{"model":"openai",${input},"next_year":1,"next_year":2}`],
    ["/v1/responses/compact", `{"model":"openai",${input},"instructions":"a","instructions":"b"}`],
    ["/v1/messages", `{"model":"anthropic","max_tokens":9,${message},"system":"a","system":"b"}`],
    [
      "/v1/messages",
      `{"model":"anthropic","max_tokens":2000,${message},"thinking":{"type":"enabled","budget_tokens":1999,"budget_tokens":1024}}`,
    ],
    ["/v1/messages/count_tokens", `{"model":"anthropic",${message},"tools":[],"tools":[]}`],
    ["/v1beta/models/gemini:generateContent", `{${contents},${contents}}`],
    [
      "/v1beta/models/gemini:generateContent",
      `{${contents},"generationConfig":{"maxOutputTokens":60000,"maxOutputTokens":1}}`,
    ],
    [
      "/v1beta/models/gemini:generateContent",
      `{${contents},"generation_config":{"maxOutputTokens":60000,"maxOutputTokens":1}}`,
    ],
    ["/v1/chat/completions", `{"model":"openai",${message},"tools":[],"tools":[]}`],
    ["/v1/responses", '{"model":"openai","input":[{"role":"user","content":"a","content":"b"}]}'],
    [
      "/v1/messages",
      '{"model":"anthropic","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"a","text":"b"}]}]}',
    ],
    ["/v1beta/models/gemini:generateContent", '{"contents":[{"parts":[{"text":"a","text":"b"}]}]}'],
    [
      "/v1/chat/completions",
      '{"model":"openai","messages":[{"role":"user","content":"a","c\\u006fntent":"b"}]}',
    ],
  ])("%s %s", async (path, body) => {
    const calls = model.requests.length;
    const answer = await ask(`POST ${path}`, body);
    expect([answer.status, answer.body]).toEqual([400, expect.stringContaining("is repeated")]);
    expect(model.requests).toHaveLength(calls);
  });
});

describe("a flag of Responses that is no flag", () => {
  it.each(["store", "background", "stream"])("%s is refused by its name", async (name) => {
    for (const value of ['"false"', '"true"', "0", "{}"])
      // oxlint-disable-next-line no-await-in-loop -- a few.
      expect(
        await outcome("POST /v1/responses", `{"model":"openai","input":"Hi.","${name}":${value}}`),
      ).toEqual([400, name]);
  });
});
