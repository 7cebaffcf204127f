/**
 * What clients read of replies and failures: usage, finish reasons, calls, charsets, the upstream's
 * own words.
 */

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { chat, createKey, MESSAGES, rowsOf } from "../support/client.ts";
import { type EveryDialect, startEveryDialect } from "../support/every-dialect.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { NEVER_EJECTS } from "../support/workspace.ts";

interface Chunk {
  readonly id?: string;
  readonly choices: {
    readonly index: number;
    readonly delta: {
      readonly content?: string;
      readonly role?: string;
      readonly tool_calls?: { index: number; id?: string }[];
    };
    readonly finish_reason: string | null;
    readonly finish_reason_inferred?: true;
  }[];
  readonly usage?: Record<string, unknown> | null;
}

let every: EveryDialect;
let upstream: Upstream;
let plain: GatewayProcess;
let worded: GatewayProcess;
beforeAll(async () => {
  upstream = await createUpstream();
  const options = {
    baseUrl: upstream.baseUrl,
    attempts: 1,
    balance: NEVER_EJECTS,
    models: [
      "{ id: gpt-4o-mini, targets: [{ provider: openai, model: gpt-4o-mini }] }",
      "{ id: other, targets: [{ provider: openai, model: other }] }",
    ],
  };
  every = await startEveryDialect();
  plain = await startGateway(options);
  worded = await startGateway({ ...options, server: "error_code: text" });
});
beforeEach(() => {
  every.reset();
  upstream.reset();
});
afterAll(async () => {
  await Promise.all([every?.close(), plain?.dispose(), worded?.dispose()]);
  await upstream?.close();
});

const sse = (events: readonly (object | string)[]): string =>
  events
    .map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`)
    .join("");
const piece = (delta: object, finish: string | null = null, more: object = {}) => ({
  id: "c1",
  object: "chat.completion.chunk",
  created: 7,
  model: "m",
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...more,
});
const HEAD = piece({ role: "assistant", content: "" });
const USAGE = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 };

function streams(...events: readonly (object | string)[]): void {
  every.upstream.answer((response) =>
    response.writeHead(200, { "content-type": "text/event-stream" }).end(sse(events)),
  );
}

function replies(status: number, value: object): void {
  every.upstream.answer((response) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value)),
  );
}

const chunksIn = (text: string): Chunk[] =>
  text
    .split("\n\n")
    .filter((part) => part.startsWith("data: {"))
    .map((part) => JSON.parse(part.slice(6)) as Chunk);

describe("the usage of a stream", () => {
  const spaced = JSON.stringify(piece({ content: "b" }, null, { usage: null })).replace(
    '"usage":null',
    '"usage": null',
  );
  const events = [
    { ...HEAD, usage: null },
    piece({ content: "a" }, null, { usage: null }),
    spaced,
    piece({}, "stop", { usage: null, obfuscation: "x" }),
    { ...piece({}), choices: [], usage: USAGE },
    "[DONE]",
  ];

  it.each(["openai", "azure", "vllm", "custom", "groq", "mistral"])(
    "of %s is in no chunk where the client did not ask for it (fault 11)",
    async (dialect) => {
      streams(...events);
      const { text } = await every.ask(dialect, { stream: true });
      expect(text).not.toContain('"usage"');
      expect(chunksIn(text).map(({ choices }) => choices[0]?.delta.content ?? "")).toEqual([
        "",
        "a",
        "b",
        "",
      ]);
      expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
    },
  );

  it("is there where the client asked, and is an estimate where the upstream reports none", async () => {
    streams(...events);
    const asked = await every.ask("openai", {
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(chunksIn(asked.text).at(-1)).toMatchObject({ choices: [], usage: USAGE });
    streams(HEAD, piece({ content: "Hello there." }), piece({}, "stop"), "[DONE]");
    const estimated = await every.ask("vllm", {
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = chunksIn(estimated.text);
    expect(chunks.at(-1)).toMatchObject({
      id: chunks[0]?.id,
      choices: [],
      usage: { estimated: true },
    });
    expect(chunks.at(-1)?.usage?.completion_tokens).toBeGreaterThan(0);
    const unasked = await every.ask("vllm", { stream: true });
    expect(unasked.text).not.toContain('"usage"');
    const whole = await every.ask("vllm", {});
    expect(whole.status).toBe(502);
    every.reset();
    expect((await every.ask("vllm", {})).json.usage).toMatchObject({ estimated: true });
  });
});

describe("the end of a stream", () => {
  it.each([
    ["stop", [piece({ content: "Hi." })]],
    [
      "tool_calls",
      [
        piece({
          tool_calls: [
            { index: 0, id: "c", type: "function", function: { name: "f", arguments: "{}" } },
          ],
        }),
      ],
    ],
  ])("without a finish reason is inferred: %s (fault 15)", async (reason, said) => {
    for (const dialect of ["vllm", "openai"]) {
      streams(HEAD, ...said, "[DONE]");
      const ends = chunksIn((await every.ask(dialect, { stream: true })).text).flatMap(
        ({ choices }) => choices,
      );
      expect(ends.filter(({ finish_reason: end }) => end !== null)).toEqual([
        { index: 0, delta: {}, finish_reason: reason, finish_reason_inferred: true },
      ]);
    }
  });

  it("is not made up where the end mark is missing", async () => {
    streams(HEAD, piece({ content: "Hi." }));
    const { text } = await every.ask("vllm", { stream: true });
    expect(text).not.toContain("finish_reason_inferred");
    expect(text).toContain('"error"');
  });
});

describe("calls of a stream", () => {
  const call = (index: number, name: string) => ({
    index,
    id: `call0000${index}`,
    function: { name, arguments: "{}" },
  });

  it.each(["mistral", "ollama", "vllm", "groq"])(
    "of %s come one in a delta, never with the finish reason (Q8)",
    async (dialect) => {
      streams(
        HEAD,
        piece({ tool_calls: [call(0, "get_a"), call(1, "get_b")] }, "tool_calls"),
        "[DONE]",
      );
      const { text } = await every.ask(dialect, { stream: true });
      const choices = chunksIn(text).flatMap((chunk) => chunk.choices);
      const deltas = choices.filter(({ delta }) => (delta.tool_calls?.length ?? 0) > 0);
      expect(
        deltas.map(({ delta, finish_reason: end }) => [
          delta.tool_calls?.length,
          delta.tool_calls?.[0]?.index,
          end,
        ]),
      ).toEqual([
        [1, 0, null],
        [1, 1, null],
      ]);
      expect(choices.map(({ finish_reason: end }) => end).filter((end) => end !== null)).toEqual([
        "tool_calls",
      ]);
    },
  );
});

it("begins a stream of Azure with a report that has the stream's id and an empty delta (fault 12)", async () => {
  const report = {
    id: "",
    object: "",
    created: 0,
    model: "",
    choices: [],
    prompt_filter_results: [{ prompt_index: 0 }],
  };
  streams(report, HEAD, piece({ content: "Hi." }), piece({}, "stop"), "[DONE]");
  const chunks = chunksIn((await every.ask("azure", { stream: true })).text);
  expect(chunks[0]).toMatchObject({
    id: "c1",
    choices: [{ index: 0, delta: {} }],
    prompt_filter_results: [{}],
  });
  expect(chunks.flatMap(({ choices }) => choices.flatMap(({ delta }) => delta.role ?? []))).toEqual(
    ["assistant"],
  );
});

it("names the charset of every stream (P3)", async () => {
  upstream.script({
    kind: "bytes",
    contentType: "text/event-stream",
    body: sse([HEAD, piece({ content: "Grüße" }, "stop"), "[DONE]"]),
  });
  const response = await chat(plain, { model: "gpt-4o-mini", messages: MESSAGES, stream: true });
  expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  expect(await response.text()).toContain("Grüße");
});

describe("a reply that is none", () => {
  it.each([[[null]], [[5]], [[{}]]])("is 502: choices %j", async (choices) => {
    for (const dialect of ["openai", "vllm", "mistral"]) {
      replies(200, { id: "x", choices });
      expect((await every.ask(dialect, {})).status).toBe(502);
    }
  });

  it("is 502: a vector of strings", async () => {
    const data = [{ object: "embedding", index: 0, embedding: ["a", "b"] }];
    upstream.script({
      kind: "bytes",
      contentType: "application/json",
      body: JSON.stringify({ object: "list", data, usage: USAGE }),
    });
    const response = await fetch(`${plain.publicUrl}/v1/embeddings`, {
      method: "POST",
      headers: { authorization: `Bearer ${plain.masterKey}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "gpt-4o-mini", input: "a" }),
    });
    expect(response.status).toBe(502);
  });
});

it("leaves unreadable events out, and says so in the row", async () => {
  const body = sse([
    HEAD,
    "5",
    '"x"',
    piece({ content: "Hi." }),
    "not json",
    piece({}, "stop"),
    "[DONE]",
  ]);
  upstream.script({ kind: "bytes", contentType: "text/event-stream", body });
  const response = await chat(plain, { model: "gpt-4o-mini", messages: MESSAGES, stream: true });
  expect(chunksIn(await response.text())).toHaveLength(3);
  const [row] = await rowsOf(plain, response.headers.get("x-request-id"));
  expect(row).toMatchObject({ status: "success", metadata: { dropped_events: 3 } });
});

it("bills the estimate where the reported prompt cannot be true", async () => {
  const usage = { ...USAGE, prompt_tokens_details: { cached_tokens: 1_000_000 } };
  const body = JSON.stringify({
    choices: [{ index: 0, message: { content: "Hi." }, finish_reason: "stop" }],
    usage,
  });
  upstream.script({ kind: "bytes", contentType: "application/json", body });
  const response = await chat(plain, { model: "gpt-4o-mini", messages: MESSAGES });
  await response.text();
  const [row] = await rowsOf(plain, response.headers.get("x-request-id"));
  expect(row).toMatchObject({
    usage_source: "estimated",
    completion_tokens: 2,
    metadata: { suspect_usage: { cached_tokens: 1_000_000 } },
  });
  expect(row?.prompt_tokens).toBeLessThan(100);
});

it("shows the tokens of Cohere's model, cached ones included (fault 10)", async () => {
  replies(200, {
    message: { role: "assistant", content: [{ type: "text", text: "Hi." }] },
    finish_reason: "COMPLETE",
    usage: {
      billed_units: { input_tokens: 91, output_tokens: 2 },
      tokens: { input_tokens: 2_400, output_tokens: 2 },
      cached_tokens: 2_000,
    },
  });
  const { json } = await every.ask("cohere", {});
  expect(json.usage).toMatchObject({
    prompt_tokens: 2_400,
    total_tokens: 2_402,
    prompt_tokens_details: { cached_tokens: 2_000 },
  });
});

describe("a refusal of the upstream (faults 8 and 15, P4, Q5)", () => {
  it.each([
    [
      "anthropic",
      400,
      {
        type: "error",
        error: {
          type: "invalid_request_error",
          message: "Output blocked by content filtering policy",
        },
      },
      400,
      "content_policy_violation",
    ],
    [
      "deepseek",
      400,
      { error: { message: "Content Exists Risk", type: "invalid_request_error" } },
      400,
      "content_policy_violation",
    ],
    [
      "xai",
      400,
      {
        code: "Client specified an invalid argument",
        error:
          "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
      },
      400,
      "context_length_exceeded",
    ],
    [
      "groq",
      413,
      {
        error: {
          message: "Request too large for model",
          type: "tokens",
          code: "request_too_large",
        },
      },
      413,
      "invalid_request_error",
    ],
    [
      "bedrock",
      403,
      {
        message: "You don't have access to the model with the specified model ID.",
        __type: "AccessDeniedException",
      },
      502,
      "upstream_error",
    ],
  ])("of %s with status %d", async (dialect, status, body, outward, type) => {
    replies(status, body);
    const { json, status: seen } = await every.ask(dialect, {});
    expect([seen, json.error]).toMatchObject([
      outward,
      { type, code: outward, provider: { status } },
    ]);
  });

  it.each([
    ["insufficient_quota", 429],
    ["unsupported_value", 400],
    ["content_policy_violation", 400],
    ["context_length_exceeded", 400],
  ])("keeps the upstream's word %s beside ours", async (code, status) => {
    const error = {
      message: "No: see https://internal.example/x of sk-abcdefgh1234.",
      type: "some_type",
      param: null,
      code,
    };
    for (const gateway of [plain, worded]) {
      upstream.script({ kind: "error", status, ...error });
      const answer = await chat(gateway, { model: "gpt-4o-mini", messages: MESSAGES });
      const said = (await answer.json()) as { error: Record<string, unknown> };
      expect([answer.status, said.error.code]).toEqual([
        status,
        gateway === worded ? code : status,
      ]);
      expect(said.error).toMatchObject({
        provider: { status, type: "some_type", code },
        message: expect.stringContaining(code),
      });
      expect(JSON.stringify(said)).not.toMatch(/internal\.example|sk-abc/);
      expect(answer.headers.get("x-should-retry")).toBe(
        code === "insufficient_quota" ? "false" : null,
      );
    }
  });

  it("has words for the gateway's own refusals with error_code: text", async () => {
    const unknown = await chat(worded, { model: "nowhere", messages: MESSAGES });
    expect(await unknown.json()).toMatchObject({
      error: { code: "model_not_found", type: "not_found_error" },
    });
    const path = await fetch(`${worded.publicUrl}/nowhere`);
    expect(await path.json()).toMatchObject({
      error: { code: expect.stringMatching(/^[a-z_]+$/) as string },
    });
  });

  it("says the default text where the upstream's message is empty", async () => {
    upstream.script({ kind: "error", status: 400, message: "", type: "t" });
    const answer = await chat(plain, { model: "gpt-4o-mini", messages: MESSAGES });
    expect(await answer.json()).toMatchObject({
      error: { message: expect.stringMatching(/^The upstream refused/) as string },
    });
  });
});

it("says that a spent budget is not to be tried again", async () => {
  const { key } = await createKey(plain, { max_budget: 0.000000001, models: ["gpt-4o-mini"] });
  const answer = await chat(
    plain,
    { model: "gpt-4o-mini", messages: MESSAGES },
    { headers: { authorization: `Bearer ${key}` } },
  );
  expect([answer.status, answer.headers.get("x-should-retry")]).toEqual([429, "false"]);
});

it("counts fallbacks from 0, and names a fallback of the request that the key does not see (contract 1.10, fault 15)", async () => {
  const good = await chat(plain, { model: "gpt-4o-mini", messages: MESSAGES });
  await good.text();
  expect(good.headers.get("x-sluice-fallbacks")).toBe("0");
  const { key } = await createKey(plain, { models: ["gpt-4o-mini"] });
  for (const name of ["nowhere", "other"]) {
    upstream.script({ kind: "error", status: 500 });
    const headers = { authorization: `Bearer ${key}` };
    const failed = await chat(
      plain,
      { model: "gpt-4o-mini", messages: MESSAGES, fallbacks: [name] },
      { headers },
    );
    await failed.text();
    expect([failed.status, failed.headers.get("x-sluice-fallback-skipped")]).toEqual([
      502,
      `${name} (not_found)`,
    ]);
  }
});

it("tells of each model the target's public name (Q10), and finds a row by the id of a completion of ours", async () => {
  const headers = { authorization: `Bearer ${every.gateway.masterKey}` };
  const info = (await (
    await fetch(`${every.gateway.publicUrl}/v1/model/info`, { headers })
  ).json()) as {
    data: { model_name: string; litellm_params?: { model: string } }[];
  };
  expect(info.data.find(({ model_name: name }) => name === "cohere")?.litellm_params).toEqual({
    model: "p-cohere/command-a-03-2025",
  });
  const { json } = await every.ask("cohere", {});
  const query = `request_id=${String(json.id)}`;
  await rowsOf(every.gateway, String(json.id).replace("chatcmpl-", ""));
  const rows = (await (
    await fetch(`${every.gateway.publicUrl}/spend/logs?${query}`, { headers })
  ).json()) as object[];
  expect(rows).toHaveLength(1);
});
