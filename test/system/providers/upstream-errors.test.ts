/** Upstreams that refuse, hang, break off or send invalid data: the client's error, and the row. */

import { APIError, BadRequestError, InternalServerError, RateLimitError } from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createUpstream, GARBAGE, type Upstream, type UpstreamAction } from "@sluice/testing";
import { chat, MESSAGES, openaiClient, rowsOf } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway, UPSTREAM_KEY } from "../support/gateway-process.ts";
import { NEVER_EJECTS } from "../support/workspace.ts";

const TELLING = `The key ${UPSTREAM_KEY} was refused by http://10.1.2.3:8080/v1 for org-Abc123456.`;

type Outcome = readonly [status: number, type: string, code: string];

/**
 * Failures before the first content. Clients get the same error for whole replies and for streams.
 */
const EARLY: readonly [string, UpstreamAction, Outcome][] = [
  [
    "400",
    { kind: "error", status: 400, param: "temperature" },
    [400, "invalid_request_error", "upstream_rejected"],
  ],
  [
    "400 that tells too much",
    { kind: "error", status: 400, message: TELLING },
    [400, "invalid_request_error", "upstream_rejected"],
  ],
  [
    "400 of a full context",
    { kind: "error", status: 400, code: "context_length_exceeded" },
    [400, "context_length_exceeded", "context_length_exceeded"],
  ],
  [
    "401",
    { kind: "error", status: 401, message: TELLING },
    [502, "upstream_error", "upstream_auth_failed"],
  ],
  [
    "429",
    { kind: "error", status: 429, retryAfter: "7" },
    [429, "rate_limit_error", "upstream_rate_limited"],
  ],
  [
    "500",
    { kind: "error", status: 500, message: TELLING },
    [502, "upstream_error", "upstream_failed"],
  ],
  ["503", { kind: "error", status: 503 }, [503, "overloaded_error", "upstream_overloaded"]],
  ["silence", { kind: "hang" }, [504, "timeout_error", "upstream_timeout"]],
  ["reset before the headers", { kind: "reset" }, [502, "upstream_error", "upstream_unreachable"]],
  ["HTML with 200", GARBAGE.html, [502, "upstream_error", "upstream_invalid_response"]],
  ["cut JSON", GARBAGE.invalidJson, [502, "upstream_error", "upstream_invalid_response"]],
  ["an empty body", GARBAGE.empty, [502, "upstream_error", "upstream_invalid_response"]],
  [
    "a JSON text that is no object",
    { kind: "bytes", body: '"yes"' },
    [502, "upstream_error", "upstream_invalid_response"],
  ],
];

/** Failures of a whole body after its headers. */
const CUT_BODIES: typeof EARLY = [
  [
    "a reset inside the body",
    { kind: "reply", fault: { kind: "reset", after: 40 } },
    [502, "upstream_error", "upstream_unreachable"],
  ],
  [
    "silence inside the body",
    { kind: "reply", fault: { kind: "hang", after: 40 } },
    [504, "timeout_error", "upstream_timeout"],
  ],
];

/** Failures of a stream whose headers have come, and its role, but nothing more. */
const EARLY_STREAMS: typeof EARLY = [
  [
    "an error event at once",
    { kind: "reply", fault: { kind: "error", after: 0 } },
    [502, "upstream_error", "upstream_failed"],
  ],
  [
    "an error event after the role",
    { kind: "reply", fault: { kind: "error", after: 1 } },
    [502, "upstream_error", "upstream_failed"],
  ],
  [
    "a reset after the role",
    { kind: "reply", fault: { kind: "reset", after: 1 } },
    [502, "upstream_error", "upstream_unreachable"],
  ],
  [
    "silence after the role",
    { kind: "reply", fault: { kind: "hang", after: 1 } },
    [504, "timeout_error", "upstream_timeout"],
  ],
  [
    "an end after the role",
    { kind: "reply", fault: { kind: "end", after: 1 } },
    [502, "upstream_error", "stream_truncated"],
  ],
];

let upstream: Upstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createUpstream();
  const openai = `use: openai, api_key: "\${env:OPENAI_API_KEY}", base_url: ${upstream.baseUrl}`;
  gateway = await startGateway({
    // One call each: what retries do with failures is another test's.
    attempts: 1,
    balance: NEVER_EJECTS,
    baseUrl: upstream.baseUrl,
    providers: [
      `impatient: { ${openai}, timeouts: { first_byte: 300ms, idle: 300ms } }`,
      `resetting: { ${openai} }`,
      'dead: { use: openai, api_key: "${env:OPENAI_API_KEY}", base_url: "http://127.0.0.1:1/v1" }',
    ],
    models: [
      "{ id: gpt-4o-mini, targets: [{ provider: openai, model: gpt-4o-mini }] }",
      "{ id: impatient, targets: [{ provider: impatient, model: gpt-4o-mini }] }",
      "{ id: resetting, targets: [{ provider: resetting, model: gpt-4o-mini }] }",
      "{ id: dead, targets: [{ provider: dead, model: gpt-4o-mini }] }",
    ],
  });
});
beforeEach(() => upstream.reset());
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

/** `error.provider` where the upstream said something: its four members and no other. */
function wordsIn(text: string): object {
  const { provider } = (JSON.parse(text) as { error: { provider?: object } }).error;
  if (provider === undefined) return {};
  expect(Object.keys(provider).toSorted()).toEqual(["code", "message", "status", "type"]);
  return { provider };
}

/**
 * The model for a failure. Timeouts have a provider with short ones. Connections that are reset are
 * those of a provider of their own: on one that was used before, the call is sent again.
 */
function modelFor(code: string): string {
  if (code === "upstream_timeout") return "impatient";
  return code === "upstream_unreachable" ? "resetting" : "gpt-4o-mini";
}

/**
 * Asks by the SDK, expects this error of it, and one failed row. Returns the response's headers.
 */
async function expectFailure(
  ask: { stream: boolean; model?: string },
  [status, type, code]: Outcome,
): Promise<Headers> {
  let text = "";
  const client = openaiClient(gateway, {
    async fetch(url, init) {
      const answer = await fetch(url, init);
      text = await answer.clone().text();
      return answer;
    },
  });
  const thrown = await client.chat.completions
    .create({ model: modelFor(code), messages: MESSAGES, ...ask })
    .then(
      () => undefined,
      (error: unknown) => error as APIError,
    );
  expect(thrown).toBeInstanceOf(
    status === 400 ? BadRequestError : status === 429 ? RateLimitError : InternalServerError,
  );
  expect(thrown).toMatchObject({ status, type, code: status });
  expect(JSON.parse(text)).toEqual({
    error: {
      message: expect.stringMatching(/\S/),
      type,
      code: status,
      param: thrown?.param ?? null,
      ...wordsIn(text),
    },
  });
  expect(text).not.toMatch(
    /127\.0\.0\.1|10\.1\.2\.3|localhost|ECONN|sk-upstream|org-Abc|node_modules|\.ts\b/,
  );
  const headers = thrown?.headers ?? new Headers();
  expect(headers.get("x-request-id")).toBe(thrown?.requestID);
  expect(await rowsOf(gateway, headers.get("x-request-id"))).toMatchObject([
    { attempt: 1, status: "failure", error_code: code, completionStartTime: null },
  ]);
  return headers;
}

describe("a whole reply that fails", () => {
  it.each([...EARLY, ...CUT_BODIES])("%s", async (_name, action, outcome) => {
    upstream.script(action);
    await expectFailure({ stream: false }, outcome);
    expect(upstream.requests).toHaveLength(1);
  });
});

describe("a stream that fails before its first content has a real status", () => {
  it.each([...EARLY, ...EARLY_STREAMS])("%s", async (_name, action, outcome) => {
    upstream.script(action);
    await expectFailure({ stream: true }, outcome);
    expect(upstream.requests).toHaveLength(1);
  });
});

describe("an upstream", () => {
  it.each([409, 424, 500, 502, 503, 504])(
    "with status %i has its retry-after forwarded",
    async (status) => {
      upstream.script({ kind: "error", status, retryAfter: "7" });
      const { headers } = await chat(gateway, { model: "gpt-4o-mini", messages: MESSAGES });
      expect(headers.get("retry-after")).toBe("7");
    },
  );

  it.each([400, 401, 418])(
    "with status %i has no retry-after: waiting changes nothing",
    async (status) => {
      upstream.script({ kind: "error", status, retryAfter: "7" });
      const { headers } = await chat(gateway, { model: "gpt-4o-mini", messages: MESSAGES });
      expect(headers.get("retry-after")).toBeNull();
    },
  );

  it("that is overloaded has its retry-after forwarded", async () => {
    upstream.script({ kind: "error", status: 429, retryAfter: "7" });
    const headers = await expectFailure({ stream: false }, [
      429,
      "rate_limit_error",
      "upstream_rate_limited",
    ]);
    expect(headers.get("retry-after")).toBe("7");
  });

  it("that refuses the connection is a 502", async () => {
    await expectFailure({ stream: false, model: "dead" }, [
      502,
      "upstream_error",
      "upstream_unreachable",
    ]);
    expect(upstream.requests).toHaveLength(0);
  });

  it("that is silent loses its connection", async () => {
    upstream.script({ kind: "hang" });
    await expectFailure({ stream: true }, [504, "timeout_error", "upstream_timeout"]);
    expect(
      await eventually("the connection to close", () => upstream.requests[0]?.closedByPeerAtMs),
    ).toBeGreaterThan(0);
  });
});

describe("a stream that fails after its first content ends with one error event", () => {
  it.each<[string, UpstreamAction, string]>([
    ["an error event", { kind: "reply", fault: { kind: "error", after: 4 } }, "upstream_failed"],
    ["a reset", { kind: "reply", fault: { kind: "reset", after: 4 } }, "upstream_unreachable"],
    ["silence", { kind: "reply", fault: { kind: "hang", after: 4 } }, "upstream_timeout"],
    [
      "an end before its time",
      { kind: "reply", fault: { kind: "end", after: 4 } },
      "stream_truncated",
    ],
  ])("%s", async (_name, action, code) => {
    upstream.script(action);
    const response = await chat(gateway, {
      model: modelFor(code),
      messages: MESSAGES,
      stream: true,
    });
    expect(response.status).toBe(200);
    const events = (await response.text())
      .split("\n\n")
      .filter((event) => event !== "")
      .map((event) => event.slice("data: ".length));
    const status = code === "upstream_timeout" ? 504 : 502;
    const last = JSON.parse(events.pop() ?? "{}") as object;
    expect(last).toEqual({
      error: {
        message: expect.stringMatching(/\S/),
        type: expect.any(String),
        code: status,
        param: null,
        ...wordsIn(JSON.stringify(last)),
      },
    });
    const chunks = events.map(
      (event) =>
        JSON.parse(event) as { choices: [{ delta: { content?: string }; finish_reason: null }] },
    );
    expect(chunks.map(({ choices }) => choices[0].delta.content ?? "").join("")).toBe(
      "The quick brown ",
    );
    expect(chunks.every(({ choices }) => choices[0].finish_reason === null)).toBe(true);
    const [row, ...others] = await rowsOf(gateway, response.headers.get("x-request-id"));
    expect(others).toEqual([]);
    expect(row).toMatchObject({ attempt: 1, status: "partial", error_code: code });
    expect(row?.completionStartTime).toBeTypeOf("string");
  });

  it("which the SDK throws", async () => {
    upstream.script({ kind: "reply", fault: { kind: "error", after: 4 } });
    const stream = await openaiClient(gateway).chat.completions.create({
      model: "gpt-4o-mini",
      messages: MESSAGES,
      stream: true,
    });
    const seen: string[] = [];
    const thrown = await (async () => {
      for await (const chunk of stream) seen.push(chunk.choices[0]?.delta.content ?? "");
    })().catch((error: unknown) => error);
    expect(seen.join("")).toBe("The quick brown ");
    expect(thrown).toBeInstanceOf(APIError);
    expect(thrown).toMatchObject({ type: "upstream_error", code: 502 });
  });
});
