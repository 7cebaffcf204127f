/**
 * Chat with the unmodified OpenAI SDK: what the client sees, what the upstream was sent, what was
 * counted.
 */

import type OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createUpstream, DEFAULT_TEXT, type Upstream, wireFixture } from "@sluice/testing";
import { chat, MESSAGES, openaiClient, rowsOf } from "../support/client.ts";
import { type GatewayProcess, startGateway, UPSTREAM_KEY } from "../support/gateway-process.ts";
import { collectChunks, textOf } from "../support/sdk-chat.ts";

const FIXTURES = new URL("../../fixtures/openai/", import.meta.url).pathname;
const TOOLS = [
  { name: "weather", arguments: '{"city":"Köln 👋","days":[1,2]}' },
  { name: "time", arguments: '{"zone":"UTC"}' },
];

let upstream: Upstream;
let gateway: GatewayProcess;
let client: OpenAI;

beforeAll(async () => {
  upstream = await createUpstream();
  gateway = await startGateway({ baseUrl: upstream.baseUrl });
  client = openaiClient(gateway);
});
beforeEach(() => upstream.reset());
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

describe("a whole reply", () => {
  it("reaches the client under the id it asked for, with its row", async () => {
    const { data, response } = await client.chat.completions
      .create({ model: "gpt-4o-mini", messages: MESSAGES })
      .withResponse();
    expect(data.choices[0]?.message.content).toBe(DEFAULT_TEXT);
    expect(data.model).toBe("gpt-4o-mini");
    expect(data.usage).toMatchObject(upstream.requests[0]?.usage ?? {});
    expect(upstream.requests[0]?.headers.authorization).toBe(`Bearer ${UPSTREAM_KEY}`);
    const rows = await rowsOf(gateway, response.headers.get("x-request-id"));
    expect(rows).toMatchObject([
      {
        attempt: 1,
        status: "success",
        model: "gpt-4o-mini",
        total_tokens: data.usage?.total_tokens,
        usage_source: "provider",
      },
    ]);
    expect(rows[0]?.cost_status).toBe("priced");
    expect(Number(response.headers.get("x-sluice-cost"))).toBe(rows[0]?.spend);
    expect(rows[0]?.spend).toBeGreaterThan(0);
  });

  it.each([
    "chat-unknown-fields.json",
    "chat-tools-parallel.json",
    "chat-logprobs.json",
    "chat-reasoning.json",
  ])("keeps every byte of %s but for the model's name", async (name) => {
    const sent = wireFixture(`${FIXTURES}${name}`);
    upstream.script(sent);
    const received = await (
      await chat(gateway, { model: "openai/some-model", messages: MESSAGES })
    ).text();
    expect(received).toBe(String(sent.body).replace(/("model": )"[^"]*"/, '$1"openai/some-model"'));
  });

  it("calls several tools at once", async () => {
    upstream.script({ kind: "reply", toolCalls: TOOLS });
    const { choices } = await client.chat.completions.create({
      model: "gpt-4o-mini",
      messages: MESSAGES,
    });
    expect(choices[0]).toMatchObject({
      finish_reason: "tool_calls",
      message: { tool_calls: TOOLS.map((call) => ({ function: call })) },
    });
  });
});

describe("a stream", () => {
  const open = (more: Partial<OpenAI.ChatCompletionCreateParamsStreaming> = {}) =>
    client.chat.completions
      .create({ model: "gpt-4o-mini", messages: MESSAGES, stream: true, ...more })
      .withResponse();

  it("carries the usage as one last chunk when the client asks for it", async () => {
    const { data, response } = await open({ stream_options: { include_usage: true } });
    const chunks = await collectChunks(data);
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(chunks[0]?.choices[0]?.delta.role).toBe("assistant");
    expect(textOf(chunks)).toBe(DEFAULT_TEXT);
    expect(new Set(chunks.map(({ id, created, model }) => `${id} ${created} ${model}`)).size).toBe(
      1,
    );
    expect(chunks[0]?.model).toBe("gpt-4o-mini");
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: upstream.requests[0]?.usage });
    expect(chunks.filter((chunk) => chunk.usage != null)).toHaveLength(1);
  });

  it("carries no usage chunk when the client does not ask, yet its row has the tokens", async () => {
    const { data, response } = await open();
    const chunks = await collectChunks(data);
    expect(chunks.every(({ choices }) => choices.length === 1)).toBe(true);
    expect(chunks.some((chunk) => chunk.usage != null)).toBe(false);
    expect(upstream.requests[0]?.parsed?.["stream_options"]).toEqual({ include_usage: true });
    expect(await rowsOf(gateway, response.headers.get("x-request-id"))).toMatchObject([
      {
        status: "success",
        prompt_tokens: 3,
        completion_tokens: 9,
        total_tokens: 12,
        usage_source: "provider",
      },
    ]);
  });

  it("carries tool calls in fragments that join to the same arguments", async () => {
    upstream.script({ kind: "reply", toolCalls: TOOLS });
    const chunks = await collectChunks((await open()).data);
    const deltas = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? []);
    for (const [index, expected] of TOOLS.entries()) {
      const own = deltas.filter((delta) => delta.index === index);
      expect(own[0]?.function?.name).toBe(expected.name);
      expect(own.length).toBeGreaterThan(2);
      expect(own.map((delta) => delta.function?.arguments ?? "").join("")).toBe(expected.arguments);
    }
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe("tool_calls");
  });

  it.each(["stream.sse", "stream-unicode.sse", "stream-tools-parallel.sse"])(
    "keeps every event of %s",
    async (name) => {
      const sent = wireFixture(`${FIXTURES}${name}`);
      // A stream without usage gets an estimate where the client asked for one.
      const asked = {
        stream: true,
        stream_options: { include_usage: /"usage": ?\{/.test(String(sent.body)) },
      };
      upstream.script({ ...sent, drip: { bytes: 97, everyMs: 0 } });
      const received = await (
        await chat(gateway, { model: "openai/x", messages: MESSAGES, ...asked })
      ).text();
      expect(received).toBe(String(sent.body).replaceAll(/("model": ?)"[^"]*"/g, '$1"openai/x"'));
    },
  );
});

describe("the model echo", () => {
  it("repeats the message, whole and word by word, without any upstream", async () => {
    const messages = [{ role: "user" as const, content: "Hello, Sluice 👋 again" }];
    const whole = await client.chat.completions.create({ model: "echo", messages });
    expect(whole.choices[0]?.message.content).toBe("Hello, Sluice 👋 again");
    const words: string[] = [];
    for await (const { choices } of await client.chat.completions.create({
      model: "echo",
      messages,
      stream: true,
    })) {
      words.push(choices[0]?.delta.content ?? "");
    }
    expect(words.join("")).toBe("Hello, Sluice 👋 again");
    expect(words.filter((word) => word !== "")).toHaveLength(4);
    expect(upstream.requests).toHaveLength(0);
  });
});

describe("a request", () => {
  it("reaches the upstream with unknown fields and every digit of its seed", async () => {
    const body =
      '{"model":"gpt-4o-mini",  "seed":-9223372036854775807,"messages":[{"role":"user","content":"Hi","x":1.50}],"x_new":{"a":[12345678901234567890]}}';
    expect((await chat(gateway, body)).status).toBe(200);
    expect(upstream.requests[0]?.body).toBe(body);
  });

  it("reaches the upstream without the gateway's own fields and without metadata", async () => {
    const own = {
      guardrails: [],
      caching: false,
      cache: { "no-store": true },
      num_retries: 0,
      fallbacks: [],
      context_window_fallback_dict: {},
      timeout: 30,
      tags: ["a"],
      metadata: { tags: ["b"], ticket: "T-1" },
    };
    const sent = { model: "gpt-4o-mini", messages: MESSAGES, user: "alice", temperature: 0 };
    const response = await chat(
      gateway,
      { ...own, ...sent },
      { headers: { "x-sluice-tags": "c, a", "x-request-id": "mine" } },
    );
    expect(response.status).toBe(200);
    expect(upstream.requests[0]?.parsed).toEqual(sent);
    expect(
      Object.keys(upstream.requests[0]?.headers ?? {}).filter((name) => name.startsWith("x-")),
    ).toEqual([]);
    const [row] = await rowsOf(gateway, response.headers.get("x-request-id"));
    expect(row).toMatchObject({
      end_user: "alice",
      metadata: { ticket: "T-1", client_request_id: "mine" },
    });
    expect(row?.request_tags.toSorted()).toEqual(["a", "b", "c"]);
  });

  it("names any model of a wildcard", async () => {
    const reply = await client.chat.completions.create({
      model: "openai/ft:gpt-4o:org/x",
      messages: MESSAGES,
    });
    expect(reply.model).toBe("openai/ft:gpt-4o:org/x");
    expect(upstream.requests[0]?.parsed?.["model"]).toBe("ft:gpt-4o:org/x");
  });
});

describe("the list of models", () => {
  it("holds each id that a request may name, and its provider", async () => {
    const { data } = await client.models.list();
    const listed = data.map(({ id, owned_by }) => `${id} of ${owned_by}`);
    const [known, named] = [
      listed.filter((line) => line.startsWith("openai/")),
      listed.filter((line) => !line.startsWith("openai/")),
    ];
    expect(named).toEqual(["gpt-4o-mini of openai", "gpt-4o of openai", "echo of echo"]);
    // The wildcard stands for the models it is known to match.
    expect(known).toContain("openai/gpt-4o of openai");
    expect(new Set(listed).size).toBe(listed.length);
    expect(
      data.every(({ object, created }) => object === "model" && Number.isInteger(created)),
    ).toBe(true);
  });
});
