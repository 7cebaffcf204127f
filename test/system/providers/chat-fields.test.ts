/**
 * Every field of a chat request and of its reply: what goes through, what stays here, what is
 * dropped or refused.
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { chat, MESSAGES, rowsOf } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace } from "../support/workspace.ts";

/**
 * A provider that honours `temperature` alone, and no tools. It answers with the fields that
 * reached it.
 */
const PLUGIN = `
import { defineProvider } from ${JSON.stringify(new URL("../../../core/kit/src/index.ts", import.meta.url).pathname)};
import { decodeChat, createChatTranslator, readErrorReply } from ${JSON.stringify(new URL("../../../core/kit/src/openai/index.ts", import.meta.url).pathname)};
export default defineProvider({
  name: "narrow", stability: "stable", summary: "Honours little.", config: { type: "object", properties: {} },
  create: () => ({
    capabilities: { operations: ["chat"], streaming: true, tools: false, parameters: ["temperature"] },
    encode: (request) => ({ kind: "local", status: 200, headers: { "content-type": "application/json" }, body: [JSON.stringify({
      choices: [{ index: 0, message: { role: "assistant", content: Object.keys(request.document.value).sort().join(" ") }, finish_reason: "stop" }],
    })] }),
    decode: (body, request) => decodeChat(body, request.replyModel, request),
    stream: (request) => createChatTranslator(request.replyModel, request),
    error: readErrorReply,
  }),
});
`;

let upstream: Upstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createUpstream();
  const workspace = createWorkspace();
  writeFileSync(join(workspace.folder, "narrow.ts"), PLUGIN);
  const text = workspace.config({
    baseUrl: upstream.baseUrl,
    providers: ["narrow: { use: narrow }"],
    models: [
      "{ id: gpt-4o-mini, targets: [{ provider: openai, model: gpt-4o-mini }] }",
      "{ id: noted, targets: [{ provider: openai, model: gpt-4o-mini, forward_metadata: true }] }",
      "{ id: narrow, targets: [{ provider: narrow, model: n }] }",
      "{ id: dropping, targets: [{ provider: narrow, model: n, drop_params: true }] }",
    ],
  });
  workspace.write(
    text.replace("plugins:\n", `plugins:\n  - ${join(workspace.folder, "narrow.ts")}\n`),
  );
  gateway = await startGateway(workspace);
});
beforeEach(() => upstream.reset());
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const good = { model: "gpt-4o-mini", messages: MESSAGES };

describe("a field of the reference API", () => {
  it.each<Record<string, unknown>>([
    { temperature: 0, top_p: 1, presence_penalty: -2, frequency_penalty: 2 },
    { max_tokens: 0 },
    { max_completion_tokens: 10, n: 2, seed: -9007199254740991 },
    { stop: "x" },
    { stop: ["a", "b"], logit_bias: { 50256: -100 } },
    { logprobs: true, top_logprobs: 20 },
    {
      tools: [{ type: "function", function: { name: "f", parameters: {}, strict: true } }],
      tool_choice: "required",
      parallel_tool_calls: false,
    },
    {
      tool_choice: { type: "function", function: { name: "f" } },
      tools: [{ type: "function", function: { name: "f" } }],
    },
    { functions: [{ name: "f", parameters: {} }], function_call: { name: "f" } },
    {
      response_format: {
        type: "json_schema",
        json_schema: { name: "s", schema: { type: "object" }, strict: true },
      },
    },
    {
      prediction: { type: "content", content: "x" },
      modalities: ["text", "audio"],
      audio: { voice: "alloy", format: "mp3" },
    },
    { reasoning_effort: "minimal", verbosity: "low", service_tier: "flex", store: true, user: "u" },
    {
      safety_identifier: "s",
      prompt_cache_key: "k",
      prompt_cache_retention: "24h",
      web_search_options: {},
      thinking: { type: "enabled" },
    },
    { some_new_field: { a: [1, { b: null }] } },
  ])("goes to the upstream as it came: %j", async (fields) => {
    expect((await chat(gateway, { ...good, ...fields })).status).toBe(200);
    expect(upstream.requests[0]?.parsed).toEqual({ ...good, ...fields });
  });

  it("is left out when it is null or an empty list or map, and so is what speaks of tools where there are none", async () => {
    const nothing = {
      temperature: null,
      stop: [],
      tools: [],
      logit_bias: {},
      seed: null,
      n: null,
      response_format: null,
    };
    const fields = { ...nothing, tool_choice: "auto", parallel_tool_calls: true };
    const answer = await chat(gateway, { ...good, ...fields });
    expect([answer.status, answer.headers.get("x-sluice-dropped-params")]).toEqual([200, null]);
    expect(upstream.requests[0]?.parsed).toEqual(good);
  });

  it("is a message of any role, with blocks of any kind", async () => {
    const messages = [
      { role: "system", content: "s", name: "n" },
      { role: "developer", content: [{ type: "text", text: "d" }] },
      {
        role: "user",
        content: [
          { type: "text", text: "t", cache_control: { type: "ephemeral" } },
          { type: "image_url", image_url: { url: "data:image/png;base64,AA==", detail: "low" } },
          { type: "input_audio", input_audio: { data: "AA==", format: "wav" } },
          { type: "document", source: { type: "text", media_type: "text/plain", data: "x" } },
          { type: "video_url", video_url: { url: "https://example.com/v.mp4" } },
          { type: "file", file: { file_id: "file-1" } },
        ],
      },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "c", content: "1" },
      { role: "assistant", content: null, function_call: { name: "f", arguments: "{}" } },
      { role: "function", name: "f", content: "1" },
    ];
    expect((await chat(gateway, { model: "gpt-4o-mini", messages })).status).toBe(200);
    expect(upstream.requests[0]?.parsed).toEqual({ model: "gpt-4o-mini", messages });
  });

  it("is refused by the name of the block and its place", async () => {
    const messages = [
      ...MESSAGES,
      ...MESSAGES,
      {
        role: "user",
        content: [
          { type: "text", text: "x" },
          { type: "hologram", hologram: {} },
        ],
      },
    ];
    const answer = await chat(gateway, { model: "gpt-4o-mini", messages });
    expect([answer.status, await answer.json()]).toEqual([
      400,
      {
        error: {
          message: expect.stringContaining(
            'The field messages[2].content[1] has the unknown type "hologram"',
          ) as string,
          type: "invalid_request_error",
          code: 400,
          param: "messages[2].content[1]",
        },
      },
    ]);
    expect(upstream.requests).toHaveLength(0);
  });
});

describe("a reply", () => {
  const message = {
    role: "assistant",
    content: null,
    refusal: "I can't.",
    reasoning_content: "because",
    annotations: [
      {
        type: "url_citation",
        url_citation: { url: "https://example.com", title: "t", start_index: 0, end_index: 1 },
      },
    ],
    audio: { id: "audio-1", data: "AA==", expires_at: 1, transcript: "x" },
    provider_specific_fields: { a: [1] },
  };
  const head = {
    id: "chatcmpl-1",
    created: 1,
    model: "gpt-4o-mini",
    system_fingerprint: "fp",
    service_tier: "flex",
  };
  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };

  it("keeps refusal, reasoning, annotations, audio and what is unknown", async () => {
    const body = {
      ...head,
      object: "chat.completion",
      choices: [1, 0].map((index) => ({
        index,
        message,
        logprobs: { content: [], refusal: [] },
        finish_reason: "stop",
      })),
      usage,
    };
    upstream.script({ kind: "bytes", body: JSON.stringify(body) });
    expect(await (await chat(gateway, good)).json()).toEqual(body);
  });

  it("keeps them in a stream, event by event", async () => {
    const deltas = [
      { role: "assistant", content: "" },
      { reasoning_content: "bec" },
      { reasoning_content: "ause" },
      { refusal: "I can't." },
      { annotations: message.annotations },
      { audio: { id: "audio-1", data: "AA==" } },
      { audio: { transcript: "x" } },
      { provider_specific_fields: { a: [1] } },
      { function_call: { name: "f", arguments: "" } },
      {},
    ];
    const chunks = deltas.map((delta, at) => ({
      ...head,
      object: "chat.completion.chunk",
      choices: [
        {
          index: 0,
          delta,
          logprobs: null,
          finish_reason: at === deltas.length - 1 ? "stop" : null,
        },
      ],
    }));
    const body = `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}data: [DONE]\n\n`;
    upstream.script({ kind: "bytes", contentType: "text/event-stream", body });
    expect(await (await chat(gateway, { ...good, stream: true })).text()).toBe(body);
  });

  it("has an id and a time where the upstream gives none", async () => {
    upstream.script({
      kind: "bytes",
      body: JSON.stringify({ choices: [{ index: 0, message }], usage }),
    });
    const answer = await chat(gateway, good);
    const body = (await answer.json()) as Record<string, unknown>;
    expect(body).toMatchObject({
      id: `chatcmpl-${answer.headers.get("x-request-id")}`,
      object: "chat.completion",
      model: "gpt-4o-mini",
    });
    expect(Math.abs(Number(body.created) - Date.now() / 1000)).toBeLessThan(60);
  });
});

describe("a field of the gateway", () => {
  it("never goes to the upstream", async () => {
    const own = {
      guardrails: [],
      caching: true,
      cache: { ttl: 5 },
      num_retries: 0,
      fallbacks: [],
      context_window_fallback_dict: {},
      timeout: 30,
      tags: ["a"],
      drop_params: true,
      metadata: { a: "1", tags: ["b"], spend_logs_metadata: { c: 1 } },
    };
    const answer = await chat(gateway, { ...good, ...own });
    expect(answer.status).toBe(200);
    expect(upstream.requests[0]?.parsed).toEqual(good);
    const [row] = await rowsOf(gateway, answer.headers.get("x-request-id"));
    expect(row?.metadata).toMatchObject({ a: "1", spend_logs_metadata: { c: 1 } });
    expect(row?.request_tags.toSorted()).toEqual(["a", "b"]);
  });

  it("of another gateway is dropped and listed, on streams too", async () => {
    const foreign = {
      mock_response: "x",
      litellm_trace_id: "t",
      "no-log": true,
      priority: 1,
      disable_fallbacks: true,
    };
    for (const stream of [false, true]) {
      upstream.reset();
      const asked = stream ? { ...good, stream, stream_options: { include_usage: true } } : good;
      const answer = await chat(gateway, {
        ...asked,
        ...foreign,
        litellm_metadata: { tags: ["l"], user: "u9" },
      });
      await answer.text();
      expect(answer.status).toBe(200);
      expect(upstream.requests[0]?.parsed).toEqual(asked);
      expect(answer.headers.get("x-sluice-dropped-params")).toBe(
        "mock_response, litellm_trace_id, no-log, priority",
      );
      const [row] = await rowsOf(gateway, answer.headers.get("x-request-id"));
      expect(row).toMatchObject({ request_tags: ["l"], end_user: "u9" });
    }
  });

  const PATHS = [
    "/v1/chat/completions",
    "/openai/deployments/gpt-4o-mini/chat/completions",
    "/v1/embeddings",
    "/v1/images/generations",
  ];
  const askAt = (path: string, body: object, headers: Record<string, string> = {}) =>
    fetch(gateway.publicUrl + path, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        authorization: `Bearer ${gateway.masterKey}`,
        ...headers,
      },
      body: JSON.stringify({
        model: "gpt-4o-mini",
        messages: MESSAGES,
        input: "x",
        prompt: "x",
        ...body,
      }),
    });

  it.each(PATHS)("is refused alike at %s: a timeout that is no whole second", async (path) => {
    for (const timeout of [0, -1, 0.1, 1.2, "0.5"]) {
      const answer = await askAt(path, { timeout });
      expect([answer.status, await answer.json()]).toMatchObject([
        400,
        { error: { param: "timeout", code: 400 } },
      ]);
    }
    for (const [name, value] of [
      ["x-sluice-timeout", "0.5"],
      ["x-sluice-num-retries", "many"],
    ] as const) {
      const answer = await askAt(path, {}, { [name]: value });
      expect([answer.status, await answer.json()]).toMatchObject([400, { error: { param: name } }]);
    }
  });

  it("is read alike at every path: timeout, retries and tags of headers", async () => {
    upstream.script({ kind: "hang" });
    const headers = {
      "x-sluice-timeout": "1",
      "x-sluice-num-retries": "0",
      "x-sluice-tags": "h",
    };
    const late = await Promise.all(
      PATHS.map(async (path) => {
        const { status, headers: replied } = await askAt(path, {}, headers);
        const [row] = await rowsOf(gateway, replied.get("x-request-id"));
        return [path, status, row?.request_tags];
      }),
    );
    expect(late).toEqual(PATHS.map((path) => [path, 504, ["h"]]));
    expect(upstream.requests).toHaveLength(PATHS.length);
  });

  it("named metadata goes to a target that takes it, without what steers the gateway", async () => {
    const metadata = { a: "1", tags: ["b"], guardrails: [], spend_logs_metadata: { c: 1 } };
    expect((await chat(gateway, { ...good, model: "noted", metadata })).status).toBe(200);
    expect(upstream.requests[0]?.parsed).toEqual({ ...good, metadata: { a: "1" } });
  });

  it("named timeout shortens the deadline, and ends the upstream's work", async () => {
    upstream.script({ kind: "hang" });
    const answer = await chat(gateway, { ...good, timeout: 1 });
    expect([answer.status, await answer.json()]).toMatchObject([
      504,
      { error: { type: "timeout_error", code: 504 } },
    ]);
    await upstream.waitFor(({ closedByPeerAtMs }) => closedByPeerAtMs !== undefined);
  });
});

describe("a parameter that the provider cannot honour", () => {
  const asked = { messages: MESSAGES, temperature: 0, seed: 7, stop: "x", user: "u" };

  it("is refused by name", async () => {
    const answer = await chat(gateway, { ...asked, model: "narrow" });
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      {
        error: {
          type: "invalid_request_error",
          param: "stop",
          message: expect.stringContaining("parameter stop.") as string,
        },
      },
    ]);
    expect(answer.headers.get("x-sluice-dropped-params")).toBeNull();
  });

  it.each([
    ["request", { model: "narrow", drop_params: true }],
    ["target", { model: "dropping" }],
  ])("is dropped and listed where the %s says so", async (_who, more) => {
    const answer = await chat(gateway, { ...asked, ...more });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-sluice-dropped-params")).toBe("seed, stop, user");
    const { choices } = (await answer.json()) as { choices: { message: { content: string } }[] };
    expect(choices[0]?.message.content).toBe("messages model temperature");
  });

  it("may be a tool", async () => {
    const tools = [{ type: "function", function: { name: "f" } }];
    const answer = await chat(gateway, { model: "narrow", messages: MESSAGES, tools });
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { error: { param: "tools" } },
    ]);
  });
});
