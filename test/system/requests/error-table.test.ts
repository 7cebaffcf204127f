/**
 * Every row of docs/errors.md that can be provoked, on the routes where it can: status, type, code,
 * param, headers, length.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ERROR_CODES, type ErrorCode } from "@sluice/contract";
import { createUpstream, type Upstream } from "@sluice/testing";
import { createKey, MESSAGES } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { NEVER_EJECTS } from "../support/workspace.ts";
import { sendRaw } from "../support/raw-client.ts";

const CHAT = "/v1/chat/completions";
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
/** Nothing of the house, its machine or its credentials. */
const LEAK =
  /\bat [\w.]+ \(|node_modules|\/work\/|\/tmp\/|\.ts\b|127\.0\.0\.1|localhost|sk-[a-z0-9]/i;

let upstream: Upstream;
let gateway: GatewayProcess;
let limited: string;

beforeAll(async () => {
  upstream = await createUpstream();
  gateway = await startGateway({
    balance: NEVER_EJECTS,
    baseUrl: upstream.baseUrl,
    server: "max_body: 4kb",
    providers: [
      'dead: { use: openai, api_key: "${env:OPENAI_API_KEY}", base_url: http://127.0.0.1:9/v1 }',
      'absent: { use: openai, api_key: "${env:NOT_SET_ANYWHERE}" }',
    ],
    models: [
      "{ id: gpt-4o-mini, targets: [{ provider: openai, model: gpt-4o-mini }] }",
      "{ id: dead, targets: [{ provider: dead, model: x }] }",
      "{ id: absent, targets: [{ provider: absent, model: x }], fallbacks: { general: [echo] } }",
      "{ id: echo, targets: [{ provider: echo, model: echo }] }",
    ],
  });
  ({ key: limited } = await createKey(gateway, { models: ["echo"] }));
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

/** A request that must fail, and how. */
interface Row {
  readonly code: ErrorCode;
  readonly method?: string;
  readonly path?: string;
  /** Default: the master key. */
  readonly key?: "none" | "limited";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly param?: string;
  /** The upstream's answer. */
  readonly upstream?: number;
  readonly status?: number;
  readonly type?: string;
  readonly also?: Readonly<Record<string, string | RegExp>>;
}

/** `error.provider`: the upstream's own words. */
const upstreamWords: unknown = {
  status: expect.any(Number),
  type: expect.toSatisfy((word) => word === null || typeof word === "string"),
  code: expect.toSatisfy(
    (word) => word === null || typeof word === "string" || typeof word === "number",
  ),
  message: expect.toSatisfy((word) => word === null || typeof word === "string"),
};
const good = (more: object = {}) => ({ model: "gpt-4o-mini", messages: MESSAGES, ...more });
const JSON_ROUTES: readonly (readonly [path: string, body: object])[] = [
  [CHAT, good()],
  ["/chat/completions", good()],
  ["/v1/embeddings", { model: "gpt-4o-mini", input: "x" }],
  ["/v1/images/generations", { model: "gpt-4o-mini", prompt: "x" }],
  ["/ref/deployments/gpt-4o-mini/chat/completions", { messages: MESSAGES }],
];
const READ_ROUTES = [
  "/v1/models",
  "/models",
  "/v1/models/echo",
  "/v1/model/info",
  "/spend/logs",
  "/spend/tags",
  "/spend/report",
];

const ROWS: readonly Row[] = [
  { code: "target_too_long", method: "GET", path: `/v1/models?a=${"x".repeat(4_100)}` },
  ...JSON_ROUTES.flatMap(([path, body]): Row[] => [
    { code: "invalid_json", path, body: "{" },
    { code: "invalid_json", path, body: "[]" },
    { code: "invalid_field", path, body: { ...body, timeout: "x" }, param: "timeout" },
    { code: "invalid_field", path, body: { ...body, user: 7 }, param: "user" },
    { code: "invalid_header", path, body, headers: { expect: "x" }, status: 417, param: "expect" },
    { code: "authentication_failed", path, body, key: "none" },
    { code: "authentication_failed", path: `${path}?key=x`, body },
    { code: "model_not_found", path, body, key: "limited", param: "model" },
    { code: "method_not_allowed", path, method: "GET", also: { allow: "POST" } },
    { code: "method_not_allowed", path, method: "DELETE", also: { allow: "POST" } },
    {
      code: "body_too_large",
      path,
      body: { ...body, x: "x".repeat(5_000) },
      also: { connection: "close" },
    },
    { code: "unsupported_media_type", path, body, headers: { "content-type": "text/plain" } },
    { code: "unsupported_media_type", path, body, headers: { "content-encoding": "br" } },
  ]),
  ...READ_ROUTES.flatMap((path): Row[] => [
    { code: "authentication_failed", path, method: "GET", key: "none" },
    { code: "method_not_allowed", path, method: "POST", body: {}, also: { allow: "GET, HEAD" } },
  ]),
  { code: "invalid_path", method: "GET", path: "/v1%2fmodels" },
  { code: "route_not_found", method: "GET", path: "/v1/nothing" },
  { code: "route_not_found", method: "POST", path: "/nothing/at/all", body: {} },
  { code: "route_not_found", method: "GET", path: "/nothing", key: "none" },
  {
    code: "method_not_allowed",
    method: "POST",
    path: "/docs",
    body: {},
    also: { allow: "GET, HEAD" },
  },
  {
    code: "method_not_allowed",
    method: "PUT",
    path: "/health/live",
    body: {},
    also: { allow: "GET, HEAD" },
  },
  {
    code: "unsupported_parameter",
    body: { ...good({ tools: [{ type: "function", function: { name: "f" } }] }), model: "echo" },
    param: "tools",
  },
  { code: "upstream_rejected", body: good(), upstream: 400 },
  { code: "upstream_rejected", body: good(), upstream: 404, status: 404 },
  { code: "upstream_rejected", body: good(), upstream: 422, status: 422 },
  { code: "upstream_rate_limited", body: good(), upstream: 429 },
  { code: "upstream_auth_failed", body: good(), upstream: 401 },
  { code: "upstream_auth_failed", body: good(), upstream: 403 },
  { code: "upstream_failed", body: good(), upstream: 500 },
  { code: "upstream_overloaded", body: good(), upstream: 503 },
  { code: "upstream_timeout", body: good(), upstream: 504 },
  { code: "upstream_unreachable", body: good({ model: "dead" }) },
  { code: "provider_unavailable", body: good({ model: "absent", fallbacks: [] }), param: "model" },
];

describe("the table of errors", () => {
  it.each(
    ROWS.map((row) => ({
      ...row,
      name: `${row.method ?? "POST"} ${row.path ?? CHAT}`,
      of: describeRow(row),
    })),
  )("$code: $name $of", async (row) => {
    if (row.upstream !== undefined)
      upstream.script({
        kind: "error",
        status: row.upstream,
        message: "Said by http://127.0.0.1:9/ with sk-abcdefgh",
      });
    const authorization =
      row.key === "none"
        ? undefined
        : `Bearer ${row.key === "limited" ? limited : gateway.masterKey}`;
    const { method = "POST", path = CHAT, body } = row;
    const response = await send(method, path, body, {
      "content-type": "application/json",
      ...(authorization === undefined ? {} : { authorization }),
      ...row.headers,
    });
    const info = ERROR_CODES[row.code];
    const status = row.status ?? info.status;
    expect([response.status, response.body.slice(0, 300)]).toEqual([status, expect.any(String)]);
    const parsed = JSON.parse(response.body) as { error: Record<string, unknown> };
    // What an upstream answered has its words beside ours.
    const { provider } = parsed.error;
    const words = provider === undefined ? {} : { provider: upstreamWords };
    expect(row.upstream === undefined ? provider : undefined).toBeUndefined();
    expect(parsed).toEqual({
      error: {
        ...words,
        message: expect.stringMatching(/^\S.{5,}/),
        type: info.type,
        code: status,
        param: row.param ?? null,
      },
    });
    expect(response.headers["x-request-id"]).toMatch(UUID_V7);
    expect(response.headers["content-type"]).toBe("application/json");
    expect(Number(response.headers["content-length"])).toBe(Buffer.byteLength(response.body));
    for (const [name, value] of Object.entries(row.also ?? {}))
      expect(response.headers[name]).toMatch(value);
    expect(String(parsed.error.message)).not.toMatch(LEAK);
  });

  it("says when to come back where it knows", async () => {
    upstream.script({ kind: "error", status: 429, retryAfter: "7" });
    const { status, headers } = await send("POST", CHAT, good(), {
      "content-type": "application/json",
      authorization: `Bearer ${gateway.masterKey}`,
    });
    expect([status, headers["retry-after"]]).toEqual([429, "7"]);
  });

  it("has one answer for every key that is wrong", async () => {
    const bodies = new Set<string>();
    for (const authorization of [
      "",
      "Bearer",
      "Bearer sk-unknown",
      "Basic x",
      `Bearer ${limited}x`,
    ]) {
      bodies.add(
        (await send("POST", CHAT, good(), { "content-type": "application/json", authorization }))
          .body,
      );
    }
    expect(bodies.size).toBe(1);
  });
});

function describeRow(row: Row): string {
  const parts = [
    row.key && `key ${row.key}`,
    row.upstream && `upstream ${row.upstream}`,
    row.param,
  ];
  return parts.filter((part) => part !== undefined).join(", ");
}

async function send(method: string, path: string, body: unknown, headers: Record<string, string>) {
  const text = body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const length = method === "GET" ? [] : [`content-length: ${Buffer.byteLength(text)}`];
  return sendRaw(
    gateway.publicUrl,
    [`${method} ${path} HTTP/1.1`, "host: gateway", "connection: close", ...length, ...lines],
    text,
  );
}
