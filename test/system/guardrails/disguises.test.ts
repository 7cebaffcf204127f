/**
 * Disguises: texts that look like media, members that another parser reads, overrides behind the
 * guardrails. None is a way around them.
 */

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createKey } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { guardedWorkspace } from "./guardrails.fixture.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";

const BAD = "forbidden";

let upstream: NativeUpstream;
let gateway: GatewayProcess;
let seen = 0;

beforeAll(async () => {
  upstream = await createNativeUpstream();
  const keys = 'api_key: "${env:NATIVE_KEY}"';
  const workspace = guardedWorkspace({
    baseUrl: `${upstream.url}/v1`,
    attempts: 1,
    balance: "{ breaker: { eject_single: false } }",
    providers: [
      `anthropic: { use: anthropic, ${keys}, base_url: ${upstream.url} }`,
      `gemini: { use: gemini, ${keys}, base_url: ${upstream.url} }`,
      `router: { use: compatible, preset: openrouter, ${keys}, base_url: ${upstream.url}/v1 }`,
      "dead: { use: compatible, base_url: http://127.0.0.1:9/v1 }",
    ],
    models: [
      "{ id: m, targets: [{ provider: openai, model: m }] }",
      "{ id: claude, targets: [{ provider: anthropic, model: c }] }",
      "{ id: flash, targets: [{ provider: gemini, model: g }] }",
      "{ id: or-cheap, targets: [{ provider: router, model: cheap }] }",
      "{ id: or-open, targets: [{ provider: router, model: open, forward: [provider, transforms] }] }",
      "{ id: noted, targets: [{ provider: openai, model: n, forward_metadata: true }] }",
      "{ id: failing, targets: [{ provider: dead, model: d }] }",
    ],
    guardrails: [
      `no-bad: { use: forbid, word: ${BAD} }`,
      "pii: { use: pii, entities: [card], action: block }",
      "secrets: { use: secrets, action: block }",
    ],
    step: "{ input: [no-bad, pii, secrets], output: [no-bad] }",
  });
  gateway = await startGateway(workspace, { NATIVE_KEY: "a-native-credential-0123456789" });
});
beforeEach(() => {
  seen = upstream.requests.length;
  upstream.reply(200, "application/json", CHAT_REPLY("ok"));
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const CHAT_REPLY = (content: unknown): string =>
  JSON.stringify({
    id: "c",
    object: "chat.completion",
    created: 1,
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  });
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const user = (content: unknown, more: object = {}): object => ({
  model: "m",
  messages: [{ role: "user", content, ...more }],
});
const CHAT = "/v1/chat/completions";

function post(
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(gateway.publicUrl + path, {
    method: "POST",
    headers: {
      authorization: `Bearer ${gateway.masterKey}`,
      "content-type": "application/json",
      ...headers,
    },
    body:
      typeof body === "string" || body instanceof Uint8Array
        ? (body as string)
        : JSON.stringify(body),
  });
}

/** The error of a request that must not reach the upstream. */
async function refusal(
  path: string,
  body: unknown,
  headers?: Record<string, string>,
): Promise<{ type: string; param: string }> {
  const response = await post(path, body, headers);
  const { error } = (await response.json()) as {
    error: { type: string; param: string; code: number };
  };
  expect(upstream.requests.slice(seen).map(({ body: sent }) => sent.toString())).toEqual([]);
  expect(error.code).toBe(400);
  return error;
}

const PREFIXES = [
  "data:image/png,",
  "data:audio/x,",
  " DATA:video/mp4;a=b,",
  "data:text/plain;base64,",
  "data:image/png;base64,",
];

describe("a text behind the prefix of a data URL (F1)", () => {
  const places: [string, string, (text: string) => object][] = [
    ["a message", CHAT, (text) => user(text)],
    [
      "a system message",
      CHAT,
      (text) => ({
        model: "m",
        messages: [
          { role: "system", content: text },
          { role: "user", content: "x" },
        ],
      }),
    ],
    ["a block of text", CHAT, (text) => user([{ type: "text", text }])],
    [
      "the result of a call",
      CHAT,
      (content) => ({
        model: "m",
        messages: [
          {
            role: "assistant",
            content: null,
            tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
          },
          { role: "tool", tool_call_id: "c", content },
        ],
      }),
    ],
    [
      "a tool",
      CHAT,
      (description) => ({
        ...user("x"),
        tools: [{ type: "function", function: { name: "f", description } }],
      }),
    ],
    [
      "a schema",
      CHAT,
      (description) => ({
        ...user("x"),
        tools: [
          {
            type: "function",
            function: { name: "f", parameters: { type: "object", description } },
          },
        ],
      }),
    ],
    ["a member that no dialect has", CHAT, (text) => user("x", { novel: text })],
    ["the address of a picture", CHAT, (url) => user([{ type: "image_url", image_url: { url } }])],
    ["the deployment route", "/ref/deployments/m/chat/completions", (text) => user(text)],
    ["a native message", "/anthropic/v1/messages", (text) => ({ ...user(text), max_tokens: 1 })],
    [
      "a native part",
      "/gemini/v1beta/models/g:generateContent",
      (text) => ({ contents: [{ parts: [{ text }] }] }),
    ],
    ["a native input", "/openai/v1/responses", (input) => ({ model: "m", input })],
  ];
  const cases = places.flatMap(([place, path, make]) =>
    PREFIXES.map((prefix) => [place, prefix, path, make] as const),
  );

  it.each(cases)("in %s, behind %s, is judged", async (place, prefix, path, make) => {
    const said = `${prefix}${BAD} is in plain text here`;
    // In the place of a file, what claims to be base64 and is none cannot be read.
    const isFile = place.includes("picture") && prefix.endsWith("text/plain;base64,");
    const param = isFile ? "messages[0].content[0].image_url.url" : "no-bad";
    expect(await refusal(path, make(said))).toMatchObject({ type: "guardrail_violation", param });
  });

  it("is judged in the prompt of an image", async () => {
    const sent = { model: "m", prompt: `data:image/png,${BAD}` };
    expect(await refusal("/v1/images/generations", sent)).toMatchObject({ param: "no-bad" });
  });

  it.each([
    ["pii", "data:image/png,my value is 4111 1111 1111 1111"],
    ["secrets", "data:audio/mpeg,my value is AKIAQYLPMN5HFIQR7XYA"],
  ])("is judged by %s", async (name, text) => {
    expect(await refusal(CHAT, user(text))).toMatchObject({
      type: "guardrail_violation",
      param: name,
    });
  });

  it("is decoded where a file can stand, and judged as it stands too", async () => {
    const file = (file_data: string): object =>
      user([{ type: "file", file: { filename: "a.txt", file_data } }]);
    for (const data of [
      base64(`so ${BAD}`),
      `${BAD} is no base64`,
      base64(`so ${BAD}`).replaceAll(/(.{4})/g, "$1 "),
    ]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other.
      expect(await refusal(CHAT, file(`data:text/plain;base64,${data}`))).toMatchObject({
        type: "guardrail_violation",
      });
    }
    // One malformed escape leaves the others what they are.
    const escaped = `data:text/plain,%zz%66orbidden%`;
    expect(await refusal(CHAT, file(escaped))).toMatchObject({ param: "no-bad" });
    const svg = `data:image/svg+xml;base64,${base64(`<svg><text>${BAD}</text></svg>`)}`;
    expect(await refusal(CHAT, file(svg))).toMatchObject({ param: "no-bad" });
  });

  it("passes where it is a picture", async () => {
    const url = `data:image/png;base64,${base64("x".repeat(300))}`;
    const response = await post(CHAT, user([{ type: "image_url", image_url: { url } }]));
    expect(response.status).toBe(200);
    expect(upstream.requests.at(-1)?.body.toString()).toContain(url);
  });
});

describe("members of media beside a text (F2)", () => {
  const decoys: object[] = [
    { data: "", format: "" },
    { data: "x", transcript: "hi" },
    { data: "AAAA", media_type: "image/png" },
    { file_data: "data:image/png;base64,AA" },
    { source: { bytes: "AA" }, format: "png" },
    { format: "png", source: { type: "base64", data: "AA" } },
  ];
  const models = ["m", "claude", "flash"];

  it.each(models.flatMap((model) => decoys.map((decoy) => [model, decoy] as const)))(
    "leave it judged, for %s: %j",
    async (model, decoy) => {
      const messages = [
        [{ role: "user", content: BAD, ...decoy }],
        [{ ...decoy, content: BAD, role: "user" }],
        [{ role: "user", content: [{ type: "text", ...decoy, text: BAD }] }],
        [{ role: "user", content: [{ ...decoy, text: BAD, type: "text" }] }],
      ];
      for (const one of messages) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other.
        expect(await refusal(CHAT, { model, messages: one })).toMatchObject({
          type: "guardrail_violation",
        });
      }
    },
  );

  it("leave a secret judged that goes to Gemini", async () => {
    const sent = {
      ...user("my value is AKIAQYLPMN5HFIQR7XYA", { data: "", format: "" }),
      model: "flash",
    };
    expect(await refusal(CHAT, sent)).toMatchObject({ param: "secrets" });
  });

  it.each([
    [
      "/anthropic/v1/messages",
      {
        model: "c",
        messages: [{ role: "user", content: [{ type: "text", text: BAD, data: "", format: "" }] }],
      },
    ],
    [
      "/gemini/v1beta/models/g:generateContent",
      { contents: [{ parts: [{ text: BAD, mimeType: "image/png", data: "AA" }] }] },
    ],
  ])("leave it judged in a native body: %s", async (path, body) => {
    expect(await refusal(path, body)).toMatchObject({ param: "no-bad" });
  });
});

describe("overrides of a fallback (F8)", () => {
  const schema = {
    type: "json_schema",
    json_schema: { name: "f", schema: { type: "object", description: BAD } },
  };
  const ask = (override: object): object => ({
    ...user("hi"),
    model: "failing",
    num_retries: 0,
    fallbacks: [{ model: "m", ...override }],
  });

  it.each([
    ["response_format", { response_format: schema }],
    ["Messages", { Messages: [{ role: "user", content: BAD }] }],
    ["system", { system: BAD }],
    ["stop", { stop: [BAD] }],
    ["models", { models: ["big"] }],
    ["reasoning_effort", { reasoning_effort: BAD }],
    ["temperature", { temperature: BAD }],
    ["max_tokens", { max_tokens: -1 }],
  ])("cannot set %s", async (name, override) => {
    expect(await refusal(CHAT, ask(override))).toMatchObject({
      type: "invalid_request_error",
      param: `fallbacks[0].${name}`,
    });
  });

  it("can set what holds no text", async () => {
    const response = await post(
      CHAT,
      ask({ temperature: 0.25, max_tokens: 5, reasoning_effort: "low" }),
    );
    expect(response.status).toBe(200);
    expect(upstream.lastBody()).toMatchObject({ temperature: 0.25, max_tokens: 5 });
  });
});

describe("what an upstream reads and the gateway does not (F10)", () => {
  const native = "/openai/v1/chat/completions";

  it.each<[string, object, string]>([
    [CHAT, { ...user("x"), Model: "big" }, "Model"],
    [CHAT, { ...user("x"), Messages: [{ role: "user", content: "y" }] }, "Messages"],
    [CHAT, { ...user("x"), ["me\u017f\u017fages"]: [] }, "me\u017f\u017fages"],
    [CHAT, user("x", { Content: "y" }), "messages[0].Content"],
    [CHAT, user([{ type: "text", text: "x", TEXT: "y" }]), "messages[0].content[0].TEXT"],
    [
      CHAT,
      { ...user("x"), tools: [{ type: "function", function: { name: "f", Parameters: {} } }] },
      "tools[0].function.Parameters",
    ],
    [CHAT, { ...user("x"), "top_\u212a": 1 }, "top_\u212a"],
    ["/v1/embeddings", { model: "m", input: "x", Input: "y" }, "Input"],
    ["/v1/images/generations", { model: "m", prompt: "x", Prompt: "y" }, "Prompt"],
    [native, { ...user("x"), Model: "big" }, "Model"],
    ["/anthropic/v1/messages", { ...user("x"), System: "y" }, "System"],
    [
      "/gemini/v1beta/models/g:generateContent",
      { contents: [{ Parts: [{ text: "x" }] }] },
      "contents[0].Parts",
    ],
  ])("is refused where names differ only by case: %s %j", async (path, body, param) => {
    expect(await refusal(path, body)).toMatchObject({ type: "invalid_request_error", param });
  });

  it("goes on where the names are the client's own", async () => {
    const parameters = {
      type: "object",
      properties: { Model: { type: "string" }, Content: {}, Type: {} },
    };
    const tools = [{ type: "function", function: { name: "f", parameters } }];
    const calls = [
      { id: "c", type: "function", function: { name: "f", arguments: '{"Model":1,"Content":2}' } },
    ];
    const messages = [
      { role: "assistant", content: null, tool_calls: calls },
      { role: "tool", tool_call_id: "c", content: "x" },
    ];
    expect(
      (await post(CHAT, { model: "m", messages, tools, metadata: { Model: "x" } })).status,
    ).toBe(200);
    const used = { type: "tool_use", id: "t", name: "f", input: { Text: "x", Role: "y" } };
    const claude = {
      model: "c",
      max_tokens: 1,
      messages: [{ role: "assistant", content: [used] }],
    };
    expect((await post("/anthropic/v1/messages", claude)).status).toBe(200);
  });

  it.each([
    ["models", ["openai/o1-pro"]],
    ["route", "fallback"],
    ["plugins", [{ id: "web" }]],
    ["provider", { order: ["x"] }],
    ["transforms", ["middle-out"]],
  ])("is refused where it chooses for OpenRouter: %s", async (name, value) => {
    const { key } = await createKey(gateway, { models: ["or-cheap"] });
    const headers = { authorization: `Bearer ${key}` };
    const body = { ...user("hi"), model: "or-cheap", [name]: value };
    expect(await refusal(CHAT, body, headers)).toMatchObject({ param: name });
    expect(
      await refusal("/router/v1/chat/completions", { ...body, model: "cheap" }, headers),
    ).toMatchObject({ param: name });
  });

  it("goes on where the target forwards it", async () => {
    const body = { ...user("hi"), model: "or-open", provider: { order: ["x"] } };
    expect((await post(CHAT, body)).status).toBe(200);
    expect(upstream.lastBody()).toMatchObject({ provider: { order: ["x"] } });
    seen = upstream.requests.length;
    expect(await refusal(CHAT, { ...body, models: ["y"] })).toMatchObject({ param: "models" });
  });
});

describe("members that hold words of a protocol (F13)", () => {
  it.each<object>([
    { format: { description: BAD } },
    { signature: `${BAD} thing` },
    { signature: BAD },
    { background: BAD },
    { id: BAD },
    { status: BAD },
    { detail: BAD },
    { encrypted_content: BAD },
    { type: "of_next_year", encrypted_content: BAD.repeat(80) },
    { [BAD]: 1 },
  ])("are judged where they hold another: %j", async (more) => {
    expect(await refusal(CHAT, { ...user("x"), ...more })).toMatchObject({ param: "no-bad" });
    expect(await refusal(CHAT, user("x", more))).toMatchObject({ param: "no-bad" });
    expect(await refusal("/openai/v1/chat/completions", { ...user("x"), ...more })).toMatchObject({
      param: "no-bad",
    });
  });

  it("are judged in metadata that a target gets", async () => {
    expect(
      await refusal(CHAT, { ...user("x"), model: "noted", metadata: { note: `so ${BAD}` } }),
    ).toMatchObject({
      param: "no-bad",
    });
    expect(
      await refusal(CHAT, { ...user("x"), model: "noted", metadata: { [BAD]: "x" } }),
    ).toMatchObject({ param: "no-bad" });
  });
});

describe("native bytes and addresses (F14)", () => {
  const native = "/openai/v1/chat/completions";

  it("are refused where they are no UTF-8", async () => {
    const [before = "", behind = ""] = JSON.stringify(user("for?bidden")).split("?");
    const bytes = Buffer.concat([Buffer.from(before), Buffer.from([0xff]), Buffer.from(behind)]);
    expect(await refusal(native, bytes)).toMatchObject({
      type: "guardrail_violation",
      param: "body",
    });
  });

  it.each([
    ["text/plain", JSON.stringify(user(BAD))],
    ["application/x-ndjson", JSON.stringify(user(BAD))],
    ["application/json", JSON.stringify([user(BAD)])],
    ["application/json", JSON.stringify(BAD)],
    [
      "multipart/form-data; boundary=b",
      `--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n${BAD}\r\n--b--\r\n`,
    ],
  ])("are judged or refused, as %s", async (type, body) => {
    expect(await refusal(native, body, { "content-type": type })).toMatchObject({
      type: "guardrail_violation",
    });
  });

  it.each([
    [`/openai/v1/chat/completions/${BAD}`, "guardrail_violation"],
    ["/openai/v1/chat/completions/%66orbidden", "guardrail_violation"],
    ["/openai/v1/chat/completions/%zz%66orbidden", "invalid_request_error"],
    ["/openai/v1/chat/completions?q=%66orbidden", "guardrail_violation"],
    ["/openai/v1/chat/completions?q=%zz%66orbidden", "guardrail_violation"],
  ])("are judged in %s: %s", async (path, type) => {
    expect(await refusal(path, user("x"))).toMatchObject({ type });
  });

  it("are judged in the path of a GET", async () => {
    const headers = { authorization: `Bearer ${gateway.masterKey}` };
    const ask = (path: string) => fetch(gateway.publicUrl + path, { headers });
    const refused = await ask(`/openai/v1/search/${BAD}`);
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { error: { type: "guardrail_violation", param: "no-bad" } },
    ]);
    expect(upstream.requests).toHaveLength(seen);
    expect((await ask("/openai/v1/search/allowed")).status).toBe(200);
  });
});

describe("a reply behind the prefix of a data URL (F1)", () => {
  it.each(PREFIXES)("is judged: %s", async (prefix) => {
    const said = `${prefix}${BAD} output`;
    const events = `data: ${JSON.stringify({ id: "c", choices: [{ index: 0, delta: { content: said } }] })}\n\ndata: [DONE]\n\n`;
    const message = JSON.stringify({
      id: "m",
      type: "message",
      role: "assistant",
      content: [{ type: "text", text: said }],
    });
    const start = {
      type: "content_block_start",
      index: 0,
      content_block: { type: "text", text: said },
    };
    for (const [type, body, path, stream] of [
      ["application/json", CHAT_REPLY(said), CHAT, false],
      [
        "application/json",
        CHAT_REPLY([{ type: "text", text: said }]),
        "/openai/v1/chat/completions",
        false,
      ],
      ["text/event-stream", events, CHAT, true],
      ["text/event-stream", events, "/openai/v1/chat/completions", true],
      ["application/json", message, "/anthropic/v1/messages", false],
      [
        "text/event-stream",
        `event: content_block_start\ndata: ${JSON.stringify(start)}\n\n`,
        "/anthropic/v1/messages",
        true,
      ],
      ["application/json", JSON.stringify(said), "/openai/v1/chat/completions", false],
      ["text/plain", said, "/openai/v1/chat/completions", false],
    ] as const) {
      upstream.reply(200, type, body);
      // oxlint-disable-next-line no-await-in-loop -- one after the other.
      const response = await post(path, { ...user("x"), max_tokens: 9, stream });
      // oxlint-disable-next-line no-await-in-loop -- as above.
      const text = await response.text();
      expect(text).toContain("guardrail_violation");
      expect(text).not.toContain(BAD);
    }
  });

  it("is judged beside members of media", async () => {
    const reply = {
      ...JSON.parse(CHAT_REPLY("x")),
      choices: [{ message: { role: "assistant", content: BAD, data: "", format: "" } }],
    };
    upstream.reply(200, "application/json", JSON.stringify(reply));
    expect((await post(CHAT, user("x"))).status).toBe(400);
    expect((await post("/openai/v1/chat/completions", user("x"))).status).toBe(400);
  });
});

describe("a prompt that is no text", () => {
  const TOKENS = [40, 2733, 1];
  it.each<readonly [string, string, object]>([
    ["tokens beside the messages", CHAT, { prompt_token_ids: TOKENS }],
    ["tokens of a server that declares no endpoints", "/dead/generate", { input_ids: TOKENS }],
    ["lists of tokens", "/openai/v1/completions", { prompt: [TOKENS] }],
    ["tokens as inputs", "/dead/embed", { inputs: [TOKENS] }],
    ["vectors", "/openai/v1/completions", { prompt_embeds: "AAAA" }],
    [
      "a template that joins what was judged apart",
      "/dead/api/generate",
      { prompt: "x", template: '{{ "forb" }}{{ "idden" }}' },
    ],
    ["the same in Jinja", CHAT, { chat_template: "{{ 'forb' ~ 'idden' }}" }],
  ])("does not pass: %s", async (_name, path, members) => {
    const response = await post(path, { ...user("x"), ...members });
    expect(await response.text()).toContain("guardrail_violation");
    expect(response.status).toBe(400);
    expect(upstream.requests).toHaveLength(seen);
  });

  it("is not seen in settings", async () => {
    const response = await post(CHAT, {
      ...user("x"),
      stop_token_ids: [1, 2],
      chat_template_kwargs: { enable_thinking: false },
    });
    expect(response.status).toBe(200);
  });
});
