/**
 * Bounds of native lanes: what the upstream reported before a cut is in the row, events without
 * content end, and a request names each bound once.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { spendRows } from "../support/client.ts";
import { fourProviders, PROVIDER_ENVIRONMENT } from "../support/faces/four-providers.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";
import { createWorkspace } from "../support/workspace.ts";

let upstream: NativeUpstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createNativeUpstream();
  gateway = await startGateway(createWorkspace(fourProviders(upstream.url)), PROVIDER_ENVIRONMENT);
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const event = (type: string, rest: object = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
const started = (usage: object): string =>
  event("message_start", {
    message: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "claude",
      content: [],
      usage,
    },
  });
const START = started({ input_tokens: 1000, cache_read_input_tokens: 5000, output_tokens: 1 });
const TEXT =
  event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }) +
  event("content_block_delta", { index: 0, delta: { type: "text_delta", text: "Some words." } });
const DELTA = event("message_delta", {
  delta: { stop_reason: "end_turn" },
  usage: { output_tokens: 900 },
});

const paths = {
  anthropic: "/v1/messages",
  gemini: "/v1beta/models/gemini:streamGenerateContent?alt=sse",
  chat: "/v1/chat/completions",
} as const;

async function ask(
  face: keyof typeof paths,
  model = "anthropic",
  headers: Readonly<Record<string, string>> = {},
) {
  const messages = [{ role: "user", content: "Hi." }];
  const response = await fetch(`${gateway.publicUrl}${paths[face]}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${gateway.masterKey}`,
      "content-type": "application/json",
      ...headers,
    },
    body: JSON.stringify(
      face === "gemini"
        ? { contents: [{ role: "user", parts: [{ text: "Hi." }] }] }
        : { model, max_tokens: 100, stream: true, messages },
    ),
  });
  const said = await response.text();
  const id = response.headers.get("x-request-id") ?? "";
  const [row, ...others] = await spendRows(gateway, { request_id: id });
  expect(others).toEqual([]);
  return { status: response.status, said, row: row! };
}

/** A Gemini stream has no end mark: its reason to finish is the end that a client sees. */
describe("a Gemini stream that fails behind its last content", () => {
  const part = (text: string, rest: object = {}): string =>
    `data: ${JSON.stringify({ candidates: [{ index: 0, content: { role: "model", parts: [{ text }] }, ...rest }], modelVersion: "gemini" })}\n\n`;
  /** A body that is shorter than its length: the connection closes in its middle. */
  const CUT = { "content-length": "100000", connection: "close" };
  const STOP = part("Some", { finishReason: "STOP" });

  it.each([
    [
      "an error",
      `data: ${JSON.stringify({ error: { code: 503, status: "UNAVAILABLE", message: "Later." } })}\n\n`,
    ],
    ["a cut", undefined],
  ])("has one end, the failure: %s", async (_what, last) => {
    if (last === undefined) upstream.reply(200, "text/event-stream", part("Words ") + STOP, CUT);
    else upstream.reply(200, "text/event-stream", part("Words ") + STOP + last);
    const { said } = await ask("gemini");
    expect(said).toContain("Words ");
    expect(said).not.toContain("STOP");
    // One event, and the same object again for clients that know it by that.
    const [event, again, ...others] = said.match(/^.*"error".*$/gm) ?? [];
    expect(others).toEqual([]);
    expect(event).toBe(`data: ${again}`);
  });

  it("has the upstream's events otherwise, those behind the reason too", async () => {
    const usage = `data: ${JSON.stringify({ usageMetadata: { promptTokenCount: 3, totalTokenCount: 5, candidatesTokenCount: 2 } })}\n\n`;
    upstream.reply(200, "text/event-stream", part("Words ") + STOP + usage);
    const { said, row } = await ask("gemini");
    const seen = said.split(/\r?\n\r?\n/).filter((text) => text !== "");
    expect(seen).toHaveLength(3);
    expect(seen[1]).toContain("STOP");
    expect(seen[2]).toContain("usageMetadata");
    expect(row).toMatchObject({ prompt_tokens: 3, completion_tokens: 2 });
  });

  it("has a long end as it came, behind its text, and so has its repeat", async () => {
    const data = "A".repeat(1_100_000);
    const last = part("Voilà 上好", {
      finishReason: "STOP",
      image: { inlineData: { mimeType: "image/png", data } },
    });
    upstream.reply(200, "text/event-stream", part("First words ") + last);
    const before = upstream.requests.length;
    const key = { "idempotency-key": "a long end" };
    const { said } = await ask("gemini", undefined, key);
    expect(said).toBe(part("First words ") + last);
    expect((await ask("gemini", undefined, key)).said).toBe(said);
    expect(upstream.requests).toHaveLength(before + 1);
  });
});

describe("a stream that is cut", () => {
  it.each(["anthropic", "chat"] as const)(
    "has the prompt that its upstream reported: %s",
    async (face) => {
      upstream.reply(200, "text/event-stream", START + TEXT);
      const { row } = await ask(face);
      expect(row).toMatchObject({
        status: "partial",
        usage_source: "estimated",
        prompt_tokens: 6000,
      });
      expect(row.completion_tokens).toBeGreaterThan(0);
      expect(row.completion_tokens).toBeLessThan(20);
    },
  );

  it("has the completion that its upstream reported", async () => {
    upstream.reply(200, "text/event-stream", START + TEXT + DELTA);
    const { row } = await ask("anthropic");
    expect(row).toMatchObject({
      status: "partial",
      prompt_tokens: 6000,
      completion_tokens: 900,
      total_tokens: 6900,
    });
  });

  it("has the counts of Gemini's events", async () => {
    const reply = {
      candidates: [{ content: { role: "model", parts: [{ text: "Some words." }] }, index: 0 }],
      usageMetadata: { promptTokenCount: 1000, candidatesTokenCount: 900, totalTokenCount: 1900 },
    };
    upstream.reply(200, "text/event-stream", `data: ${JSON.stringify(reply)}\r\n\r\n`);
    const { row } = await ask("gemini");
    expect(row).toMatchObject({ prompt_tokens: 1000, completion_tokens: 900 });
  });

  it("keeps its count where the reported prompt cannot be true", async () => {
    const usage = { input_tokens: 900_000_000, output_tokens: 1 };
    upstream.reply(200, "text/event-stream", started(usage) + TEXT);
    const { row } = await ask("anthropic");
    expect(row.prompt_tokens).toBeLessThan(100);
  });
});

describe("a stream without content", () => {
  it.each(["anthropic", "chat"] as const)("is ended at a bound: %s", async (face) => {
    const ping = event("ping", { of_next_year: "x".repeat(1_000_000) });
    let written = 0;
    upstream.answer((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write(START);
      const more = (): void => {
        while (written < 200 && !response.destroyed) {
          written++;
          if (response.write(ping)) continue;
          response.once("drain", more);
          return;
        }
        response.end();
      };
      more();
    });
    const { status, said } = await ask(face);
    expect([status, said]).toEqual([502, expect.stringContaining("more than 64 MiB")]);
    expect(written).toBeLessThan(200);
  });
});

describe("a request with both spellings of a member", () => {
  it.each<[string, object]>([
    ["generationConfig", { generationConfig: {}, generation_config: { maxOutputTokens: 9 } }],
    [
      "generationConfig.maxOutputTokens",
      { generationConfig: { maxOutputTokens: 9, max_output_tokens: 9_999 } },
    ],
  ])("does not reach the upstream: %s", async (path, more) => {
    const calls = upstream.requests.length;
    const response = await fetch(`${gateway.publicUrl}/v1beta/models/gemini:generateContent`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${gateway.masterKey}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({ contents: [{ parts: [{ text: "Hi." }] }], ...more }),
    });
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(path)]);
    expect(upstream.requests).toHaveLength(calls);
  });
});
