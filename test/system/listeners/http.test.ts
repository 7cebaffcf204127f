/**
 * HTTP itself: methods, paths, headers that may stand once, origins, expectations, where a key may
 * be.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey, MESSAGES } from "../support/client.ts";
import { type GatewayProcess, MASTER_KEY, startGateway } from "../support/gateway-process.ts";
import { sendRaw } from "../support/raw-client.ts";

const CHAT = "/v1/chat/completions";
const BODY = JSON.stringify({ model: "echo", messages: MESSAGES });
const AUTH = { authorization: `Bearer ${MASTER_KEY}` };
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

let gateway: GatewayProcess;

beforeAll(async () => {
  gateway = await startGateway({
    server:
      "cors: { origins: [https://app.example.com], max_age: 5m }, auth_headers: [x-service-api-key], max_body: 4kb",
  });
});
afterAll(async () => {
  await gateway?.dispose();
});

const ask = (path: string, init: RequestInit = {}) =>
  fetch(`${gateway.publicUrl}${path}`, {
    ...init,
    headers: { ...AUTH, ...(init.headers as Record<string, string>) },
  });
const raw = (line: string, headers: readonly string[] = [], body = "") =>
  sendRaw(gateway.publicUrl, [line, "host: gateway", "connection: close", ...headers], body);
const rawChat = (headers: readonly string[], body = BODY) =>
  raw(
    `POST ${CHAT} HTTP/1.1`,
    ["content-type: application/json", `content-length: ${Buffer.byteLength(body)}`, ...headers],
    body,
  );

describe("HEAD", () => {
  it.each(["/v1/models", "/openapi.json", "/docs", "/health/live"])(
    "on %s has the headers of GET and no body",
    async (path) => {
      const [get, head] = await Promise.all([ask(path), ask(path, { method: "HEAD" })]);
      expect([get.status, head.status]).toEqual([200, 200]);
      expect(await head.text()).toBe("");
      for (const name of ["content-type", "content-length"])
        expect(head.headers.get(name)).toBe(get.headers.get(name));
      expect(Number(head.headers.get("content-length"))).toBe((await get.arrayBuffer()).byteLength);
      expect(head.headers.get("x-request-id")).toMatch(UUID_V7);
    },
  );

  it("is refused where only POST is", async () => {
    const { status, headers } = await ask(CHAT, { method: "HEAD" });
    expect([status, headers.get("allow")]).toEqual([405, "POST"]);
  });
});

describe("OPTIONS", () => {
  it.each([
    [CHAT, "POST"],
    ["/v1/models", "GET, HEAD"],
    ["/docs", "GET, HEAD"],
    ["/health/ready", "GET, HEAD"],
  ])("on %s needs no key and names %s", async (path, allow) => {
    const answer = await fetch(`${gateway.publicUrl}${path}`, { method: "OPTIONS" });
    expect([answer.status, answer.headers.get("allow"), await answer.text()]).toEqual([
      204,
      allow,
      "",
    ]);
    expect(answer.headers.get("access-control-allow-origin")).toBeNull();
  });

  it("on a path that does not exist is 404", async () => {
    expect((await ask("/nothing", { method: "OPTIONS" })).status).toBe(404);
  });

  it("answers alike below every first segment, whether it names a provider or not", async () => {
    const answers = await Promise.all(
      ["/echo/v1/x", "/nosuch/v1/x", "/v1/nothing"].map((path) =>
        fetch(`${gateway.publicUrl}${path}`, { method: "OPTIONS" }),
      ),
    );
    for (const { status, headers } of answers)
      expect([status, headers.get("allow")]).toEqual([204, answers[0]?.headers.get("allow")]);
  });
});

describe("methods", () => {
  it.each(["PUT", "DELETE", "PATCH", "TRACE", "PROPFIND"])(
    "%s on chat is 405, with Allow and a JSON body",
    async (method) => {
      const { status, headers, body } = await raw(`${method} ${CHAT} HTTP/1.1`);
      expect([status, headers.allow]).toEqual([405, "POST"]);
      expect(JSON.parse(body)).toMatchObject({
        error: { type: "invalid_request_error", code: 405, param: null },
      });
    },
  );

  it("TRACE and CONNECT are 405 everywhere", async () => {
    expect((await raw("TRACE /v1/nothing HTTP/1.1")).status).toBe(405);
    const { status, body } = await raw("CONNECT example.com:443 HTTP/1.1");
    expect([status, JSON.parse(body)]).toMatchObject([405, { error: { code: 405 } }]);
  });
});

describe("a path", () => {
  it.each([
    "http://gateway/v1/models",
    "//v1/models",
    "/v1//models",
    "/v1/./models",
    "/v1/../v1/models",
    "/v1/models/..",
    "/v1/%2e%2e/models",
    "/v1/%2E/models",
    "/v1/mod%5cels",
    "/v1\\models",
    "/v1/models%00",
    "/v1/models/%0a",
    "/v1/models/%zz",
    "/v1/models/%",
    "/v1%2fmodels",
    "/v1/chat%2Fcompletions",
    "/openai/v1%2fmodels",
    "/v1/models#x",
    "/v1/models?a#b",
    "*",
  ])("such as %s is refused before anything else", async (path) => {
    const { status, headers, body } = await raw(`GET ${path} HTTP/1.1`, [
      `authorization: Bearer ${MASTER_KEY}`,
    ]);
    expect(status).toBe(400);
    expect(JSON.parse(body)).toMatchObject({ error: { type: "invalid_request_error", code: 400 } });
    expect(headers["x-request-id"]).toMatch(UUID_V7);
  });

  it.each(["/nothing", "/v1", "/v1/nothing", "/", "/health/other", "/favicon.ico"])(
    "%s does not exist",
    async (path) => {
      const answer = await ask(path);
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({
        error: { type: "not_found_error", code: 404, param: null },
      });
    },
  );

  it("may end in one slash (P13)", async () => {
    const [models, chat] = await Promise.all([
      ask("/v1/models/"),
      ask(`${CHAT}/`, {
        method: "POST",
        body: BODY,
        headers: { "content-type": "application/json" },
      }),
    ]);
    expect([models.status, chat.status]).toEqual([200, 200]);
    expect((await ask(`${CHAT}/`)).status).toBe(405);
    expect((await ask("/spend/logs/")).status).toBe(200);
  });

  it("may name the model as an engine (P13)", async () => {
    const { model, ...rest } = JSON.parse(BODY) as { model: string };
    const answer = await ask(`/v1/engines/${model}/chat/completions`, {
      method: "POST",
      body: JSON.stringify(rest),
      headers: { "content-type": "application/json" },
    });
    expect([answer.status, await answer.json()]).toMatchObject([200, { model }]);
  });

  it.each(["/v1/models/openai/gpt-4o-mini", "/v1/models/openai%2Fgpt-4o-mini"])(
    "%s may name an id with a slash",
    async (path) => {
      const answer = await ask(path);
      expect([answer.status, (await answer.json()) as object]).toMatchObject([
        200,
        { id: "openai/gpt-4o-mini" },
      ]);
    },
  );

  it("of a deployment may hold a slash, encoded", async () => {
    const asked = { method: "POST", body: BODY, headers: { "content-type": "application/json" } };
    const answer = await ask("/ref/deployments/no%2Fsuch/chat/completions", asked);
    expect([answer.status, await answer.json()]).toMatchObject([
      404,
      { error: { param: "model" } },
    ]);
  });
});

describe("a header that may stand once", () => {
  it.each([
    ["host: other"],
    [`authorization: Bearer ${MASTER_KEY}`],
    ["authorization: Bearer sk-other"],
    ["content-type: text/plain"],
    ["x-service-api-key: sk-1", "X-Service-Api-Key: sk-1"],
    ["x-api-key: a", "x-api-key: b"],
  ])("is refused twice: %s", async (...more) => {
    const { status, body } = await rawChat([`authorization: Bearer ${MASTER_KEY}`, ...more]);
    expect([status, JSON.parse(body)]).toMatchObject([
      400,
      { error: { type: "invalid_request_error" } },
    ]);
    expect(body).not.toContain(MASTER_KEY);
  });

  it("leaves others alone", async () => {
    const twice = ["accept: */*", "accept: text/html", "x-forwarded-for: 1", "x-forwarded-for: 2"];
    expect((await rawChat([`authorization: Bearer ${MASTER_KEY}`, ...twice])).status).toBe(200);
  });
});

describe("a key", () => {
  const post = (path: string, headers: Record<string, string>) =>
    fetch(`${gateway.publicUrl}${path}`, {
      method: "POST",
      body: BODY,
      headers: { "content-type": "application/json", ...headers },
    });

  it.each(["key", "api_key", "api-key", "access_token"])(
    "in the query as %s is refused with the place where it belongs",
    async (name) => {
      for (const headers of [{}, AUTH]) {
        const answer = await post(`${CHAT}?${name}=${MASTER_KEY}`, headers);
        const text = await answer.text();
        expect(answer.status).toBe(401);
        expect(text).toContain("keys belong in a header");
        expect(text).not.toContain(MASTER_KEY);
      }
    },
  );

  it("may be a filter of a spend query", async () => {
    expect((await ask(`/spend/logs?api_key=${MASTER_KEY}`)).status).toBe(200);
    expect((await fetch(`${gateway.publicUrl}/spend/logs?api_key=${MASTER_KEY}`)).status).toBe(401);
  });

  it.each(["api-key", "x-api-key", "x-goog-api-key"])(
    "in %s opens deployment routes, and no other",
    async (name) => {
      const { key } = await createKey(gateway, {});
      expect((await post("/ref/deployments/echo/chat/completions", { [name]: key })).status).toBe(
        200,
      );
      expect((await post(CHAT, { [name]: key })).status).toBe(401);
      expect(
        (await post("/ref/deployments/echo/chat/completions", { [name]: key, ...AUTH })).status,
      ).toBe(401);
      expect(
        (await post("/ref/deployments/echo/chat/completions", { [name]: MASTER_KEY, ...AUTH }))
          .status,
      ).toBe(200);
    },
  );
});

describe("a page of another origin", () => {
  const origin = { origin: "https://app.example.com" };

  it("may ask when its origin is listed, and reads the gateway's headers", async () => {
    for (const path of ["/v1/models", "/v1/nothing"]) {
      const { headers } = await ask(path, { headers: origin });
      expect(headers.get("access-control-allow-origin")).toBe("https://app.example.com");
      expect(headers.get("access-control-expose-headers")).toContain("x-request-id");
      expect(headers.get("access-control-allow-credentials")).toBeNull();
      expect(headers.get("vary")).toBe("origin");
    }
  });

  it("has its preflight answered", async () => {
    const asked = {
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization, content-type",
    };
    const { status, headers } = await fetch(`${gateway.publicUrl}${CHAT}`, {
      method: "OPTIONS",
      headers: { ...origin, ...asked },
    });
    expect(status).toBe(204);
    expect(headers.get("access-control-allow-methods")).toBe("POST");
    expect(headers.get("access-control-allow-headers")).toBe("authorization, content-type");
    expect(headers.get("access-control-max-age")).toBe("300");
  });

  it("may not when its origin is not listed, however like it looks", async () => {
    for (const other of ["https://app.example.com.evil.test", "http://app.example.com", "null"]) {
      const { headers } = await ask("/v1/models", { headers: { origin: other } });
      expect(headers.get("access-control-allow-origin")).toBeNull();
    }
  });
});

describe("an expectation", () => {
  const waiting = (headers: readonly string[], body: string) =>
    rawChat(["expect: 100-continue", ...headers], body);

  it("is answered with 100 to who may send a body", async () => {
    const { status, interim } = await waiting([`authorization: Bearer ${MASTER_KEY}`], BODY);
    expect([status, interim]).toEqual([200, [100]]);
  });

  it("is answered with the refusal itself to who may not", async () => {
    const large = "x".repeat(10_000);
    expect(await waiting([], BODY)).toMatchObject({ status: 401, interim: [] });
    expect(await waiting([`authorization: Bearer ${MASTER_KEY}`], large)).toMatchObject({
      status: 413,
      interim: [],
    });
  });

  it("of anything else is 417", async () => {
    const { status, body } = await rawChat([
      `authorization: Bearer ${MASTER_KEY}`,
      "expect: a-miracle",
    ]);
    expect([status, JSON.parse(body)]).toMatchObject([
      417,
      { error: { param: "expect", code: 417 } },
    ]);
  });
});

describe("a request", () => {
  it("that would like another protocol is served as it is", async () => {
    const upgrade = ["upgrade: websocket", "connection: upgrade"];
    const head = [
      `POST ${CHAT} HTTP/1.1`,
      "host: gateway",
      "content-type: application/json",
      `content-length: ${BODY.length}`,
    ];
    const { status } = await sendRaw(gateway.publicUrl, [
      "GET /health/live HTTP/1.0",
      "host: x",
      ...upgrade,
    ]);
    expect(status).toBe(200);
    const asked = [
      ...head,
      "connection: close, upgrade",
      "upgrade: h2c",
      `authorization: Bearer ${MASTER_KEY}`,
    ];
    expect((await sendRaw(gateway.publicUrl, asked, BODY)).status).toBe(200);
  });

  it.each([
    ["content-type: application/json; charset=utf-16", 415],
    ["content-type: text/plain", 415],
    ["content-type: application/json; charset=utf-8", 200],
  ])("with %s is answered with %i", async (type, status) => {
    const { status: answered } = await raw(
      `POST ${CHAT} HTTP/1.1`,
      [type, `content-length: ${BODY.length}`, `authorization: Bearer ${MASTER_KEY}`],
      BODY,
    );
    expect(answered).toBe(status);
  });
});
