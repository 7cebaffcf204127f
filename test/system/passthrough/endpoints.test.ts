/** Who reaches which native endpoint: endpoints × keys × what the request names. */

import { request } from "node:http";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { admin, createKey, rowsOf } from "../support/client.ts";
import { type GatewayProcess, startGateway, UPSTREAM_KEY } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";

const KEY = 'api_key: "${env:OPENAI_API_KEY}"';

const VERTEX = "/vertex/v1/projects/p/locations/l";

let upstream: NativeUpstream;
/** Google's metadata server. */
let tokens: NativeUpstream;
let gateway: GatewayProcess;
/** Keys by what they may do. */
const keys: Record<string, string> = {};

beforeAll(async () => {
  [upstream, tokens] = await Promise.all([createNativeUpstream(), createNativeUpstream()]);
  const token = { access_token: "token", expires_in: 3_599, token_type: "Bearer" };
  tokens.reply(200, "application/json", JSON.stringify(token));
  const at = `${KEY}, base_url: ${upstream.url}`;
  gateway = await startGateway({
    baseUrl: `${upstream.url}/v1`,
    providers: [
      `opened: { use: openai, ${at}/v1, endpoints: all }`,
      `listed: { use: openai, ${at}/v1, endpoints: [GET v1/models, "v1/batches/**"] }`,
      `anthropic: { use: anthropic, ${at} }`,
      `gemini: { use: gemini, ${at} }`,
      `vertex: { use: vertex, project: p, location: l, base_url: ${upstream.url}, metadata_url: ${tokens.url} }`,
      `azure: { use: azure, ${KEY}, endpoint: ${upstream.url} }`,
      `bedrock: { use: bedrock, ${KEY}, region: eu-west-1, base_url: ${upstream.url} }`,
      `custom: { use: compatible, ${at}/v1 }`,
      `groq: { use: compatible, preset: groq, ${at}/openai/v1, show_rate_limits: true }`,
      `ollama: { use: compatible, preset: ollama, ${at}/v1 }`,
    ],
    models: [
      "{ id: gpt-4o-mini, targets: [{ provider: openai, model: gpt-4o-mini }] }",
      '{ id: "openai/*", targets: [{ provider: openai, model: "*" }] }',
    ],
  });
  const cheap = ["openai", "opened", "azure", "custom"].map((name) => `${name}/gpt-4o-mini`);
  const models = [
    ...cheap,
    "gemini/gemini-2.0-flash-lite",
    "vertex/gemini-2.5-flash",
    "bedrock/claude",
    "bedrock/arn:aws:bedrock:eu-west-1:1:inference-profile/eu.claude",
  ];
  const made = {
    limited: { models },
    free: {},
    budgeted: { max_budget: 1 },
    opened: { passthrough: true },
    both: { passthrough: true, models },
  };
  for (const [name, fields] of Object.entries(made))
    keys[name] = (await createKey(gateway, fields)).key;
  const team = (await (
    await admin(gateway, "/team/new", { team_alias: "open", passthrough: true })
  ).json()) as {
    team_id: string;
  };
  keys.team = (await createKey(gateway, { team_id: team.team_id })).key;
});

afterAll(async () => {
  await gateway.dispose();
  await Promise.all([upstream.close(), tokens.close()]);
});

interface Asked {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** What the upstream got; `undefined` where nothing reached it. */
  readonly sent: NativeUpstream["requests"][number] | undefined;
}

async function ask(
  key: string,
  line: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Asked> {
  const [method = "", path = ""] = line.split(" ");
  const before = upstream.requests.length;
  const authorization = `Bearer ${keys[key] ?? key}`;
  const type = body === undefined ? {} : { "content-type": "application/json" };
  const written = body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body);
  const answer = await send(method, path, { authorization, ...type, ...headers }, written);
  return {
    ...answer,
    sent: upstream.requests.length > before ? upstream.requests.at(-1) : undefined,
  };
}

/** A GET with a body is nothing that `fetch` sends. */
function send(
  method: string,
  path: string,
  headers: Record<string, string>,
  body: string,
): Promise<Omit<Asked, "sent">> {
  return new Promise((resolve, reject) => {
    const length = body === "" ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const { hostname, port } = new URL(gateway.publicUrl);
    const sending = request(
      { hostname, port, path, method, headers: { ...headers, ...length } },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (piece: string) => (text += piece));
        const known = Object.entries(response.headers).map(
          ([name, value]) => [name, String(value)] as [string, string],
        );
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, headers: new Headers(known), text }),
        );
      },
    );
    sending.on("error", reject).end(body);
  });
}

describe("the table of endpoints and keys", () => {
  const mini = { model: "gpt-4o-mini" };
  const other = { model: "gpt-4o" };
  // Line, body, then the status for: limited, free, budgeted, opened.
  it.each<readonly [string, unknown, number, number, number, number]>([
    ["POST /openai/v1/chat/completions", mini, 200, 200, 200, 200],
    ["POST /openai/v1/chat/completions", other, 404, 200, 200, 200],
    ["POST /openai/v1/chat/completions", {}, 403, 200, 429, 200],
    ["POST /openai/chat/completions", other, 404, 200, 200, 200],
    ["POST /openai/v1/Chat/completions", mini, 403, 403, 403, 200],
    ["POST /openai/v1/%63hat/completions", mini, 403, 403, 403, 200],
    ["GET /openai/v1/files", undefined, 403, 403, 403, 200],
    ["GET /openai/v1/files", mini, 403, 403, 403, 200],
    ["DELETE /openai/v1/files/file-of-tenant-a", mini, 403, 403, 403, 200],
    ["POST /openai/v1/batches", { ...mini, input_file_id: "f" }, 403, 403, 403, 200],
    ["PUT /openai/v1/chat/completions", mini, 403, 403, 403, 200],
    ["GET /openai/v1/chat/completions", mini, 403, 403, 403, 200],
    ["GET /opened/v1/files", mini, 403, 200, 200, 200],
    ["DELETE /opened/v1/files/f", mini, 403, 200, 200, 200],
    ["POST /opened/v1/batches", mini, 403, 200, 200, 200],
    ["GET /listed/v1/models", undefined, 403, 200, 200, 200],
    ["POST /listed/v1/batches/b/cancel", undefined, 403, 200, 429, 200],
    ["GET /listed/v1/files", undefined, 403, 403, 403, 200],
    // Without a price, what is budgeted is refused.
    ["POST /custom/v1/chat/completions", mini, 200, 200, 429, 200],
    ["POST /custom/v1/chat/completions", other, 404, 200, 429, 200],
    ["POST /custom/v1/batches", mini, 403, 200, 429, 200],
    ["GET /custom/v1/files", mini, 403, 403, 403, 200],
    ["POST /azure/openai/deployments/gpt-4o-mini/chat/completions", {}, 200, 200, 200, 200],
    ["POST /azure/openai/deployments/gpt-4o-mini/chat/completions", mini, 200, 200, 200, 200],
    ["POST /azure/openai/deployments/gpt-4o/chat/completions", {}, 404, 200, 200, 200],
    ["POST /azure/openai/deployments/gpt-4o/chat/completions", mini, 400, 400, 400, 400],
    ["POST /azure/openai/v1/chat/completions", other, 404, 200, 200, 200],
    ["POST /gemini/v1beta/models/gemini-2.0-flash-lite:generateContent", {}, 200, 200, 200, 200],
    ["POST /gemini/v1beta/models/gemini-2.5-pro:generateContent", {}, 404, 200, 200, 200],
    [
      "POST /gemini/v1beta/models/gemini-2.5-pro:generateContent",
      { model: "gemini-2.0-flash-lite" },
      400,
      400,
      400,
      400,
    ],
    [
      "POST /gemini/v1beta/models/gemini-2.0-flash-lite:generateContent",
      { model: "models/gemini-2.0-flash-lite" },
      200,
      200,
      200,
      200,
    ],
    ["GET /gemini/v1beta/files/models/gemini-2.0-flash-lite", undefined, 403, 403, 403, 200],
    [
      "POST /gemini/v1beta/files/models/gemini-2.0-flash-lite:generateContent",
      {},
      403,
      403,
      403,
      200,
    ],
    [
      "POST /gemini/v1beta/models/gemini-2.0-flash-lite:batchGenerateContent",
      {},
      403,
      403,
      403,
      200,
    ],
    [
      `POST ${VERTEX}/publishers/google/models/gemini-2.5-flash:generateContent`,
      {},
      200,
      200,
      200,
      200,
    ],
    [
      `POST ${VERTEX}/publishers/google/models/gemini-2.5-flash:generateContent`,
      { model: "gemini-2.5-pro" },
      400,
      400,
      400,
      400,
    ],
    [
      `POST ${VERTEX}/publishers/google/models/gemini-2.5-pro:generateContent`,
      { model: "gemini-2.5-flash" },
      400,
      400,
      400,
      400,
    ],
    [
      `POST ${VERTEX}/publishers/google/models/gemini-2.5-pro:streamGenerateContent`,
      {},
      404,
      200,
      200,
      200,
    ],
    [
      "POST /vertex/v1/publishers/google/models/gemini-2.5-pro:generateContent",
      {},
      404,
      200,
      200,
      200,
    ],
    [
      `POST ${VERTEX}/publishers/anthropic/models/claude-sonnet-4-5:rawPredict`,
      {},
      404,
      200,
      200,
      200,
    ],
    [
      `POST ${VERTEX}/publishers/anthropic/models/gemini-2.5-flash:streamRawPredict`,
      { model: "claude-sonnet-4-5" },
      400,
      400,
      400,
      400,
    ],
    [
      "POST /vertex/v1/projects/other/locations/l/publishers/google/models/gemini-2.5-flash:generateContent",
      {},
      403,
      403,
      403,
      403,
    ],
    [
      `POST ${VERTEX}/publishers/google/models/gemini-2.5-flash%2F..%2Fgemini-2.5-pro:generateContent`,
      {},
      403,
      403,
      403,
      400,
    ],
    [`POST ${VERTEX}/endpoints/1234:generateContent`, {}, 403, 403, 403, 200],
    [`POST ${VERTEX}/batchPredictionJobs`, { model: "gemini-2.5-flash" }, 403, 403, 403, 200],
    [`GET ${VERTEX}/cachedContents`, undefined, 403, 403, 403, 200],
    ["POST /bedrock/model/claude/converse", {}, 200, 200, 429, 200],
    ["POST /bedrock/model/dear/converse", { model: "claude" }, 400, 400, 400, 400],
    [
      "POST /bedrock/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A1%3Ainference-profile%2Feu.claude/converse",
      {},
      200,
      200,
      429,
      200,
    ],
    ["POST /bedrock/model/claude%2F..%2Fdear/converse", {}, 403, 403, 403, 400],
    ["POST /bedrock/async-invoke", { modelId: "claude" }, 403, 403, 403, 200],
  ])("%s with %j", async (line, body, limited, free, budgeted, opened) => {
    const expected = { limited, free, budgeted, opened };
    const seen = Object.fromEntries(
      await Promise.all(
        Object.keys(expected).map(
          async (name) => [name, (await ask(name, line, body)).status] as const,
        ),
      ),
    );
    expect(seen).toEqual(expected);
  });

  it.each<readonly [string, unknown, number, string | undefined]>([
    [
      "an image tool of another model",
      [{ type: "image_generation", model: "gpt-image-1" }],
      403,
      "tools[0].model",
    ],
    [
      "an image tool that names none",
      [{ type: "function", name: "f" }, { type: "image_generation" }],
      403,
      "tools[1].model",
    ],
    [
      "a model within a tool",
      [{ type: "advisor", config: { reviewer: { model: "gpt-4o" } } }],
      403,
      "tools[0].config.reviewer.model",
    ],
    [
      "a list of models",
      [{ type: "router", models: ["gpt-4o-mini", "gpt-4o"] }],
      403,
      "tools[0].models",
    ],
    ["a model that is no text", [{ type: "x", model: { id: "gpt-4o" } }], 403, "tools[0].model"],
    [
      "a tool of its own model",
      [{ type: "image_generation", model: "gpt-4o-mini" }],
      200,
      undefined,
    ],
    [
      "a property called model",
      [{ type: "function", name: "f", parameters: { properties: { model: {} } } }],
      200,
      undefined,
    ],
  ])("the tools of a limited key: %s", async (_what, tools, status, place) => {
    const body = { model: "gpt-4o-mini", input: "Hi", tools };
    const answer = await ask("limited", "POST /openai/v1/responses", body);
    expect([answer.status, answer.sent === undefined]).toEqual([status, status !== 200]);
    const { error } = JSON.parse(answer.text) as { error?: { type: string; param: string } };
    expect([error?.type, error?.param]).toEqual([
      place === undefined ? undefined : "permission_error",
      place,
    ]);
    expect((await ask("free", "POST /openai/v1/responses", body)).status).toBe(200);
  });

  it("a key with a model list stays limited, whatever is opened for it", async () => {
    expect((await ask("both", "GET /openai/v1/files")).status).toBe(403);
    expect((await ask("both", "GET /opened/v1/files")).status).toBe(403);
  });

  it("a team opens the native paths for its keys, and the master key reaches them", async () => {
    expect((await ask("team", "GET /openai/v1/files")).status).toBe(200);
    expect((await ask(gateway.masterKey, "GET /openai/v1/files")).status).toBe(200);
  });

  it("the refusal names the path and both options", async () => {
    const { text, sent } = await ask("free", "GET /openai/v1/files");
    const { error } = JSON.parse(text) as { error: { type: string; message: string } };
    expect(error.type).toBe("permission_error");
    expect(error.message).toMatch(/GET \/v1\/files .*openai.*`endpoints`.*`passthrough: true`/);
    expect(sent).toBeUndefined();
  });

  it("the body of a GET or a DELETE is not sent on", async () => {
    for (const method of ["GET", "DELETE"]) {
      const { sent } = await ask("opened", `${method} /openai/v1/files/f`, mini);
      expect(sent).toMatchObject({ method, body: Buffer.alloc(0) });
    }
  });
});

describe("the model of a native request", () => {
  it("stands in the row where the path names it (H3)", async () => {
    const { headers } = await ask(
      "free",
      "POST /gemini/v1beta/models/gemini-2.0-flash-lite:generateContent",
      { contents: [] },
    );
    expect(headers.get("x-sluice-model")).toBe("gemini-2.0-flash-lite");
    const [row] = await rowsOf(gateway, headers.get("x-request-id"));
    expect(row).toMatchObject({
      model: "gemini-2.0-flash-lite",
      model_id: "gemini/gemini-2.0-flash-lite",
    });
  });

  it.each([
    ['{"model":"gpt-4o-mini","model":"gpt-4o"}', 400],
    [String.raw`{"model":"gpt-4o-mini","mod\u0065l":"gpt-4o"}`, 400],
    ['{"model":"gpt-4o-mini","stream":false,"stream":true}', 400],
    [`{"model":"gpt-4o-mini","a":${"[".repeat(70)}${"]".repeat(70)}}`, 400],
    [`{"model":"gpt-4o-mini","a":[${"[],".repeat(210_000)}[]]}`, 400],
    ['{"model":"gpt-4o"', 403],
    ["[]", 403],
  ])("of %.40s is %i for a limited key", async (body, status) => {
    const { sent, ...answer } = await ask("limited", "POST /openai/v1/chat/completions", body);
    expect(answer.status).toBe(status);
    expect(sent).toBeUndefined();
  });

  it.each(["text/plain", "application/octet-stream", "application/json; charset=utf-8", ""])(
    "is read whatever the content type says: %s",
    async (type) => {
      const body = JSON.stringify({ model: "gpt-4o" });
      expect(
        (await ask("limited", "POST /openai/v1/chat/completions", body, { "content-type": type }))
          .status,
      ).toBe(404);
      expect(
        (await ask("free", "POST /openai/v1/chat/completions", body, { "content-type": type }))
          .status,
      ).toBe(200);
    },
  );

  it.each([
    ['form-data; name="model"', "gpt-4o-mini", "", 200],
    ['form-data; name="model"', "gpt-4o", "", 404],
    ['form-data; name="model"', "gpt-4o-mini", 'form-data; name="model"', 400],
    ['form-data; name="model"', "gpt-4o-mini", "form-data; name=model", 400],
    ['form-data; name="other"', "gpt-4o-mini", "", 403],
  ])("of a form with %s: %s and %s is %i", async (first, value, second, status) => {
    const part = (header: string, text: string) =>
      header === "" ? "" : `--b\r\nContent-Disposition: ${header}\r\n\r\n${text}\r\n`;
    const body = `${part(first, value)}${part(second, "gpt-4o")}${part('form-data; name="file"; filename="a.wav"', "RIFF")}--b--\r\n`;
    const headers = { "content-type": "multipart/form-data; boundary=b" };
    expect(
      (await ask("limited", "POST /openai/v1/audio/transcriptions", body, headers)).status,
    ).toBe(status);
  });
});

describe("a form that parsers read differently", () => {
  const part = (header: string, text: string): string => `--b\r\n${header}\r\n\r\n${text}\r\n`;
  const named = (name: string, text: string): string =>
    part(`content-disposition: form-data; name="${name}"`, text);
  const model = named("model", "gpt-4o-mini");
  const end = "--b--\r\n";

  it.each<readonly [string, string, string?]>([
    [
      "a space before the colon",
      `${model}${part('content-disposition : form-data; name="model"', "gpt-4o")}${end}`,
    ],
    [
      "a header that is indented",
      `${model}${part(' content-disposition: form-data; name="model"', "gpt-4o")}${end}`,
    ],
    [
      "two dispositions",
      `${part(`x: y\r\n${model.slice(5).split("\r\n")[0]}\r\ncontent-disposition: form-data; name="f"`, "a")}${end}`,
    ],
    [
      "a name behind the file's",
      `${model}${part('content-disposition: form-data; name="f"; filename="a"; name="model"', "gpt-4o")}${end}`,
    ],
    ["another case", `${model}${named("Model", "gpt-4o")}${end}`],
    [
      "a model that is a file",
      `${part('content-disposition: form-data; name="model"; filename="a"', "gpt-4o-mini")}${end}`,
    ],
    ["a value of two lines", `${named("model", "gpt-4o-mini\r\nx")}${end}`],
    ["no end", model],
    ["parts behind the end", `${end}${model}${end}`],
    ["a delimiter behind a bare line feed", `${named("f", `x\n${model}`)}${end}`],
    [
      "a delimiter that goes on",
      `${model}--b x\r\ncontent-disposition: form-data; name="model"\r\n\r\ngpt-4o\r\n${end}`,
    ],
    ["two boundaries", `${model}${end}`, "multipart/form-data; boundary=b; boundary=c"],
  ])(
    "is refused for every key: %s",
    async (_what, body, type = "multipart/form-data; boundary=b") => {
      for (const key of ["limited", "free"]) {
        const { status, sent } = await ask(key, "POST /openai/v1/audio/transcriptions", body, {
          "content-type": type,
        });
        expect([key, status, sent]).toEqual([key, 400, undefined]);
      }
    },
  );

  it.each([
    [
      "inside a file",
      `${part('content-disposition: form-data; name="f"; filename="a"', `x\r\n${model.slice(5)}`)}${end}`,
    ],
    ["behind another boundary", `${model.replace("--b", "--a")}${named("prompt", "x")}${end}`],
  ])("names no model %s: a limited key is refused", async (_what, body) => {
    const headers = { "content-type": 'multipart/form-data; boundary="b"' };
    expect((await ask("limited", "POST /openai/v1/images/edits", body, headers)).status).toBe(403);
  });

  it("is read as clients write it", async () => {
    const form = new FormData();
    form.append("file", new File(["--b\r\nRIFF"], 'a "b";\r\nname="model".wav'));
    form.append("model", "gpt-4o-mini");
    const encoded = new Response(form);
    const headers = { "content-type": encoded.headers.get("content-type") ?? "" };
    const { status } = await ask(
      "limited",
      "POST /openai/v1/audio/transcriptions",
      await encoded.text(),
      headers,
    );
    expect(status).toBe(200);
  });
});

describe("the query and body of a native request", () => {
  it.each([
    ["fields=candidates", ""],
    ["%24ct=application/x-protobuf&alt=sse", "?alt=sse"],
    ["alt=sse&%24fields=candidates", "?alt=sse"],
    ["a=1;fields=candidates&b=2", "?b=2"],
    ["$httpHeaders=x-goog-user-project%3Aother&$httpMethod=DELETE&OAuth_Token=x", ""],
  ])(
    "of Gemini have no parameters that hide the usage or change the call: %s",
    async (query, expected) => {
      const path = "/v1beta/models/gemini-2.0-flash-lite:generateContent";
      const { status, sent } = await ask("free", `POST /gemini${path}?${query}`, { contents: [] });
      expect(status).toBe(200);
      expect(sent?.url).toBe(path + expected);
    },
  );

  it("lose the gateway's own fields behind a byte order mark too", async () => {
    const { status, sent } = await ask(
      "free",
      "POST /openai/v1/chat/completions",
      '\ufeff{"model":"gpt-4o-mini","num_retries":1}',
    );
    expect(status).toBe(200);
    expect(JSON.parse(sent?.body.toString() ?? "")).toEqual({ model: "gpt-4o-mini" });
  });
});

describe("a native path", () => {
  it.each([
    ["POST /groq/v1/chat/completions", "/openai/v1/chat/completions"],
    ["POST /groq/openai/v1/chat/completions", "/openai/v1/chat/completions"],
    ["POST /groq/chat/completions", "/openai/v1/chat/completions"],
    ["POST /ollama/api/chat", "/api/chat"],
    ["POST /ollama/v1/chat/completions", "/v1/chat/completions"],
    ["GET /openai/v2/files", "/v2/files"],
    [
      "POST /bedrock/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A1%3Ainference-profile%2Feu.claude/converse",
      "/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A1%3Ainference-profile%2Feu.claude/converse",
    ],
  ])("%s reaches %s (P6, P7, P9)", async (line, url) => {
    const { sent } = await ask(
      "opened",
      line,
      line.startsWith("GET") ? undefined : line.includes("arn") ? {} : { model: "m" },
    );
    expect(sent?.url).toBe(url);
  });
});

describe("what goes on of a native request", () => {
  it("keeps the repeats of one key apart from those of others (F16)", async () => {
    const repeat = async (key: string, value: string): Promise<string> => {
      const headers = { "idempotency-key": value, "x-goog-user-project": "someone-elses" };
      const { sent } = await ask(
        key,
        "POST /openai/v1/chat/completions",
        { model: "gpt-4o-mini" },
        headers,
      );
      expect(sent?.headers).not.toHaveProperty("x-goog-user-project");
      return String(sent?.headers["idempotency-key"]);
    };
    const [mine, others] = [await repeat("free", "order-1"), await repeat("opened", "order-1")];
    expect(mine).toMatch(/^[\w-]{43}$/);
    expect(others).not.toBe(mine);
    expect(await repeat("free", "order-2")).not.toBe(mine);
  });

  it("takes what only gateways know out of the body, and keeps every other byte", async () => {
    const body =
      '{ "model":"gpt-4o-mini", "tags":["a"] ,"seed":12345678901234567890, "mock_response":"x","metadata":{"user_id":"u1"} }';
    const { sent, headers } = await ask("free", "POST /anthropic/v1/messages", body, {
      "x-sluice-tags": "b,c",
    });
    expect(sent?.body.toString()).toBe(
      '{ "model":"gpt-4o-mini", "seed":12345678901234567890, "metadata":{"user_id":"u1"} }',
    );
    expect(headers.get("x-sluice-dropped-params")).toBe("mock_response");
    const [row] = await rowsOf(gateway, headers.get("x-request-id"));
    expect(row?.request_tags).toEqual(["a", "b", "c"]);
  });

  it("records the headers and the end user that other routes record (H1, H4)", async () => {
    const headers = { "x-sluice-tags": "project:demo", "x-request-id": "mine-1" };
    const answered = await ask(
      "free",
      "POST /anthropic/v1/messages",
      { model: "claude", metadata: { user_id: "u1" } },
      headers,
    );
    const [row] = await rowsOf(gateway, answered.headers.get("x-request-id"));
    expect(row).toMatchObject({
      request_tags: ["project:demo"],
      end_user: "u1",
      metadata: { client_request_id: "mine-1" },
    });
  });

  it("ends after the seconds of x-sluice-timeout", async () => {
    upstream.answer(() => {});
    const answered = await ask(
      "free",
      "POST /anthropic/v1/messages",
      { model: "claude" },
      { "x-sluice-timeout": "1" },
    );
    upstream.answer((response) => response.end("{}"));
    expect(answered.status).toBe(504);
  });

  it("a signature beside a valid key voids nothing (P9)", async () => {
    const headers = {
      authorization: "AWS4-HMAC-SHA256 Credential=AKIA/x",
      "x-service-api-key": keys.free ?? "",
    };
    expect((await ask("free", "POST /bedrock/model/claude/converse", {}, headers)).status).toBe(
      200,
    );
    expect(
      (
        await ask(
          "free",
          "POST /bedrock/model/claude/converse",
          {},
          { authorization: "Basic eDp5" },
        )
      ).status,
    ).toBe(401);
  });
});

describe("what comes back", () => {
  it("an address of the upstream in a header is the gateway's (P8)", async () => {
    upstream.answer((response) => {
      const url = `${upstream.url}/upload/v1beta/files?upload_id=1`;
      response
        .writeHead(200, {
          "x-goog-upload-url": url,
          "x-goog-upload-status": "active",
          "x-other": "1",
        })
        .end("{}");
    });
    const sending = { "x-goog-upload-protocol": "resumable", "x-goog-upload-command": "start" };
    const { headers, sent } = await ask("opened", "POST /gemini/upload/v1beta/files", {}, sending);
    expect(sent?.headers).toMatchObject(sending);
    expect(headers.get("x-goog-upload-url")).toBe(
      `${gateway.publicUrl}/gemini/upload/v1beta/files?upload_id=1`,
    );
    expect(headers.get("x-goog-upload-status")).toBe("active");
    expect(headers.has("x-other")).toBe(false);
    upstream.answer((response) =>
      response.writeHead(200, { "x-goog-upload-url": "https://elsewhere.example/x" }).end("{}"),
    );
    expect(
      (await ask("opened", "POST /gemini/upload/v1beta/files", {}, sending)).headers.has(
        "x-goog-upload-url",
      ),
    ).toBe(false);
    upstream.answer((response) => response.end("{}"));
  });

  it("the upstream's request id has its own name too; rate limits stay hidden (P11)", async () => {
    upstream.answer((response) =>
      response
        .writeHead(200, { "request-id": "req_1", "anthropic-ratelimit-requests-limit": "5" })
        .end("{}"),
    );
    const { headers } = await ask("free", "POST /anthropic/v1/messages", { model: "claude" });
    upstream.answer((response) => response.end("{}"));
    expect(headers.get("request-id")).toBe("req_1");
    expect(headers.has("anthropic-ratelimit-requests-limit")).toBe(false);
  });

  it.each<readonly [string, (secret: string) => string]>([
    ["as it is", (secret) => `Incorrect API key provided: Bearer ${secret}.`],
    ["in a query", (secret) => `GET /?key=${encodeURIComponent(secret)}`],
    ["in base64", (secret) => `Basic ${Buffer.from(secret).toString("base64")}`],
    ["in JSON", (secret) => JSON.stringify({ error: { message: `key ${secret}` } })],
  ])("an error does not quote the credential %s (F12)", async (_how, quote) => {
    const secret = UPSTREAM_KEY;
    for (const status of [400, 401, 403, 500]) {
      for (const coding of ["identity", "gzip", "br", "x-unknown"]) {
        const bytes = Buffer.from(quote(secret));
        const coded =
          coding === "gzip" ? gzipSync(bytes) : coding === "br" ? brotliCompressSync(bytes) : bytes;
        upstream.answer((response) => {
          response.writeHead(status, {
            "content-type": "application/json",
            ...(coding === "identity" ? {} : { "content-encoding": coding }),
          });
          // In two pieces, the credential among both.
          response.write(coded.subarray(0, coded.length >> 1));
          setTimeout(() => response.end(coded.subarray(coded.length >> 1)), 5);
        });
        const answer = await ask("free", "POST /openai/v1/chat/completions", {
          model: "gpt-4o-mini",
        });
        expect(answer.status).toBe(status);
        expect(answer.headers.has("content-encoding")).toBe(false);
        expect(answer.text).toContain(coding === "x-unknown" ? "withheld" : "[redacted]");
        expect(answer.text).not.toContain(secret.slice(-10));
        expect(answer.text).not.toContain(Buffer.from(secret).toString("base64").slice(0, 30));
      }
    }
    upstream.answer((response) => response.end("{}"));
  });

  it("an error without the credential keeps its bytes", async () => {
    const body = JSON.stringify({ error: { message: "Grüße ".repeat(20_000) } });
    upstream.reply(422, "application/json", body);
    expect(
      (await ask("free", "POST /openai/v1/chat/completions", { model: "gpt-4o-mini" })).text,
    ).toBe(body);
    upstream.answer((response) => response.end("{}"));
  });

  it("rate limits of the account are shown where the provider says so (P11)", async () => {
    upstream.answer((response) =>
      response.writeHead(200, { "x-ratelimit-limit-requests": "9", "retry-after": "1" }).end("{}"),
    );
    const { headers } = await ask("free", "POST /groq/v1/chat/completions", { model: "m" });
    upstream.answer((response) => response.end("{}"));
    expect(headers.get("x-upstream-ratelimit-limit-requests")).toBe("9");
  });
});
