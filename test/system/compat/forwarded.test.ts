/**
 * The property of fields that only gateways know: none reaches an upstream, over every route and
 * every dialect, with the extension `litellm` and without it.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "@sluice/contract";
import {
  FOREIGN_GATEWAY_FIELDS,
  FOREIGN_PREFIXES,
  OWN_GATEWAY_FIELDS,
} from "@sluice/runtime/dialect";
import {
  DIALECTS,
  type EveryDialect,
  RESPONSES_MODEL,
  startEveryDialect,
} from "../support/every-dialect.ts";

/** Values that pass the check of the gateway's own fields. */
const OWN: Readonly<Record<string, unknown>> = {
  guardrails: [],
  caching: false,
  cache: { "no-store": true },
  num_retries: 0,
  fallbacks: [],
  context_window_fallback_dict: { a: "b" },
  disable_fallbacks: true,
  timeout: 30,
  tags: ["t:1"],
  litellm_metadata: { tags: ["t:2"] },
  drop_params: true,
};

/** A value that would be found in any place of what is sent. */
const MARK = "planted-4711";

const FOREIGN = [
  ...FOREIGN_GATEWAY_FIELDS,
  ...FOREIGN_PREFIXES.map((prefix) => `${prefix}secret_thing`),
  "litellm_session_id",
  "litellm_trace_id",
  "litellm_call_id",
  "mock_response",
  "mock_tool_calls",
];

const HEADERS = {
  "x-litellm-tags": `h:1,${MARK}`,
  tags: `h:2,${MARK}`,
  "x-litellm-timeout": "30",
  "x-litellm-num-retries": "0",
  "x-litellm-end-user-id": MARK,
  "x-litellm-spend-logs-metadata": JSON.stringify({ note: MARK }),
  "x-litellm-trace-id": MARK,
  "x-litellm-call-id": MARK,
};

/** Requests by the path that they are sent to. `{model}` is the dialect. */
const FACES: readonly (readonly [path: string, body: JsonObject])[] = [
  ["/v1/messages", { max_tokens: 10, messages: [{ role: "user", content: "Hello." }] }],
  ["/v1/responses", { input: "Hello." }],
  [
    "/v1beta/models/{model}:generateContent",
    { contents: [{ role: "user", parts: [{ text: "Hello." }] }] },
  ],
];

const CHAT = { messages: [{ role: "user", content: "Hello." }] };
const CONTENTS = { contents: [{ role: "user", parts: [{ text: "Hello." }] }] };
/** A body for each POST route of the description of the public listener, by the end of its path. */
const ROUTE_BODIES: readonly (readonly [end: RegExp, body: JsonObject])[] = [
  [/chat\/completions$/, CHAT],
  [/completions$/, { prompt: "a" }],
  [/messages(?:\/count_tokens)?$/, { ...CHAT, max_tokens: 10 }],
  [/responses(?:\/compact|\/input_tokens)?$/, { input: "Hello." }],
  [/embeddings$/, { input: "a" }],
  [/images\/generations$/, { prompt: "a" }],
  [/:countTokens$|[gG]enerateContent$/, CONTENTS],
  [/spend\/calculate$|\{endpoint\}$/, CHAT],
  [/\/cancel$/, {}],
];
/** Routes that call no upstream: they count, calculate, or are about a stored reply. */
const CALLS_NOTHING = /count_tokens$|input_tokens$|:countTokens$|spend\/calculate$|\/cancel$/;

/** Native requests, by provider. */
const NATIVES: readonly (readonly [path: string, body: JsonObject])[] = [
  ["/p-openai/v1/chat/completions", { model: "gpt-4o", messages: [] }],
  ["/p-openai/v1/embeddings", { model: "text-embedding-3-small", input: "a" }],
  ["/p-openai/v1/images/generations", { model: "dall-e-3", prompt: "a" }],
  ["/p-openai/v1/moderations", { model: "omni-moderation-latest", input: "a" }],
  ["/p-anthropic/v1/messages", { model: "claude-sonnet-4-5", max_tokens: 1, messages: [] }],
  ["/p-gemini/v1beta/models/gemini-2.5-flash:generateContent", { contents: [] }],
  ["/p-cohere/v2/chat", { model: "command-a-03-2025", messages: [] }],
  ["/p-groq/v1/chat/completions", { model: "model-1", messages: [] }],
];

const WITH = { plugins: ["@sluice/compat-litellm"] };

describe.each([
  ["without the extension", {}],
  ["with the extension", WITH],
])("gateway fields %s", (name, options) => {
  let every: EveryDialect;
  beforeAll(async () => {
    every = await startEveryDialect(options);
  });
  afterAll(() => every?.close());

  const planted = { ...Object.fromEntries(FOREIGN.map((name) => [name, MARK])), ...OWN };

  let requests = 0;

  /** What reached the upstream since, but for requests of credentials. */
  async function sentBy(path: string, body: object): Promise<string[]> {
    const before = every.upstream.requests.length;
    const answer = await fetch(`${every.gateway.publicUrl}${path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${every.gateway.masterKey}`,
        "content-type": "application/json",
        ...HEADERS,
      },
      body: JSON.stringify(body),
    });
    await answer.text();
    requests += 1;
    return every.upstream.requests
      .slice(before)
      .filter(({ url }) => !url.startsWith("/computeMetadata/"))
      .map(
        ({ url, headers, body: bytes }) => `${url} ${JSON.stringify(headers)} ${bytes.toString()}`,
      );
  }

  /** The planted texts in what was sent; that nothing was sent is one too. */
  function leaks(sent: readonly string[]): readonly string[] {
    const planted = [MARK, ...Object.keys(OWN).map((name) => `"${name}":`)];
    const found = sent.flatMap((text) => planted.filter((one) => text.includes(one)));
    return sent.length === 0 ? ["no request"] : found;
  }

  it("has a value for every own field", () => {
    expect(Object.keys(OWN).toSorted()).toEqual(
      OWN_GATEWAY_FIELDS.filter((name) => name !== "metadata").toSorted(),
    );
  });

  it.each(DIALECTS)("reach no upstream of the dialect %s through chat", async (model) => {
    for (const stream of [false, true]) {
      const sent = await sentBy("/v1/chat/completions", {
        model,
        stream,
        messages: [{ role: "user", content: "Hello." }],
        ...planted,
      });
      expect(leaks(sent)).toEqual([]);
    }
  });

  it.each(FACES)("reach no upstream through %s", async (path, body) => {
    for (const model of ["openai", "anthropic", "gemini", "bedrock", "cohere", "mistral"]) {
      const sent = await sentBy(path.replace("{model}", model), { model, ...body, ...planted });
      expect(leaks(sent)).toEqual([]);
    }
  });

  it.each([
    ["/v1/embeddings", { input: "a" }],
    ["/v1/images/generations", { prompt: "a" }],
  ])("reach no upstream through %s", async (path, body) => {
    expect(leaks(await sentBy(path, { model: "openai", ...body, ...planted }))).toEqual([]);
  });

  it.each(NATIVES)("reach no upstream through %s", async (path, body) => {
    expect(leaks(await sentBy(path, { ...body, ...planted }))).toEqual([]);
  });

  it("reach no upstream through any route that the listener describes", async () => {
    const described = await fetch(`${every.gateway.publicUrl}/openapi.json`, {
      headers: { authorization: `Bearer ${every.gateway.masterKey}` },
    });
    const { paths } = (await described.json()) as { readonly paths: Record<string, JsonObject> };
    const routes = Object.entries(paths).flatMap(([path, { post }]) => (post ? [path] : []));
    expect(routes.length).toBeGreaterThan(20);
    const found: string[] = [];
    for (const route of routes) {
      const body = ROUTE_BODIES.find(([end]) => end.test(route))?.[1];
      if (body === undefined) found.push(`${route}: no body`);
      const path = route
        .replace("{provider}/deployments/{deployment}", "openai/deployments/openai")
        .replace("{provider}/{endpoint}", "p-openai/v1/chat/completions")
        .replace(/\{(?:deployment|model)\}/, "openai")
        .replace("{response_id}", "resp_none")
        .replace(/:stream.*/, "$&?alt=sse");
      const model = /responses(?:\/compact)?$/.test(route) ? RESPONSES_MODEL : "openai";
      const sent = await sentBy(path, { model, ...body, ...planted });
      const isExpected = CALLS_NOTHING.test(route) && sent.length === 0;
      if (!isExpected) found.push(...leaks(sent).map((leak) => `${path}: ${leak}`));
    }
    expect(found).toEqual([]);
    console.info(`${requests} requests ${name}: 0 gateway fields forwarded`);
  });
});
