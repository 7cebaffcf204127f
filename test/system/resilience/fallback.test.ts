/**
 * Retries and fallbacks through the real process: what both upstreams saw, and what the client got.
 */

import { readFileSync } from "node:fs";
import type OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createUpstream, DEFAULT_TEXT, type Upstream, type UpstreamAction } from "@sluice/testing";
import {
  chat,
  configStatus,
  createKey,
  MESSAGES,
  openaiClient,
  rowsOf,
} from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";
import { NEVER_EJECTS } from "../support/workspace.ts";

const SECOND_TEXT = "It was the second one who said this.";

/** Failures before the first content, whole and streamed. */
const FAILURES: readonly [string, UpstreamAction | undefined][] = [
  ["refused", undefined],
  ["reset", { kind: "reset" }],
  ["429", { kind: "error", status: 429 }],
  ["500", { kind: "error", status: 500 }],
  ["200 and a reset", { kind: "reply", fault: { kind: "reset", after: 0 } }],
  ["silence", { kind: "hang" }],
];
/** Failures that only a stream can have. */
const STREAM_FAILURES: typeof FAILURES = [
  ["200 and an end", { kind: "reply", fault: { kind: "end", after: 0 } }],
  ["200 and silence", { kind: "reply", fault: { kind: "hang", after: 0 } }],
  ["a role and silence", { kind: "reply", fault: { kind: "hang", after: 1 } }],
  ["an error as the first event", { kind: "reply", fault: { kind: "error", after: 0 } }],
  ["an error after the role", { kind: "reply", fault: { kind: "error", after: 1 } }],
];

/** Refusals in a vendor's own words, each with the fallback that it is for (clients 8). */
const WORDED = {
  "Anthropic's content filter": {
    provider: "claude",
    use: "use: anthropic",
    path: "",
    fallbacks: "{ content_policy: [tolerant] }",
    body: {
      type: "error",
      error: {
        type: "invalid_request_error",
        message: "Output blocked by content filtering policy",
      },
    },
    model: "tolerant",
  },
  "DeepSeek's": {
    provider: "deepseek",
    use: "use: compatible, preset: deepseek",
    path: "/v1",
    fallbacks: "{ content_policy: [tolerant] }",
    body: { error: { message: "Content Exists Risk", type: "invalid_request_error" } },
    model: "tolerant",
  },
  "xAI's context": {
    provider: "xai",
    use: "use: compatible, preset: xai",
    path: "/v1",
    fallbacks: "{ context_window: [large] }",
    body: {
      code: "Client specified an invalid argument",
      error: "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
    },
    model: "large",
  },
} as const;

let first: Upstream;
let second: Upstream;
let vendor: NativeUpstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  [first, second, vendor] = await Promise.all([
    createUpstream(),
    createUpstream(),
    createNativeUpstream(),
  ]);
  const key = 'api_key: "${env:OPENAI_API_KEY}"';
  const limits = "timeouts: { first_byte: 2s, idle: 1500ms }";
  gateway = await startGateway({
    baseUrl: first.baseUrl,
    // What an ejection does is another test's.
    balance: NEVER_EJECTS,
    provider: limits,
    providers: [
      `second: { use: openai, ${key}, base_url: "${second.baseUrl}", ${limits} }`,
      ...Object.values(WORDED).map(
        ({ provider, use, path }) =>
          `${provider}: { ${use}, ${key}, base_url: "${vendor.url}${path}" }`,
      ),
      `dead: { use: openai, ${key}, base_url: "http://127.0.0.1:1/v1" }`,
    ],
    models: [
      "{ id: main, targets: [{ provider: openai, model: m1 }], fallbacks: { general: [spare], context_window: [large], content_policy: [tolerant] } }",
      "{ id: tolerant, targets: [{ provider: second, model: m6 }] }",
      ...Object.values(WORDED).map(
        ({ provider, fallbacks }) =>
          `{ id: ${provider}, targets: [{ provider: ${provider}, model: m }], fallbacks: ${fallbacks} }`,
      ),
      "{ id: classed, targets: [{ provider: openai, model: m1 }], fallbacks: { general: [spare], rate_limit: [large], timeout: [] } }",
      "{ id: blind, targets: [{ provider: second, model: m5 }], info: { max_input_tokens: 50, supports_vision: false } }",
      "{ id: refused, targets: [{ provider: dead, model: m1 }], fallbacks: { general: [spare] } }",
      // One deployment, and one retry budget, for each test.
      '{ id: "alone/*", targets: [{ provider: openai, model: "*" }] }',
      "{ id: spare, targets: [{ provider: second, model: m2 }] }",
      "{ id: large, targets: [{ provider: second, model: m3 }] }",
      "{ id: secret, targets: [{ provider: second, model: m4 }] }",
      "{ id: vectors, mode: embedding, targets: [{ provider: openai, model: e1 }], fallbacks: { general: [vectors-2] } }",
      "{ id: vectors-2, mode: embedding, targets: [{ provider: second, model: e2 }] }",
    ],
  });
});
beforeEach(() => {
  first.reset();
  second.reset();
  second.script({ kind: "reply", text: SECOND_TEXT });
});
afterAll(async () => {
  await gateway?.dispose();
  await Promise.all([first?.close(), second?.close(), vendor?.close()]);
});

/** The text of a streamed chat reply, and every model that its chunks name. */
function readEvents(text: string): { content: string; models: Set<string>; isDone: boolean } {
  const events = text.split("\n\n").filter(Boolean);
  const isDone = events.at(-1) === "data: [DONE]";
  const chunks = events.slice(0, isDone ? -1 : undefined).map(
    (event) =>
      JSON.parse(event.slice(6)) as {
        readonly model: string;
        readonly choices?: readonly { readonly delta: { readonly content?: string } }[];
      },
  );
  return {
    content: chunks.map(({ choices }) => choices?.[0]?.delta.content ?? "").join(""),
    models: new Set(chunks.map(({ model }) => model)),
    isDone,
  };
}

function readWhole(text: string): ReturnType<typeof readEvents> {
  const { model, choices } = JSON.parse(text) as OpenAI.ChatCompletion;
  return { content: choices[0]?.message.content ?? "", models: new Set([model]), isDone: true };
}

describe.each([false, true])("a fallback (stream: %s)", (stream) => {
  it.each(stream ? [...FAILURES, ...STREAM_FAILURES] : FAILURES)(
    "after %s answers alone",
    async (_name, action) => {
      if (action !== undefined) first.script(action);
      const model = action === undefined ? "refused" : "main";
      const response = await chat(gateway, { model, messages: MESSAGES, stream });
      const text = await response.text();
      expect([response.status, second.requests.length]).toEqual([200, 1]);
      expect(stream ? readEvents(text) : readWhole(text)).toEqual({
        content: SECOND_TEXT,
        models: new Set(["spare"]),
        isDone: true,
      });
      expect(Object.fromEntries(response.headers)).toMatchObject({
        "x-sluice-fallbacks": "1",
        "x-sluice-model": "spare",
        "x-sluice-provider": "second",
      });
      const rows = await rowsOf(gateway, response.headers.get("x-request-id"));
      expect(response.headers.get("x-sluice-attempts")).toBe(String(rows.length));
      const [last, ...failed] = rows.toSorted((a, b) => b.attempt - a.attempt);
      expect(last).toMatchObject({
        status: "success",
        model: "spare",
        model_group: "spare",
        model_id: "second/m2",
      });
      expect(action === undefined ? 0 : failed.length).toBe(first.requests.length);
      for (const row of failed)
        expect(row).toMatchObject({ status: "failure", model, model_group: model });
    },
  );
});

describe("a fallback", () => {
  it("is not asked when the request switches it off", async () => {
    first.script({ kind: "error", status: 500 });
    const response = await chat(gateway, { model: "main", messages: MESSAGES, fallbacks: [] });
    expect([response.status, second.requests.length]).toEqual([502, 0]);
    expect(response.headers.get("x-sluice-fallbacks")).toBe("0");
  });

  it("is not asked after the first content: one error event ends the stream", async () => {
    first.script({ kind: "reply", fault: { kind: "reset", after: 4 } });
    const response = await chat(gateway, { model: "main", messages: MESSAGES, stream: true });
    const text = await response.text();
    expect([response.status, first.requests.length, second.requests.length]).toEqual([200, 1, 0]);
    expect(text).toContain('"error"');
    expect(text).not.toContain("[DONE]");
  });

  it("is not asked after a 4xx of the client's own", async () => {
    first.script({ kind: "error", status: 400, param: "temperature" });
    const response = await chat(gateway, { model: "main", messages: MESSAGES });
    expect([response.status, first.requests.length, second.requests.length]).toEqual([400, 1, 0]);
  });

  it("for a prompt that does not fit is the larger model, after one call", async () => {
    first.script({ kind: "error", status: 400, code: "context_length_exceeded" });
    const response = await chat(gateway, { model: "main", messages: MESSAGES });
    expect(await response.json()).toMatchObject({ model: "large" });
    expect([first.requests.length, second.requests.map(({ parsed }) => parsed?.["model"])]).toEqual(
      [1, ["m3"]],
    );
  });

  it.each(Object.entries(WORDED))(
    "for a refusal in the vendor's own words is that of its class: %s",
    async (_name, { provider, body, model }) => {
      for (const stream of [false, true]) {
        vendor.reply(400, "application/json", JSON.stringify(body));
        const response = await chat(gateway, { model: provider, messages: MESSAGES, stream });
        await response.text();
        expect([response.status, response.headers.get("x-sluice-model")]).toEqual([200, model]);
      }
      expect(second.requests.length).toBe(2);
    },
  );

  it("may be named by the request, with a body of its own; what a key may not see is passed over", async () => {
    const { key } = await createKey(gateway, { models: ["main", "spare"] });
    first.script({ kind: "error", status: 500 });
    const fallbacks = ["secret", "nowhere", { model: "spare", temperature: 0 }];
    const body = { model: "main", messages: MESSAGES, fallbacks, num_retries: 0 };
    const completion = await openaiClient(gateway, { apiKey: key }).chat.completions.create(body);
    expect(completion.model).toBe("spare");
    expect(first.requests.length).toBe(1);
    expect(
      second.requests.map(({ parsed }) => [
        parsed?.["model"],
        parsed?.["temperature"],
        parsed?.["fallbacks"],
      ]),
    ).toEqual([["m2", 0, undefined]]);
  });

  it("answers embeddings too", async () => {
    first.script({ kind: "error", status: 503 });
    const { model, data } = await openaiClient(gateway).embeddings.create({
      model: "vectors",
      input: "a",
    });
    expect([model, data.length, second.requests.length]).toEqual(["vectors-2", 1, 1]);
  });

  it("has lists of its own for 429 and for silence, where the model has them", async () => {
    const ask = async (action: UpstreamAction) => {
      first.script(action);
      const response = await chat(gateway, {
        model: "classed",
        messages: MESSAGES,
        num_retries: 0,
      });
      return [response.status, ((await response.json()) as { readonly model?: string }).model];
    };
    expect(await ask({ kind: "error", status: 429 })).toEqual([200, "large"]);
    expect(await ask({ kind: "hang" })).toEqual([504, undefined]);
    expect(await ask({ kind: "error", status: 503 })).toEqual([200, "spare"]);
  });

  it.each([
    [
      "sees no images",
      [{ type: "image_url", image_url: { url: "https://x.test/y.png" } }],
      "images",
    ],
    ["has too little room", "many words ".repeat(40), "context"],
  ])("that %s is passed over, and the header says so", async (_what, content, lack) => {
    first.script({ kind: "error", status: 500 });
    const body = {
      model: "main",
      messages: [{ role: "user", content }],
      fallbacks: ["blind", "spare"],
      num_retries: 0,
    };
    const response = await chat(gateway, body);
    expect([response.status, response.headers.get("x-sluice-fallback-skipped")]).toEqual([
      200,
      `second/m5 (${lack})`,
    ]);
    expect(second.requests.map(({ parsed }) => parsed?.["model"])).toEqual(["m2"]);
  });

  it("that fails as well leaves the first error, with the shortest wait", async () => {
    first.script({ kind: "error", status: 429, retryAfter: "60" });
    second.script({ kind: "error", status: 429, retryAfter: "40" });
    const response = await chat(gateway, { model: "main", messages: MESSAGES });
    expect([response.status, response.headers.get("retry-after")]).toEqual([429, "40"]);
    expect([first.requests.length, second.requests.length]).toEqual([1, 1]);
    expect((await rowsOf(gateway, response.headers.get("x-request-id"))).length).toBe(2);
  });
});

describe("a retry", () => {
  it("comes after the second that a 429 asks for", async () => {
    first.script("r1", { kind: "error", status: 429, retryAfter: "1" }, { kind: "reply" });
    const completion = await openaiClient(gateway).chat.completions.create({
      model: "alone/r1",
      messages: MESSAGES,
    });
    expect(completion.choices[0]?.message.content).toBe(DEFAULT_TEXT);
    const [one, two] = first.requests;
    const waitedMs = (two?.startedAtMs ?? 0) - (one?.startedAtMs ?? 0);
    expect(waitedMs).toBeGreaterThanOrEqual(990);
  });

  it("does not come with num_retries 0", async () => {
    first.script({ kind: "error", status: 500 });
    const response = await chat(gateway, { model: "alone/r2", messages: MESSAGES, num_retries: 0 });
    expect([response.status, first.requests.length]).toEqual([502, 1]);
  });

  it("ends with the deadline of the request, and not after it", async () => {
    first.script({ kind: "error", status: 429, retryAfter: "20" });
    const startedMs = performance.now();
    const response = await chat(gateway, { model: "alone/r3", messages: MESSAGES, timeout: 1 });
    expect([response.status, response.headers.get("retry-after"), first.requests.length]).toEqual([
      429,
      "20",
      1,
    ]);
    first.script({ kind: "hang" });
    const hung = await chat(gateway, {
      model: "alone/r3",
      messages: MESSAGES,
      timeout: 1,
      num_retries: 9,
    });
    expect(hung.status).toBe(504);
    expect(performance.now() - startedMs).toBeLessThan(10_000);
  });

  it("is not dispatched for a client that left during the wait", async () => {
    first.script("r4", { kind: "error", status: 429, retryAfter: "1" }, { kind: "reply" });
    const leaving = new AbortController();
    const asked = chat(
      gateway,
      { model: "alone/r4", messages: MESSAGES },
      { signal: leaving.signal },
    );
    await first.waitFor((request) => request.settled);
    setTimeout(() => leaving.abort(), 100);
    await expect(asked).rejects.toThrow(/abort/);
    await new Promise((resolve) => setTimeout(resolve, 1_400));
    expect(first.requests).toHaveLength(1);
  });

  it("is bounded in a storm: 100 requests at an upstream that always says 503", async () => {
    const storm = async (count: number): Promise<readonly number[]> => {
      const ask = () =>
        chat(gateway, { model: "alone/storm", messages: MESSAGES }).then(({ status }) => status);
      return Promise.all(Array.from({ length: count }, ask));
    };
    first.script({ kind: "error", status: 503 });
    expect(new Set(await storm(100))).toEqual(new Set([503]));
    const figure = first.requests.length;
    process.stdout.write(`retry storm: 100 requests, ${figure} upstream requests\n`);
    expect(figure).toBeGreaterThan(100);
    expect(figure).toBeLessThanOrEqual(120);
    // The budget outlives an edit: a new one would allow three more.
    const { generation } = (await configStatus(gateway)).live;
    const { configPath, workspace } = gateway;
    workspace.write(
      `${readFileSync(configPath, "utf8")}  - { id: new, targets: [{ provider: openai, model: n }] }\n`,
    );
    await eventually(
      "the edit",
      async () => (await configStatus(gateway)).live.generation > generation,
    );
    await storm(4);
    expect(first.requests.length).toBeLessThanOrEqual(124);
  });
});
