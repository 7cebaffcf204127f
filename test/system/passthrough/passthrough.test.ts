import { randomBytes } from "node:crypto";
import Anthropic from "@anthropic-ai/sdk";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey, rowsOf } from "../support/client.ts";
import { type GatewayProcess, startGateway, UPSTREAM_KEY } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";

const ANTHROPIC_KEY = "anthropic-credential-of-the-tests-0123456789";

let upstream: NativeUpstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createNativeUpstream();
  gateway = await startGateway(
    {
      baseUrl: `${upstream.url}/v1`,
      providers: [
        `claude: { use: anthropic, api_key: "\${env:ANTHROPIC_API_KEY}", base_url: ${upstream.url} }`,
      ],
    },
    { ANTHROPIC_API_KEY: ANTHROPIC_KEY },
  );
});

afterAll(async () => {
  await gateway.dispose();
  await upstream.close();
});

function call(path: string, init: RequestInit = {}, key = gateway.masterKey): Promise<Response> {
  return fetch(`${gateway.publicUrl}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${key}`, ...init.headers },
  });
}

function lastRequest() {
  const request = upstream.requests.at(-1);
  if (request === undefined) throw new Error("The upstream saw no request.");
  return request;
}

const json = { "content-type": "application/json" };

describe("a native request", () => {
  it.each([
    ["/openai/v1/files", "/v1/files"],
    ["/openai/files", "/v1/files"],
    ["/ref/v1/images/generations", "/v1/images/generations"],
    ["/claude/v1/messages/batches?limit=2&api_key=stolen", "/v1/messages/batches?limit=2"],
    ["/openai/v1/files/file-1/content?a=%20b", "/v1/files/file-1/content?a=%20b"],
    // Some upstreams separate by semicolons.
    ["/openai/v1/files?a=1;api_key=stolen&b=2;c=3", "/v1/files?b=2;c=3"],
  ])("%s reaches %s", async (path, url) => {
    upstream.answer((response) => response.end("[]"));
    await (await call(path)).text();
    expect(lastRequest()).toMatchObject({ method: "GET", url });
  });

  it.each(["GET", "POST", "PUT", "PATCH", "DELETE"])("may be %s", async (method) => {
    upstream.answer((response) => response.end("{}"));
    const response = await call("/openai/v1/x", {
      method,
      ...(method === "GET" ? {} : { body: "hello" }),
    });
    expect(response.status).toBe(200);
    expect(lastRequest().method).toBe(method);
  });

  it("keeps its bytes, multipart included, and its reply keeps its own", async () => {
    const sent = randomBytes(300_000);
    const answered = randomBytes(500_000);
    upstream.answer((response) =>
      response.writeHead(201, { "content-type": "audio/wav" }).end(answered),
    );
    const type = "multipart/form-data; boundary=xyz";
    const response = await call("/openai/v1/audio/transcriptions", {
      method: "POST",
      body: sent,
      headers: { "content-type": type },
    });
    expect(lastRequest().body.equals(sent)).toBe(true);
    expect(lastRequest().headers["content-type"]).toBe(type);
    expect(response.status).toBe(201);
    expect(response.headers.get("content-type")).toBe("audio/wav");
    expect(Buffer.from(await response.arrayBuffer()).equals(answered)).toBe(true);
  });

  it("carries the provider's credential, and nothing of the client's", async () => {
    upstream.answer((response) =>
      response
        .writeHead(200, { "set-cookie": "a=b", server: "x", "openai-organization": "org" })
        .end("{}"),
    );
    const response = await call("/openai/v1/x", {
      headers: {
        cookie: "session=1",
        "x-forwarded-for": "10.0.0.1",
        "openai-organization": "mine",
        "x-custom": "1",
        "openai-beta": "v2",
      },
    });
    await response.text();
    const { headers } = lastRequest();
    expect(headers.authorization).toBe(`Bearer ${UPSTREAM_KEY}`);
    expect(headers["openai-beta"]).toBe("v2");
    for (const name of ["cookie", "x-forwarded-for", "x-custom", "openai-organization"])
      expect(headers).not.toHaveProperty(name);
    expect(JSON.stringify(headers)).not.toContain(gateway.masterKey);
    for (const name of ["set-cookie", "server", "openai-organization"])
      expect(response.headers.has(name)).toBe(false);
  });

  it.each([401, 404, 429, 500])("relays the upstream's own %i, body and all", async (status) => {
    upstream.answer((response) =>
      response.writeHead(status, { ...json, "retry-after": "7" }).end('{"theirs":true}'),
    );
    const response = await call("/openai/v1/x", { method: "POST", body: "{}", headers: json });
    expect(response.status).toBe(status);
    expect(response.headers.get("retry-after")).toBe("7");
    expect(await response.text()).toBe('{"theirs":true}');
    const [row] = await rowsOf(gateway, response.headers.get("x-request-id"));
    expect(row).toMatchObject({ status: "failure", call_type: "passthrough", total_tokens: null });
  });

  it.each([
    "/openai/../etc",
    "/openai/a%2e%2e/b",
    "/openai/a//b",
    "/openai/a%2fb",
    "/openai/a%5cb",
    "/openai/%00",
  ])("is refused for the path %s", async (path) => {
    const before = upstream.requests.length;
    // fetch would tidy the path up; the raw one must be refused.
    const status = await rawStatus(path);
    expect([400, 404]).toContain(status);
    expect(upstream.requests.length).toBe(before);
  });

  it("is 404 for a prefix that is no provider", async () => {
    const body = JSON.stringify({ model: "gpt-4o-mini" });
    expect((await call("/nosuch/v1/x")).status).toBe(404);
    expect((await call("/nosuch/v1/x", { method: "POST", body, headers: json })).status).toBe(404);
    expect((await call("/v1/nothing", { method: "POST", body, headers: json })).status).toBe(404);
  });

  it.each([[undefined], ["sk-no-such-key"]])(
    "does not reveal provider names to the key %s (contract 1.11)",
    async (key) => {
      const headers: Record<string, string> =
        key === undefined ? {} : { authorization: `Bearer ${key}` };
      const seen = [];
      for (const path of ["/openai/v1/x", "/nosuch/v1/x", "/v1/nothing", "/ref/v1/x"]) {
        for (const method of ["GET", "POST", "DELETE"]) {
          const answer = await fetch(`${gateway.publicUrl}${path}`, { method, headers });
          const { error } = (await answer.json()) as { error: object };
          seen.push([answer.status, answer.headers.get("www-authenticate"), error]);
        }
      }
      for (const answer of seen) expect(answer).toEqual([401, ...(seen[0] ?? []).slice(1)]);
    },
  );
});

describe("a key that is limited to models", () => {
  it("reaches those models only", async () => {
    upstream.answer((response) => response.writeHead(200, json).end("{}"));
    const { key } = await createKey(gateway, { models: ["gpt-4o-mini"] });
    const post = (model: object) =>
      call(
        "/openai/v1/chat/completions",
        { method: "POST", body: JSON.stringify(model), headers: json },
        key,
      );
    expect((await post({ model: "gpt-4o-mini" })).status).toBe(200);
    expect((await post({ model: "gpt-4o" })).status).toBe(404);
    expect((await post({})).status).toBe(403);
  });
});

describe("the usage of a native reply", () => {
  it("is read from a whole OpenAI reply and priced", async () => {
    const usage = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 };
    upstream.answer((response) =>
      response.writeHead(200, json).end(JSON.stringify({ id: "x", usage })),
    );
    const body = JSON.stringify({ model: "gpt-4o-mini", messages: [] });
    const response = await call("/openai/v1/chat/completions", {
      method: "POST",
      body,
      headers: json,
    });
    await response.text();
    const [row] = await rowsOf(gateway, response.headers.get("x-request-id"));
    // 1000 × 0.15 $/M + 100 × 0.60 $/M
    expect(row).toMatchObject({
      prompt_tokens: 1000,
      completion_tokens: 100,
      spend: 0.00021,
      cost_status: "priced",
      usage_source: "provider",
    });
  });

  it("is read from a stream whose frames pass one by one", async () => {
    const release = Promise.withResolvers<void>();
    upstream.answer(async (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write('data: {"choices":[{"delta":{"content":"first"}}]}\n\n');
      await release.promise;
      response.end(
        'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}\n\ndata: [DONE]\n\n',
      );
    });
    const body = JSON.stringify({ model: "gpt-4o-mini", stream: true });
    const response = await call("/openai/v1/chat/completions", {
      method: "POST",
      body,
      headers: json,
    });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    // The upstream has not ended: the frame is not held back.
    expect((await reader.read()).value).toBe(
      'data: {"choices":[{"delta":{"content":"first"}}]}\n\n',
    );
    release.resolve();
    while (!(await reader.read()).done);
    const [row] = await rowsOf(gateway, response.headers.get("x-request-id"));
    expect(row).toMatchObject({ status: "success", total_tokens: 5 });
  });
});

describe("the Anthropic SDK, unmodified", () => {
  const client = () =>
    new Anthropic({
      baseURL: `${gateway.publicUrl}/claude`,
      apiKey: gateway.masterKey,
      maxRetries: 0,
    });
  const request = {
    model: "claude-x",
    max_tokens: 10,
    messages: [{ role: "user" as const, content: "Hello" }],
  };

  it("gets whole messages, and the row has cached tokens within the prompt", async () => {
    const usage = {
      input_tokens: 10,
      cache_read_input_tokens: 90,
      cache_creation_input_tokens: 5,
      output_tokens: 7,
    };
    const message = {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "claude-x",
      content: [{ type: "text", text: "Hi" }],
      usage,
    };
    upstream.answer((response) => response.writeHead(200, json).end(JSON.stringify(message)));
    const { data, response } = await client().messages.create(request).withResponse();
    expect(data.content).toEqual([{ type: "text", text: "Hi" }]);
    expect(lastRequest().headers["x-api-key"]).toBe(ANTHROPIC_KEY);
    expect(lastRequest().headers).not.toHaveProperty("authorization");
    const [row] = await rowsOf(gateway, response.headers.get("x-request-id"));
    expect(row).toMatchObject({
      prompt_tokens: 105,
      completion_tokens: 7,
      model_id: "claude/claude-x",
    });
  });

  it("streams, and the row joins the usage of start and end", async () => {
    const events = [
      {
        type: "message_start",
        message: {
          id: "m",
          type: "message",
          role: "assistant",
          content: [],
          usage: { input_tokens: 12, output_tokens: 1 },
        },
      },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello" } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 9 } },
      { type: "message_stop" },
    ];
    upstream.answer((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(
        events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""),
      );
    });
    const stream = client().messages.stream(request);
    expect(await stream.finalText()).toBe("Hello");
    const [row] = await rowsOf(gateway, stream.response?.headers.get("x-request-id"));
    expect(row).toMatchObject({ prompt_tokens: 12, completion_tokens: 9, status: "success" });
  });

  it("maps errors to its own classes", async () => {
    upstream.answer((response) => {
      response
        .writeHead(429, json)
        .end('{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}');
    });
    await expect(client().messages.create(request)).rejects.toBeInstanceOf(
      Anthropic.RateLimitError,
    );
  });
});

async function rawStatus(path: string): Promise<number> {
  const { request } = await import("node:http");
  const { hostname, port } = new URL(gateway.publicUrl);
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${gateway.masterKey}` };
    request({ hostname, port, path, headers }, (response) =>
      resolve(response.resume().statusCode ?? 0),
    )
      .on("error", reject)
      .end();
  });
}
