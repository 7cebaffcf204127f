import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { defineProvider } from "@sluice/kit";
import { createChatTranslator, decodeChat, readErrorReply } from "@sluice/kit/openai";
import { encodeChat } from "@sluice/kit/internals";
import type { Secret } from "@sluice/contract";
import { type CaseRow, readTable } from "./case-table.ts";
import { recordCase } from "./record.ts";

const KEY = "a-key-that-no-log-may-hold-0123456789";
const folder = mkdtempSync(join(tmpdir(), "sluice-record-"));
let server: Server;
let answer: { status: number; type: string; body: string };
let seen: { authorization: string | undefined; body: string };

const acme = defineProvider<{ readonly api_key: Secret; readonly base_url: string }>({
  name: "acme",
  stability: "beta",
  summary: "A test.",
  config: {
    type: "object",
    required: ["api_key", "base_url"],
    properties: {
      api_key: { type: "string", "x-secret": true, description: "The key." },
      base_url: { type: "string", description: "The address." },
    },
  },
  create: ({ api_key: key, base_url: url }) => ({
    capabilities: { operations: ["chat"], streaming: true, tools: true },
    encode: (asked) => ({
      kind: "http",
      method: "POST",
      url: `${url}/v1/chat/completions`,
      headers: {
        "content-type": "application/json",
        authorization: key.map((value) => `Bearer ${value}`),
      },
      body: encodeChat(asked).bytes,
    }),
    decode: (body, asked) => decodeChat(body, asked.replyModel, asked),
    stream: (asked) => createChatTranslator(asked.replyModel, asked),
    error: readErrorReply,
  }),
});

beforeAll(async () => {
  const request = { model: "contract/model", messages: [{ role: "user", content: "Hi" }] };
  const table = { source: "https://example.com", cases: [{ name: "request", given: request }] };
  mkdirSync(join(folder, "preset"));
  writeFileSync(join(folder, "preset/chat.cases.json"), JSON.stringify(table));
  server = createServer((message, response) => {
    let body = "";
    message.on("data", (chunk: Buffer) => (body += chunk.toString()));
    message.on("end", () => {
      seen = { authorization: message.headers.authorization, body };
      const headers = {
        "content-type": answer.type,
        "retry-after": "3",
        "set-cookie": "session=1",
        "x-request-id": "req-1",
      };
      response.writeHead(answer.status, headers).end(answer.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});

afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The case that was recorded, and the text of the file that it names. */
async function record(stream: boolean): Promise<{ row: CaseRow; text: string }> {
  const config = {
    api_key: KEY,
    base_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  };
  const fixtures = pathToFileURL(`${folder}/`);
  const options = {
    fixtures,
    name: "preset/chat",
    model: "m",
    config,
    stream,
    signal: AbortSignal.timeout(20_000),
  };
  const { path, name } = await recordCase(acme, options);
  const row = readTable(join(folder, "preset/chat.cases.json")).rows.find(
    (each) => each.name === name,
  );
  if (row === undefined) throw new Error(`The table has no case ${name}.`);
  expect(row.source).toMatch(/^recorded \d{4}-\d\d-\d\d, m$/);
  expect(path).toBe(join(folder, "preset", row.file ?? "chat.cases.json"));
  return { row, text: readFileSync(path, "utf8") };
}

describe("recorded traffic", () => {
  it("is a reply as it came, without whose it is", async () => {
    const call = {
      id: "call_9f8e7d6c5b4a",
      type: "function",
      function: { name: "f", arguments: '{"mail":"ann@example.com"}' },
    };
    const body = {
      id: "chatcmpl-AbC123xyz",
      organization: "org-0123456789abcdef",
      choices: [{ message: { content: "Hi", tool_calls: [call, call] } }],
    };
    answer = {
      status: 200,
      type: "application/json",
      body: JSON.stringify({ ...body, echo: `Bearer ${KEY}` }),
    };
    const { row, text } = await record(false);
    expect(row).toMatchObject({ name: "reply-recorded", file: "chat/reply-recorded.json" });
    expect(seen.authorization).toBe(`Bearer ${KEY}`);
    expect(JSON.parse(seen.body)).toMatchObject({ model: "m", messages: [{ content: "Hi" }] });
    for (const value of [KEY, "AbC123xyz", "0123456789abcdef", "9f8e7d6c5b4a", "ann@example.com"])
      expect(text).not.toContain(value);
    const stored = JSON.parse(text) as {
      choices: [{ message: { content: string; tool_calls: [{ id: string }, { id: string }] } }];
    };
    expect(stored.choices[0].message.content).toBe("Hi");
    const [first, second] = stored.choices[0].message.tool_calls;
    expect(first.id).toMatch(/^call_recorded\d+$/);
    expect(second.id).toBe(first.id);
  });

  it("is a stream, with the same name for the same id in every event", async () => {
    const chunk = (text: string): string =>
      `data: {"id":"chatcmpl-AbC123xyz","choices":[{"delta":{"content":"${text}"}}]}\n\n`;
    answer = {
      status: 200,
      type: "text/event-stream",
      body: `${chunk("a")}${chunk("b")}data: [DONE]\n\n`,
    };
    const { row, text } = await record(true);
    expect(row).toMatchObject({ name: "stream-recorded", file: "chat/stream-recorded.sse" });
    expect(JSON.parse(seen.body)).toMatchObject({ stream: true });
    expect(new Set(text.match(/"id":"[^"]+"/g))).toEqual(new Set(['"id":"chatcmpl-recorded1"']));
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
  });

  it("is an error with the headers that a provider reads, and no others", async () => {
    answer = {
      status: 429,
      type: "application/json",
      body: `{"error":{"message":"The key ${KEY} is spent."}}`,
    };
    const { row, text } = await record(false);
    expect(text).not.toContain(KEY);
    expect(row.name).toBe("error-recorded-429");
    expect(row.given).toEqual({
      status: 429,
      headers: { "content-type": "application/json", "retry-after": "3" },
      body: { error: { message: "The key [secret] is spent." } },
    });
  });
});
