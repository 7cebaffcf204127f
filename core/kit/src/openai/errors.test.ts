import { describe, expect, it } from "vitest";
import { readEmbeddedError, readErrorReply } from "./errors.ts";

const body = (error: object): string => JSON.stringify({ error });
const said = body({ message: "Said.", type: "t", param: null, code: null });

interface Row {
  readonly status: number;
  readonly body: string;
  readonly headers?: Record<string, string>;
  readonly is: object;
}

const rows: readonly Row[] = [
  {
    status: 400,
    body: said,
    is: { code: "upstream_rejected", status: 400, retryable: false, message: "Said." },
  },
  {
    status: 400,
    body: body({ message: "m", param: "messages[0]" }),
    is: { code: "upstream_rejected", param: "messages[0]" },
  },
  {
    status: 400,
    body: body({ code: "context_length_exceeded" }),
    is: { code: "context_length_exceeded", status: 400, retryable: false },
  },
  {
    status: 400,
    body: body({ code: "content_policy_violation" }),
    is: { code: "content_policy_violation", retryable: false },
  },
  { status: 400, body: body({ code: "content_filter" }), is: { code: "content_policy_violation" } },
  { status: 401, body: said, is: { code: "upstream_auth_failed", status: 502, retryable: false } },
  { status: 402, body: said, is: { code: "upstream_auth_failed", status: 502, retryable: false } },
  { status: 403, body: said, is: { code: "upstream_auth_failed", status: 502, retryable: false } },
  {
    status: 403,
    body: body({ code: "model_not_found" }),
    is: { code: "upstream_model_denied", status: 502, retryable: false },
  },
  {
    status: 403,
    body: body({ message: "Project `p` does not have access to model `m`." }),
    is: { code: "upstream_model_denied", retryable: false },
  },
  {
    status: 401,
    body: body({ message: "Your team has no access to the model m" }),
    is: { code: "upstream_model_denied" },
  },
  {
    status: 401,
    body: body({ message: "Invalid API key for model m" }),
    is: { code: "upstream_auth_failed" },
  },
  {
    status: 403,
    body: body({ message: "Content violates usage guidelines." }),
    is: { code: "content_policy_violation", status: 400, retryable: false },
  },
  {
    status: 404,
    body: said,
    is: { code: "upstream_rejected", status: 404, retryable: false, message: "Said." },
  },
  { status: 413, body: said, is: { code: "upstream_rejected", status: 413, retryable: false } },
  { status: 422, body: said, is: { code: "upstream_rejected", status: 422, retryable: false } },
  { status: 408, body: said, is: { code: "upstream_timeout", status: 504, retryable: true } },
  { status: 409, body: said, is: { code: "upstream_failed", status: 502, retryable: true } },
  {
    status: 429,
    body: said,
    is: { code: "upstream_rate_limited", status: 429, retryable: true, retryAfterMs: undefined },
  },
  {
    status: 429,
    body: said,
    headers: { "retry-after": "2" },
    is: { retryable: true, retryAfterMs: 2_000 },
  },
  {
    status: 429,
    body: body({ code: "insufficient_quota" }),
    is: { code: "upstream_rate_limited", retryable: false },
  },
  {
    status: 429,
    body: body({ type: "insufficient_quota" }),
    is: { code: "upstream_rate_limited", retryable: false },
  },
  {
    status: 500,
    body: said,
    is: { code: "upstream_failed", status: 502, retryable: true, message: "Said." },
  },
  { status: 502, body: said, is: { code: "upstream_failed", status: 502, retryable: true } },
  {
    status: 503,
    body: said,
    headers: { "retry-after": "3" },
    is: { code: "upstream_overloaded", status: 503, retryAfterMs: 3_000 },
  },
  { status: 529, body: said, is: { code: "upstream_overloaded", status: 503, retryable: true } },
  { status: 504, body: said, is: { code: "upstream_timeout", status: 504, retryable: true } },
  { status: 302, body: "", is: { code: "upstream_failed", status: 502, retryable: false } },
  { status: 418, body: said, is: { code: "upstream_failed", status: 502, retryable: false } },
];

describe("readErrorReply", () => {
  it.each(rows)("reads status $status with $body", ({ status, body: text, headers = {}, is }) => {
    expect(readErrorReply({ status, headers, body: text })).toMatchObject({
      name: "GatewayError",
      ...is,
    });
  });

  const strange = [
    "",
    "null",
    "[]",
    "<html>",
    '"text"',
    '{"error":null}',
    '{"error":[]}',
    '{"error":{"message":7}}',
  ];
  it.each(strange)("has words of its own for the body %s", (text) => {
    for (const status of [400, 401, 404, 408, 429, 500, 503, 504]) {
      const { message } = readErrorReply({ status, headers: {}, body: text });
      expect(message).toMatch(/^The upstream/);
    }
  });

  it.each([
    ['{"error":"Said."}', "Said."],
    ['{"message":"Said.","code":1}', "Said."],
  ])("reads the flat shape %s", (text, message) => {
    expect(readErrorReply({ status: 500, headers: {}, body: text }).message).toBe(message);
  });

  it("says nothing of the credential that was refused", () => {
    const error = readErrorReply({
      status: 401,
      headers: {},
      body: body({ message: "Incorrect API key provided: sk-abcd1234." }),
    });
    expect(error.message).not.toContain("sk-");
    expect(error.message).not.toContain("Incorrect");
  });

  it("scrubs the message and the parameter", () => {
    const text = body({ message: "See https://host.internal/x", param: "http://10.0.0.1/y" });
    const error = readErrorReply({ status: 400, headers: {}, body: text });
    expect(`${error.message} ${error.param}`).not.toMatch(/host\.internal|10\.0\.0\.1/);
  });
});

describe("readEmbeddedError", () => {
  it.each([
    [{ type: "rate_limit_error" }, { code: "upstream_rate_limited", retryable: true }],
    [{ code: 429 }, { code: "upstream_rate_limited" }],
    [{ code: "rate_limit_exceeded" }, { code: "upstream_rate_limited" }],
    [{ type: "overloaded_error" }, { code: "upstream_overloaded", retryable: true }],
    [{ code: 503 }, { code: "upstream_overloaded" }],
    [{ code: "529" }, { code: "upstream_overloaded" }],
    [{ code: "context_length_exceeded" }, { code: "context_length_exceeded", status: 400 }],
    [{ code: "content_filter" }, { code: "content_policy_violation" }],
    [
      { type: "invalid_request_error" },
      { code: "upstream_rejected", status: 400, retryable: false },
    ],
    [
      { type: "server_error", message: "Said." },
      { code: "upstream_failed", retryable: true, message: "Said." },
    ],
    [{}, { code: "upstream_failed", retryable: true }],
    [{ code: 14290 }, { code: "upstream_failed" }],
  ])("reads %j", (error, expected) => {
    expect(readEmbeddedError(error)).toMatchObject(expected);
  });
});
