import { createHmac } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { fakeHost, guardrailContract } from "@sluice/testing";
import { Secret, type TextContext, type Verdict } from "@sluice/contract";
import http from "./index.ts";
import { difference, lengthIn } from "./offsets.ts";
import { Sessions } from "./sessions.ts";

interface Call {
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly raw: string;
  readonly body: Readonly<Record<string, unknown>> & { readonly text: string };
}

let calls: Call[] = [];
let answer: ((call: Call) => object) | undefined;

/** A little service: masks "maskme", blocks "forbidden". */
function judge({ body: { text } }: Call): object {
  const start = text.indexOf("forbidden");
  if (start >= 0) return { action: "block", reason: "word", start, end: start + 9 };
  const spans = [...text.matchAll(/maskme/g)].map(({ index }) => ({
    start: index,
    end: index + 6,
    replacement: "***",
  }));
  return spans.length === 0 ? { action: "allow" } : { action: "edit", spans };
}

const server: Server = createServer((request, response) => {
  let raw = "";
  request.setEncoding("utf8").on("data", (chunk: string) => (raw += chunk));
  request.on("end", () => {
    const call = {
      url: request.url,
      headers: request.headers,
      raw,
      body: JSON.parse(raw) as Call["body"],
    };
    calls.push(call);
    response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify((answer ?? judge)(call)));
  });
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/judge?team=a`;
afterAll(() => void server.close());
beforeEach(() => {
  calls = [];
  answer = undefined;
});

const DEFAULTS = {
  url,
  dialect: "sluice",
  offsets: "utf16",
  timeout: "2s",
  connections: 8,
  params: {},
  sample: "forbidden",
} as const;
const context: TextContext = {
  exchange: "x1",
  operation: "chat",
  model: "m",
  direction: "input",
  part: "user",
  place: "messages.0.content",
  isPartial: false,
  offset: 0,
};
const ask = async (
  config: object,
  text: string,
  more: Partial<TextContext> = {},
): Promise<Verdict> =>
  http
    .create({ ...DEFAULTS, ...config }, fakeHost())
    .check(text, AbortSignal.timeout(5_000), { ...context, ...more });

describe("the protocol", () => {
  it("says what is judged, and reads what was decided", async () => {
    expect(await ask({ params: { policy: "strict" } }, "fine")).toEqual({ kind: "allow" });
    expect(calls[0]).toMatchObject({
      url: "/judge?team=a",
      headers: { "content-type": "application/json" },
    });
    expect(calls[0]!.body).toEqual({
      protocol: "sluice-guardrail/1",
      exchange: "x1",
      operation: "chat",
      model: "m",
      direction: "input",
      part: "user",
      place: "messages.0.content",
      offsets: "utf16",
      text: "fine",
      session: null,
      params: { policy: "strict" },
    });
    expect(await ask({}, "a forbidden b")).toEqual({
      kind: "block",
      reason: "word",
      start: 2,
      end: 11,
    });
    expect(await ask({}, "a maskme b")).toEqual({
      kind: "edit",
      spans: [{ start: 2, end: 8, replacement: "***" }],
    });
  });

  it("counts as the service does", async () => {
    answer = () => ({
      action: "edit",
      spans: [{ start: 2, end: 3, replacement: "EMAIL", restore: true }],
    });
    expect(await ask({ offsets: "codepoints" }, "\u{1f600}a\u{1f601}b")).toEqual({
      kind: "edit",
      spans: [{ start: 3, end: 5, replacement: "EMAIL", restore: true }],
    });
  });

  it("takes a whole new text for a text that has come whole", async () => {
    answer = () => ({ action: "edit", text: "call [PHONE] now" });
    expect(await ask({}, "call 555-1234 now")).toEqual({
      kind: "edit",
      spans: [{ start: 5, end: 13, replacement: "[PHONE]" }],
    });
    await expect(
      ask({ reach: 10 }, "call 555-1234 now", { isPartial: true }),
    ).rejects.toMatchObject({ name: "NoVerdict" });
  });

  it.each([
    {},
    { action: "maybe" },
    { action: "edit" },
    { action: "edit", spans: [{ start: 0, end: 99, replacement: "" }] },
    { action: "edit", spans: [null] },
    [],
  ])("reads no verdict where there is none: %j", async (body) => {
    answer = () => body;
    await expect(ask({}, "fine")).rejects.toMatchObject({ name: "NoVerdict" });
  });

  it("hides a reason that is a sentence", async () => {
    answer = () => ({ action: "block", reason: "you said: forbidden" });
    expect(await ask({}, "fine")).toEqual({ kind: "block", reason: "blocked" });
  });

  it("carries the key, and a signature that the service can check", async () => {
    const secret = new Secret("SHARED", "s3cret");
    await ask({ api_key: new Secret("KEY", "k1"), secret }, "fine");
    const { headers, raw } = calls[0]!;
    expect(headers.authorization).toBe("Bearer k1");
    const [, seconds, digest] =
      /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers["x-sluice-signature"])) ?? [];
    expect(digest).toBe(createHmac("sha256", "s3cret").update(`${seconds}.${raw}`).digest("hex"));
  });
});

describe("a text that still comes", () => {
  it("has a session from its first piece to its last", async () => {
    const guardrail = http.create({ ...DEFAULTS, reach: 9 }, fakeHost());
    const pieces: [string, number, boolean][] = [
      ["hello w", 0, true],
      ["hello wor", 0, true],
      ["lo world", 3, false],
    ];
    for (const [text, offset, isPartial] of pieces) {
      await guardrail.check(text, AbortSignal.timeout(5_000), {
        ...context,
        direction: "output",
        offset,
        isPartial,
      });
    }
    const sessions = calls.map(
      ({ body }) => body["session"] as { id: string; event: string; fresh: number },
    );
    expect(sessions.map(({ event, fresh }) => [event, fresh])).toEqual([
      ["open", 7],
      ["chunk", 2],
      ["end", 2],
    ]);
    expect(new Set(sessions.map(({ id }) => id)).size).toBe(1);
  });

  it("is forgotten with its exchange, and when there are too many", () => {
    const sessions = new Sessions();
    const controller = new AbortController();
    sessions.eventOf("a", { ...context, isPartial: true }, controller.signal);
    expect(sessions.size).toBe(1);
    controller.abort();
    expect(sessions.size).toBe(0);
    const { signal } = new AbortController();
    for (let count = 0; count < 10_100; count++)
      sessions.eventOf("a", { ...context, place: String(count), isPartial: true }, signal);
    expect(sessions.size).toBe(10_000);
  });
});

describe("the generic guardrail API of LiteLLM", () => {
  const config = {
    dialect: "litellm",
    url: url.replace("/judge?team=a", "/base/"),
    api_key: new Secret("KEY", "k1"),
    params: { t: 1 },
  };

  it("is spoken as it is documented", async () => {
    answer = () => ({ action: "NONE" });
    expect(await ask(config, "fine", { direction: "output" })).toEqual({ kind: "allow" });
    expect(calls[0]).toMatchObject({
      url: "/base/beta/litellm_basic_guardrail_api",
      headers: { "x-api-key": "k1" },
    });
    expect(calls[0]!.body).toEqual({
      texts: ["fine"],
      input_type: "response",
      litellm_call_id: "x1",
      litellm_trace_id: "x1",
      model: "m",
      request_data: {},
      additional_provider_specific_params: { t: 1 },
    });
  });

  it.each([
    [
      { action: "BLOCKED", blocked_reason: "It says bad things." },
      { kind: "block", reason: "blocked" },
    ],
    [
      { action: "GUARDRAIL_INTERVENED", texts: ["fone"] },
      { kind: "edit", spans: [{ start: 1, end: 2, replacement: "o" }] },
    ],
    [{ action: "GUARDRAIL_INTERVENED", texts: ["fine"] }, { kind: "allow" }],
  ])("is read: %j", async (body, verdict) => {
    answer = () => body;
    expect(await ask(config, "fine")).toEqual(verdict);
  });

  it.each([
    { action: "GUARDRAIL_INTERVENED" },
    { action: "GUARDRAIL_INTERVENED", texts: ["a", "b"] },
    { action: "allow" },
  ])("is no verdict: %j", async (body) => {
    answer = () => body;
    await expect(ask(config, "fine")).rejects.toMatchObject({ name: "NoVerdict" });
  });

  it("judges whole texts only", () => {
    expect(http.check?.({ ...DEFAULTS, dialect: "litellm", reach: 3 })).toHaveLength(1);
  });
});

describe("the difference of two texts", () => {
  it.each([
    ["abc", "abXc"],
    ["abc", "Xabc"],
    ["abc", "abcX"],
    ["aaa", "aa"],
    ["abc", ""],
    ["\u{1f600}", "\u{1f601}"],
    ["x\u{1f600}y", "x\u{1f600}zy"],
    ["\u{1f600}", "z\u{1f600}"],
    ["one two", "one three two"],
  ])("of %s and %s, applied, gives the second", (from, to) => {
    const { start, end, replacement } = difference(from, to);
    expect(from.slice(0, start) + replacement + from.slice(end)).toBe(to);
    expect(end).toBeGreaterThan(start);
    expect(lengthIn(from.slice(start, end), "codepoints")).toBeGreaterThan(0);
  });
});

guardrailContract(
  http,
  {
    config: { ...DEFAULTS, reach: 9 },
    denied: ["a forbidden word", "maskme"],
    allowed: [],
    // oxlint-disable-next-line no-console -- the report is for the person that runs the suite.
    report: console.info,
  },
  { describe, it },
);
