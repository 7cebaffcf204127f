/**
 * Native replies that quote the credential, misname their framing, miscount their tokens or break:
 * what the client gets, and the row.
 */

import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { createKey, MESSAGES, rowsOf, type SpendRow } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway, UPSTREAM_KEY } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";

const NATIVE = "/openai/v1/chat/completions";
const CHAT = "/v1/chat/completions";
const TEXT = "word ".repeat(2_000);

let upstream: NativeUpstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createNativeUpstream();
  gateway = await startGateway({ baseUrl: `${upstream.url}/v1` });
  upstream.reply(200, "application/json", reply(undefined));
  // The first counts may come before the tables are loaded, and are estimates then.
  await eventually(
    "exact counts",
    async () => (await ask(CHAT)).row?.completion_tokens === countTokens(TEXT),
  );
});

afterAll(async () => {
  await gateway.dispose();
  await upstream.close();
});

function reply(usage: object | undefined): string {
  const message = { role: "assistant", content: TEXT };
  const choices = [{ index: 0, message, finish_reason: "stop" }];
  return JSON.stringify({
    id: "c",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices,
    usage,
  });
}

function stream(usage: object): string {
  const chunk = (choices: object[], more: object = {}) =>
    `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices, ...more })}\n\n`;
  const said = Array.from({ length: 20 }, (_, at) =>
    chunk([
      {
        index: 0,
        delta: { content: TEXT.slice((at * TEXT.length) / 20, ((at + 1) * TEXT.length) / 20) },
      },
    ]),
  );
  const end = chunk([{ index: 0, delta: {}, finish_reason: "stop" }]);
  return `${said.join("")}${end}${chunk([], { usage })}data: [DONE]\n\n`;
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly row: SpendRow | undefined;
}

async function ask(path: string, body: object = {}, key = gateway.masterKey): Promise<Answer> {
  const response = await fetch(`${gateway.publicUrl}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "gpt-4o-mini", messages: MESSAGES, ...body }),
  });
  const text = await response.text().catch(() => "");
  const [row] = await eventually("the row", async () => {
    const rows = await rowsOf(gateway, response.headers.get("x-request-id"));
    return rows.length > 0 && rows;
  });
  return { status: response.status, text, row };
}

describe("a native reply with status 200 that quotes the provider's credential", () => {
  const masked = "*".repeat(UPSTREAM_KEY.length);
  const quote = (secret: string) =>
    `{"error":{"message":"Incorrect API key provided: ${secret}."},"tail":"${secret}"}`;

  it("has a mask of its length there, and every other byte", async () => {
    upstream.answer((response) => {
      const bytes = Buffer.from(quote(UPSTREAM_KEY));
      response
        .writeHead(200, { "content-type": "application/json", "content-length": bytes.length })
        .end(bytes);
    });
    expect((await ask(NATIVE)).text).toBe(quote(masked));
  });

  it.each(Array.from({ length: UPSTREAM_KEY.length + 1 }, (_, at) => at))(
    "has it where the value is split over two events' bytes, at %i",
    async (at) => {
      const event = `data: ${quote(UPSTREAM_KEY)}\n\n`;
      const cut = event.indexOf(UPSTREAM_KEY) + at;
      upstream.answer((response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(event.slice(0, cut));
        setTimeout(() => response.end(event.slice(cut)), 2);
      });
      expect((await ask(NATIVE, { stream: true })).text).toBe(`data: ${quote(masked)}\n\n`);
    },
  );

  it("keeps the end of a reply that begins the value and is something else", async () => {
    const text = `{"text":"${UPSTREAM_KEY.slice(0, -1)}`;
    upstream.reply(200, "text/plain", text);
    expect((await ask(NATIVE)).text).toBe(text);
  });

  it("is asked for without a coding, and passes as it is where it has one", async () => {
    upstream.reply(200, "application/json", gzipSync(reply(undefined)), {
      "content-encoding": "gzip",
    });
    expect((await ask(NATIVE)).text).toBe(reply(undefined));
    expect(upstream.requests.at(-1)?.headers["accept-encoding"]).toBe("identity");
  });
});

describe("a usage without completion tokens beside a text", () => {
  const usages = [
    { prompt_tokens: 10 },
    { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  ];
  const cases = [CHAT, NATIVE].flatMap((path) =>
    usages.flatMap((usage) => [false, true].map((isStream) => [path, usage, isStream] as const)),
  );

  it.each(cases)("is counted from the text: %s, %j, stream: %s", async (path, usage, isStream) => {
    if (isStream) upstream.reply(200, "text/event-stream", stream(usage));
    else upstream.reply(200, "application/json", reply(usage));
    const { row } = await ask(path, { stream: isStream });
    expect(row).toMatchObject({
      status: "success",
      usage_source: "estimated",
      cost_status: "priced",
    });
    expect(row?.completion_tokens).toBeGreaterThanOrEqual(1_800);
    // A prompt that was reported stands; one of 0 is counted, and is longer.
    expect(row?.prompt_tokens === 10).toBe(usage.prompt_tokens === 10);
    expect(row?.prompt_tokens).toBeGreaterThanOrEqual(10);
  });

  it("stays as reported where no text was generated", async () => {
    const empty = reply({ prompt_tokens: 7, completion_tokens: 0, total_tokens: 7 }).replace(
      TEXT,
      "",
    );
    upstream.reply(200, "application/json", empty);
    const wanted = { usage_source: "provider", prompt_tokens: 7, completion_tokens: 0 };
    expect((await ask(NATIVE)).row).toMatchObject(wanted);
  });
});

describe("a whole JSON reply that calls itself an event stream", () => {
  it.each(["", " \n", "\ufeff"])("has its usage read, behind %j", async (before) => {
    const text =
      before + reply({ prompt_tokens: 10, completion_tokens: 2_000, total_tokens: 2_010 });
    upstream.reply(200, "text/event-stream", text);
    const { row } = await ask(NATIVE);
    expect(row).toMatchObject({
      usage_source: "provider",
      prompt_tokens: 10,
      completion_tokens: 2_000,
    });
  });
});

describe("a native call without a known end", () => {
  it("in the background has no price without a reservation", async () => {
    upstream.reply(
      200,
      "application/json",
      '{"id":"r","object":"response","status":"queued","usage":null}',
    );
    const body = {
      input: "Say it.",
      background: true,
      max_output_tokens: 5_000,
      messages: undefined,
    };
    const { key } = await createKey(gateway, {});
    const { row } = await ask("/openai/v1/responses", body, key);
    expect(row).toMatchObject({
      cost_status: "unpriced",
      spend: null,
      completion_tokens: null,
      usage_source: null,
    });
  });

  it("that breaks before its first byte bills the prompt, as on the chat route", async () => {
    upstream.answer((response) => {
      response
        .writeHead(200, { "content-type": "application/json", "content-length": 500 })
        .flushHeaders();
      setTimeout(() => response.destroy(), 5);
    });
    const { key } = await createKey(gateway, {});
    const chat = (await ask(CHAT, { num_retries: 0 }, key)).row;
    const { row } = await ask(NATIVE, {}, key);
    const { usage_source, cost_status, completion_tokens, status } = chat ?? {};
    expect({ usage_source, cost_status, completion_tokens, status }).toEqual({
      usage_source: "estimated",
      cost_status: "priced",
      completion_tokens: 0,
      status: "failure",
    });
    expect(row).toMatchObject({ usage_source, cost_status, completion_tokens, status });
    expect(row?.prompt_tokens).toBeGreaterThan(0);
  });
});
