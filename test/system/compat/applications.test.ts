/** Applications that come from LiteLLM: their fields, headers, replies and paths, at the front door. */

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { chat, createKey, MESSAGES, rowsOf, spendRows } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { NEVER_EJECTS } from "../support/workspace.ts";

const MODELS = [
  "{ id: gpt-4o-mini, targets: [{ provider: openai, model: gpt-4o-mini }] }",
  "{ id: gpt-4o, targets: [{ provider: openai, model: gpt-4o }] }",
  "{ id: failing, targets: [{ provider: openai, model: failing }] }",
  '{ id: "listed,model", targets: [{ provider: openai, model: listed }] }',
  "{ id: claude, targets: [{ provider: anthropic, model: claude-sonnet-4-5 }] }",
  "{ id: text-embedding-3-small, mode: embeddings, targets: [{ provider: openai, model: text-embedding-3-small }] }",
];

let upstream: Upstream;
let gateway: GatewayProcess;
beforeAll(async () => {
  upstream = await createUpstream();
  gateway = await startGateway(
    {
      baseUrl: upstream.baseUrl,
      attempts: 1,
      balance: NEVER_EJECTS,
      models: MODELS,
      plugins: ["@sluice/compat-litellm"],
      providers: [
        `anthropic: { use: anthropic, api_key: "\${env:OPENAI_API_KEY}", base_url: "${upstream.url}" }`,
      ],
      sections: [
        "guardrails:\n  words: { use: words, default_on: true, lists: [{ name: banned, words: [forbidden] }] }",
      ],
    },
    {},
  );
});
afterEach(() => upstream.reset());
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const DOWN = { kind: "error", status: 500 } as const;
const BODY = { model: "gpt-4o-mini", messages: MESSAGES };

function send(
  path: string,
  body: object | undefined,
  headers: Readonly<Record<string, string>> = {},
  key = gateway.masterKey,
): Promise<Response> {
  return fetch(`${gateway.publicUrl}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

async function rowOf(response: Response) {
  expect(await response.text()).toBeTypeOf("string");
  const [row] = await rowsOf(gateway, response.headers.get("x-request-id"));
  return row;
}

/** What the upstream was sent last, as JSON. */
function sent(): Record<string, unknown> {
  return JSON.parse(upstream.requests.at(-1)?.body ?? "{}") as Record<string, unknown>;
}

describe("fields of a body", () => {
  it.each([false, true])("reach the row and no upstream (stream: %s)", async (stream) => {
    const response = await send("/v1/chat/completions", {
      ...BODY,
      stream,
      litellm_metadata: { tags: ["from:notes"], user: "end-1" },
      litellm_session_id: "session-1",
      litellm_trace_id: "trace-1",
      mock_response: "never",
      priority: 3,
      "no-log": true,
      disable_fallbacks: true,
      max_retries: 0,
      request_timeout: 30,
    });
    expect(response.status).toBe(200);
    expect(await rowOf(response)).toMatchObject({
      request_tags: ["from:notes"],
      end_user: "end-1",
      metadata: { session_id: "session-1", trace_id: "trace-1" },
    });
    expect(Object.keys(sent()).toSorted()).toEqual([
      "messages",
      "model",
      "stream",
      ...(stream ? ["stream_options"] : []),
    ]);
  });

  it("round seconds up", async () => {
    for (const timeout of [0.1, "0.5", 1]) {
      const response = await send("/v1/chat/completions", { ...BODY, timeout });
      expect([response.status, response.headers.get("x-litellm-timeout")]).toEqual([200, "1"]);
    }
    const wrong = await send("/v1/chat/completions", { ...BODY, timeout: 0 });
    expect(wrong.status).toBe(400);
  });

  it("are read on native routes, where the other bytes stay", async () => {
    const response = await send(
      "/openai/v1/chat/completions",
      {
        ...BODY,
        litellm_session_id: "session-2",
        timeout: 0.1,
        litellm_metadata: { tags: ["a:b"] },
      },
      { "x-litellm-tags": "c:d, e:f", "x-litellm-end-user-id": "end-2" },
    );
    expect(response.status).toBe(200);
    expect(sent()).toEqual(BODY);
    expect(await rowOf(response)).toMatchObject({
      request_tags: ["a:b", "c:d", "e:f"],
      end_user: "end-2",
      metadata: { session_id: "session-2" },
    });
  });

  it("may be metadata as text", async () => {
    const response = await send("/v1/chat/completions", {
      ...BODY,
      metadata: JSON.stringify({ tags: ["text:1"], ticket: "T-1" }),
    });
    expect(await rowOf(response)).toMatchObject({
      request_tags: ["text:1"],
      metadata: { ticket: "T-1" },
    });
  });
});

describe("headers of a request", () => {
  it("are honoured", async () => {
    const response = await send("/v1/chat/completions", BODY, {
      "x-litellm-timeout": "7.5",
      "x-litellm-tags": "one:1,two:2",
      tags: "three:3",
      "x-litellm-end-user-id": "end-3",
      "x-litellm-spend-logs-metadata": '{"job":"J-1"}',
      "x-litellm-call-id": "call-3",
    });
    expect(response.status).toBe(200);
    expect(response.headers.get("x-litellm-timeout")).toBe("8");
    expect(response.headers.get("x-litellm-call-id")).toBe("call-3");
    expect(await rowOf(response)).toMatchObject({
      request_tags: ["one:1", "two:2", "three:3"],
      end_user: "end-3",
      metadata: { spend_logs_metadata: { job: "J-1" }, litellm_call_id: "call-3" },
    });
  });

  it("set the number of retries", async () => {
    upstream.script("failing", DOWN);
    for (const retries of [0, 1]) {
      const response = await send(
        "/v1/chat/completions",
        { ...BODY, model: "failing" },
        { "x-litellm-num-retries": String(retries) },
      );
      expect(response.status).toBe(502);
      expect(Number(response.headers.get("x-litellm-attempted-retries"))).toBeLessThanOrEqual(
        retries,
      );
    }
  });

  it("are refused where a number is none", async () => {
    const response = await send("/v1/chat/completions", BODY, { "x-litellm-timeout": "soon" });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: "x-litellm-timeout" } });
  });

  it("carry the key in x-litellm-api-key, with and without Bearer", async () => {
    const { key } = await createKey(gateway, {});
    for (const value of [key, `Bearer ${key}`]) {
      const response = await fetch(`${gateway.publicUrl}/v1/chat/completions`, {
        method: "POST",
        headers: { "x-litellm-api-key": value, "content-type": "application/json" },
        body: JSON.stringify(BODY),
      });
      expect(response.status).toBe(200);
      expect(JSON.stringify(upstream.requests.at(-1))).not.toContain(key);
    }
    const two = await send("/v1/chat/completions", BODY, { "x-litellm-api-key": key });
    expect(two.status).toBe(401);
  });

  it("cannot name the tags of another record", async () => {
    await createKey(gateway, { tags: ["owned:by-another"] });
    const { key } = await createKey(gateway, {});
    for (const [path, headers] of [
      ["/v1/chat/completions", { "x-litellm-tags": "owned:by-another" }],
      ["/openai/v1/chat/completions", { tags: "owned:by-another" }],
    ] as const) {
      const response = await send(path, BODY, headers, key);
      expect(response.status).toBe(403);
    }
  });
});

describe("headers of a reply", () => {
  it("say the call, the deployment, its cost and what was tried", async () => {
    const { key } = await createKey(gateway, { rpm_limit: 100, max_budget: 5 });
    const response = await send("/v1/chat/completions", BODY, {}, key);
    const { headers } = response;
    expect(headers.get("x-litellm-call-id")).toBe(headers.get("x-request-id"));
    expect(headers.get("x-litellm-model-id")).toBe("openai/gpt-4o-mini");
    expect(headers.get("x-litellm-response-cost")).toBe(headers.get("x-sluice-cost"));
    expect(headers.get("x-litellm-attempted-retries")).toBe("0");
    expect(headers.get("x-litellm-attempted-fallbacks")).toBe("0");
    expect(headers.get("x-litellm-applied-guardrails")).toBe("words");
    expect(headers.get("x-litellm-timeout")).toBe("600");
    expect(headers.get("x-ratelimit-api_key-limit-requests")).toBe("100");
    expect(headers.get("x-ratelimit-api_key-remaining-requests")).toBe("99");
    expect(headers.get("x-litellm-key-max-budget")).toBe("5");
  });

  it("are on streams and errors too", async () => {
    const stream = await send("/v1/chat/completions", { ...BODY, stream: true });
    expect(stream.headers.get("x-litellm-model-id")).toBe("openai/gpt-4o-mini");
    await stream.text();
    const unknown = await send("/v1/chat/completions", { ...BODY, model: "nothere" });
    expect(unknown.status).toBe(404);
    expect(unknown.headers.get("x-litellm-response-cost")).toBe("0");
    expect(unknown.headers.get("x-litellm-call-id")).toMatch(/./);
  });
});

describe("fallbacks", () => {
  const failing = { ...BODY, model: "failing", num_retries: 0 };

  it("with messages are called with them", async () => {
    upstream.script("failing", DOWN);
    const other = [{ role: "user", content: "Other words." }];
    for (const stream of [false, true]) {
      const response = await send("/v1/chat/completions", {
        ...failing,
        stream,
        fallbacks: [{ model: "gpt-4o", messages: other, temperature: 0.25 }],
      });
      expect(response.status).toBe(200);
      expect(response.headers.get("x-litellm-attempted-fallbacks")).toBe("1");
      expect(response.headers.get("x-litellm-model-id")).toBe("openai/gpt-4o");
      const [row] = await rowsOf(gateway, response.headers.get("x-request-id"));
      expect(await response.text()).toContain("gpt-4o");
      expect(row).toMatchObject({ model: "gpt-4o", status: "success" });
      expect(sent()).toMatchObject({ model: "gpt-4o", messages: other, temperature: 0.25 });
    }
  });

  it("with messages are judged like any request", async () => {
    upstream.script("failing", DOWN);
    const before = upstream.requests.length;
    const response = await send("/v1/chat/completions", {
      ...failing,
      fallbacks: [{ model: "gpt-4o", messages: [{ role: "user", content: "It is forbidden." }] }],
    });
    expect(await response.json()).toMatchObject({ error: { type: "guardrail_violation" } });
    expect(upstream.requests.length).toBe(before + 1);
    const { key } = await createKey(gateway, { models: ["failing"] });
    const hidden = await send(
      "/v1/chat/completions",
      { ...failing, fallbacks: [{ model: "gpt-4o", messages: MESSAGES }] },
      {},
      key,
    );
    expect(hidden.status).toBe(404);
  });

  it("with messages are not called after a success, nor after the client's own fault", async () => {
    const before = upstream.requests.length;
    const fallbacks = [{ model: "gpt-4o", messages: MESSAGES }];
    const good = await send("/v1/chat/completions", { ...BODY, fallbacks });
    expect([good.status, good.headers.get("x-sluice-model")]).toEqual([200, "gpt-4o-mini"]);
    const wrong = await send("/v1/chat/completions", { ...BODY, temperature: "hot", fallbacks });
    expect(wrong.status).toBe(400);
    expect(upstream.requests.length).toBe(before + 1);
  });

  it("may be lists by model", async () => {
    upstream.script("failing", DOWN);
    const response = await send("/v1/chat/completions", {
      ...failing,
      fallbacks: [{ failing: ["gpt-4o"] }, { other: ["gpt-4o-mini"] }],
    });
    expect([response.status, response.headers.get("x-sluice-model")]).toEqual([200, "gpt-4o"]);
  });
});

describe("a list of models", () => {
  it("is a list of completions, each with its row", async () => {
    const response = await send("/v1/chat/completions", {
      ...BODY,
      model: "gpt-4o-mini, gpt-4o",
      user: "list-user",
    });
    expect(response.status).toBe(200);
    const replies = (await response.json()) as { model: string; id: string }[];
    expect(replies.map(({ model }) => model)).toEqual(["gpt-4o-mini", "gpt-4o"]);
    for (const { id, model } of replies)
      expect(await rowsOf(gateway, id)).toContainEqual(
        expect.objectContaining({ model, end_user: "list-user" }),
      );
  });

  it("holds the errors of the models that fail, and is one where all fail", async () => {
    const some = await send("/v1/chat/completions", { ...BODY, model: "gpt-4o-mini,nothere" });
    expect(await some.json()).toMatchObject([
      { model: "gpt-4o-mini" },
      { error: { type: "not_found_error" } },
    ]);
    const none = await send("/v1/chat/completions", { ...BODY, model: "nothere,neither" });
    expect(none.status).toBe(404);
    const streamed = await send("/v1/chat/completions", {
      ...BODY,
      stream: true,
      model: "gpt-4o,gpt-4o-mini",
    });
    expect(streamed.status).toBe(400);
  });

  it("admits each of its calls by the limits of the key", async () => {
    const { key } = await createKey(gateway, { max_parallel_requests: 2, rpm_limit: 3 });
    const body = { ...BODY, model: "gpt-4o,gpt-4o-mini" };
    const first = await send("/v1/chat/completions", body, {}, key);
    expect(await first.json()).toMatchObject([{ model: "gpt-4o" }, { model: "gpt-4o-mini" }]);
    expect((await send("/v1/chat/completions", body, {}, key)).status).toBe(429);
  });

  it("is answered by the fastest, also as a stream", async () => {
    upstream.script("gpt-4o", DOWN);
    for (const stream of [false, true]) {
      const response = await send("/v1/chat/completions", {
        ...BODY,
        stream,
        num_retries: 0,
        model: "gpt-4o,gpt-4o-mini",
        fastest_response: true,
      });
      expect(response.headers.get("x-sluice-model")).toBe("gpt-4o-mini");
      expect(await response.text()).toContain(stream ? "data: [DONE]" : '"choices"');
    }
  });

  it("is a model's id where one is configured", async () => {
    const response = await send("/v1/chat/completions", { ...BODY, model: "listed,model" });
    expect(await response.json()).toMatchObject({ model: "listed,model" });
  });
});

describe("paths", () => {
  it.each([
    ["/chat/completions", BODY],
    ["/completions", { model: "gpt-4o-mini", prompt: "Say something." }],
    ["/v1/completions", { model: "gpt-4o-mini", prompt: "Say something." }],
    ["/embeddings", { model: "text-embedding-3-small", input: "words" }],
    ["/engines/gpt-4o-mini/chat/completions", { messages: MESSAGES }],
  ])("%s is served", async (path, body) => {
    expect((await send(path, body)).status).toBe(200);
  });

  it.each([
    ["/moderations", "/openai/v1/moderations"],
    ["/v1/moderations", "/openai/v1/moderations"],
    ["/files", "/openai/v1/files"],
    ["/v1/batches", "/openai/v1/batches"],
    ["/audio/speech", "/openai/v1/audio/speech"],
  ])("%s names the native address, to a caller with a key", async (path, native) => {
    const response = await send(path, {});
    expect(response.status).toBe(404);
    expect(JSON.stringify(await response.json())).toContain(native);
    expect((await send(path, {}, {}, "sk-unknown-key-of-the-tests")).status).toBe(401);
  });

  it("health needs no key, and its details do", async () => {
    const open = (path: string) => fetch(`${gateway.publicUrl}${path}`);
    expect(await (await open("/health/liveliness")).json()).toBe("I'm alive!");
    expect(await (await open("/health/readiness")).json()).toEqual({
      status: "healthy",
      db: "connected",
    });
    expect((await open("/health")).status).toBe(401);
    expect((await open("/routes")).status).toBe(401);
    const { key } = await createKey(gateway, {});
    expect((await send("/health", undefined, {}, key)).status).toBe(403);
    expect(await (await send("/health", undefined)).json()).toMatchObject({
      unhealthy_count: expect.any(Number) as number,
      healthy_endpoints: expect.any(Array) as object[],
    });
    const routes = (await (await send("/routes", undefined, {}, key)).json()) as {
      routes: { path: string }[];
    };
    expect(routes.routes.map(({ path }) => path)).toContain("/v1/chat/completions");
  });

  it("models have LiteLLM's views", async () => {
    const info = (await (await send("/model/info", undefined)).json()) as { data: object[] };
    expect(info.data[0]).toMatchObject({
      model_name: "gpt-4o-mini",
      litellm_params: { model: "openai/gpt-4o-mini" },
    });
    const groups = await send("/model_group/info?model_group=gpt-4o", undefined);
    expect(await groups.json()).toMatchObject({
      data: [{ model_group: "gpt-4o", providers: ["openai"], mode: "chat" }],
    });
    const paged = await send("/v2/model/info?size=2&page=2", undefined);
    expect(await paged.json()).toMatchObject({ current_page: 2, size: 2, total_count: 6 });
    const { key } = await createKey(gateway, { models: ["gpt-4o"] });
    const own = await send("/model_group/info", undefined, {}, key);
    expect(((await own.json()) as { data: object[] }).data).toHaveLength(1);
  });
});

describe("rows", () => {
  it("are found by the completion's id, and name their owners", async () => {
    const { key, token_id: id } = await createKey(gateway, { key_alias: "app", user_id: "u-1" });
    const response = await send("/v1/chat/completions", BODY, {}, key);
    const { id: completion } = (await response.json()) as { id: string };
    const [row] = await rowsOf(gateway, completion);
    expect(row?.metadata).toMatchObject({
      user_api_key: id,
      user_api_key_alias: "app",
      user_api_key_user_id: "u-1",
    });
    const other = await createKey(gateway, {});
    const foreign = await send(`/spend/logs?request_id=${completion}`, undefined, {}, other.key);
    expect(await foreign.json()).toEqual([]);
    expect(
      await spendRows(gateway, { start_date: "2026-01-01", end_date: "2099-01-01" }),
    ).not.toEqual([]);
  });
});

describe("chat over the plain client", () => {
  it("is as it was", async () => {
    expect((await chat(gateway, BODY)).status).toBe(200);
  });
});
