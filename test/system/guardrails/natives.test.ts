/**
 * A forbidden word in requests and replies of providers' own APIs, whole and streamed: no dialect
 * is a way around.
 */

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { guardedWorkspace } from "./guardrails.fixture.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";

const BAD = "forbidden";
const MASKED = "maskme";
const LEAD = "A harmless beginning that is long enough to be released. ";

let upstream: NativeUpstream;
let gateway: GatewayProcess;
let seen = 0;

beforeAll(async () => {
  upstream = await createNativeUpstream();
  const keys = 'api_key: "${env:NATIVE_KEY}"';
  const workspace = guardedWorkspace({
    providers: [
      `gemini: { use: gemini, ${keys}, base_url: ${upstream.url} }`,
      `cohere: { use: cohere, ${keys}, base_url: ${upstream.url} }`,
      `mistral: { use: mistral, ${keys}, base_url: ${upstream.url} }`,
      `anthropic: { use: anthropic, ${keys}, base_url: ${upstream.url} }`,
      `bedrock: { use: bedrock, region: us-east-1, ${keys}, base_url: ${upstream.url} }`,
    ],
    guardrails: [
      `no-bad: { use: forbid, word: ${BAD} }`,
      `mask: { use: forbid, word: ${MASKED}, action: mask }`,
    ],
    step: "{ input: [no-bad, mask], output: [no-bad, mask] }",
  });
  gateway = await startGateway(workspace, { NATIVE_KEY: "a-native-credential-0123456789" });
});
beforeEach(() => void (seen = upstream.requests.length));
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const PATHS = {
  gemini: "/gemini/v1beta/models/gemini-3-flash:generateContent",
  cohere: "/cohere/v2/chat",
  mistral: "/mistral/v1/chat/completions",
  anthropic: "/anthropic/v1/messages",
  bedrock: "/bedrock/model/claude/converse",
} as const;
type Name = keyof typeof PATHS;

/** The model of the path, where it stands there. */
const IN_PATH: Partial<Record<Name, object>> = {
  gemini: { model: "gemini-3-flash" },
  bedrock: { model: "claude" },
};

function post(name: Name, body: object): Promise<Response> {
  return fetch(`${gateway.publicUrl}${PATHS[name]}`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.masterKey}`, "content-type": "application/json" },
    // Where the path names the model, a body that names another is refused.
    body: JSON.stringify({ ...body, ...IN_PATH[name] }),
  });
}

function answer(type: string, body: string): void {
  upstream.answer((response) => response.writeHead(200, { "content-type": type }).end(body));
}

/**
 * A request of each API that says nothing of note. Where the path names the model, the body does
 * not.
 */
const asked = (name: Name): object =>
  name === "gemini"
    ? { contents: [] }
    : name === "bedrock"
      ? { messages: [] }
      : { model: "m", messages: [] };

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** Requests with a text in each place. */
function places(text: string): [Name, string, object][] {
  const contents = (...parts: object[]): object => ({ contents: [{ role: "user", parts }] });
  const converse = (...content: object[]): object => ({ messages: [{ role: "user", content }] });
  const claude = (...content: object[]): object => ({
    model: "c",
    max_tokens: 9,
    messages: [{ role: "user", content }],
  });
  const chat = (more: object): object => ({
    model: "m",
    messages: [{ role: "user", content: "x" }],
    ...more,
  });
  const schema = { type: "object", properties: { a: { type: "string", description: text } } };
  return [
    ["gemini", "text", contents({ text: "a" }, { text })],
    ["gemini", "system", { ...contents({ text: "a" }), systemInstruction: { parts: [{ text }] } }],
    [
      "gemini",
      "arguments of a call",
      contents({ functionCall: { name: "f", args: { q: [text] } } }),
    ],
    [
      "gemini",
      "result of a call",
      contents({ functionResponse: { name: "f", response: { said: text } } }),
    ],
    [
      "gemini",
      "tool description",
      {
        ...contents({ text: "a" }),
        tools: [{ functionDeclarations: [{ name: "f", description: text }] }],
      },
    ],
    [
      "gemini",
      "parameters",
      {
        ...contents({ text: "a" }),
        tools: [{ functionDeclarations: [{ name: "f", parameters: schema }] }],
      },
    ],
    [
      "gemini",
      "document",
      contents({ inlineData: { mimeType: "text/plain", data: base64(text) } }),
    ],
    ["gemini", "code", contents({ executableCode: { language: "PYTHON", code: text } })],
    ["cohere", "text", chat({ messages: [{ role: "user", content: [{ type: "text", text }] }] })],
    ["cohere", "document", chat({ documents: [{ id: "d", data: { title: "t", snippet: text } }] })],
    ["cohere", "plain document", chat({ documents: [text] })],
    [
      "cohere",
      "plan",
      chat({ messages: [{ role: "assistant", tool_plan: text, tool_calls: [] }] }),
    ],
    [
      "cohere",
      "result of a call",
      chat({
        messages: [
          {
            role: "tool",
            tool_call_id: "c",
            content: [{ type: "document", document: { data: { r: text } } }],
          },
        ],
      }),
    ],
    ["mistral", "text", chat({ messages: [{ role: "user", content: text }] })],
    [
      "mistral",
      "thinking",
      chat({
        messages: [
          {
            role: "assistant",
            content: [{ type: "thinking", thinking: [{ type: "text", text }] }],
          },
        ],
      }),
    ],
    ["mistral", "prediction", chat({ prediction: { type: "content", content: text } })],
    ["anthropic", "text", claude({ type: "text", text })],
    [
      "anthropic",
      "system",
      { ...claude({ type: "text", text: "a" }), system: [{ type: "text", text }] },
    ],
    [
      "anthropic",
      "result of a call",
      claude({ type: "tool_result", tool_use_id: "t", content: [{ type: "text", text }] }),
    ],
    [
      "anthropic",
      "arguments of a call",
      claude({ type: "tool_use", id: "t", name: "f", input: { q: { deep: text } } }),
    ],
    [
      "anthropic",
      "document",
      claude({
        type: "document",
        source: { type: "base64", media_type: "text/plain", data: base64(text) },
      }),
    ],
    [
      "anthropic",
      "search result",
      claude({ type: "search_result", source: "s", title: text, content: [] }),
    ],
    ["bedrock", "text", converse({ text })],
    ["bedrock", "system", { ...converse({ text: "a" }), system: [{ text }] }],
    [
      "bedrock",
      "document",
      converse({ document: { format: "txt", name: "n", source: { bytes: base64(text) } } }),
    ],
    [
      "bedrock",
      "name of a document",
      converse({ document: { format: "txt", name: text, source: { bytes: base64("x") } } }),
    ],
    [
      "bedrock",
      "result of a call",
      converse({ toolResult: { toolUseId: "t", content: [{ json: { r: text } }] } }),
    ],
    [
      "bedrock",
      "arguments of a call",
      converse({ toolUse: { toolUseId: "t", name: "f", input: { q: text } } }),
    ],
    [
      "bedrock",
      "tool description",
      {
        ...converse({ text: "a" }),
        toolConfig: {
          tools: [{ toolSpec: { name: "f", description: text, inputSchema: { json: schema } } }],
        },
      },
    ],
  ];
}

describe("a forbidden word in a native request", () => {
  it.each(places(BAD))("of %s, in: %s, is refused before any call", async (name, _place, body) => {
    const response = await post(name, body);
    expect(await response.json()).toMatchObject({
      error: { type: "guardrail_violation", param: "no-bad" },
    });
    expect(upstream.requests).toHaveLength(seen);
  });

  it.each(places(MASKED))(
    "of %s, in: %s, is masked where masking is asked for",
    async (name, _place, body) => {
      answer("application/json", "{}");
      await post(name, body);
      const sent =
        upstream.requests[seen]?.body.toString("utf8").replaceAll(base64("***"), "***") ?? "";
      expect(sent).toContain("***");
      expect(sent).not.toMatch(/maskme|bWFza21l/);
    },
  );

  it("in a file without readable text is refused", async () => {
    const document = { format: "pdf", name: "n", source: { bytes: base64("x") } };
    const response = await post("bedrock", {
      messages: [{ role: "user", content: [{ document }] }],
    });
    expect(await response.json()).toMatchObject({ error: { type: "guardrail_violation" } });
    expect(upstream.requests).toHaveLength(seen);
  });
});

const event = (value: object, name?: string): string =>
  `${name === undefined ? "" : `event: ${name}\n`}data: ${JSON.stringify(value)}\n\n`;

/** How each API streams a text, piece by piece. */
const STREAMS: readonly [Name, string, (piece: string) => string, string][] = [
  [
    "gemini",
    "text",
    (text) => event({ candidates: [{ index: 0, content: { role: "model", parts: [{ text }] } }] }),
    "",
  ],
  [
    "gemini",
    "thought",
    (text) =>
      event({
        candidates: [{ index: 0, content: { role: "model", parts: [{ text, thought: true }] } }],
      }),
    event({
      candidates: [{ index: 0, finishReason: "STOP" }],
      usageMetadata: { totalTokenCount: 1 },
    }),
  ],
  [
    "cohere",
    "text",
    (text) => event({ type: "content-delta", index: 0, delta: { message: { content: { text } } } }),
    event({ type: "content-end", index: 0 }) +
      event({ type: "message-end", delta: { finish_reason: "COMPLETE" } }),
  ],
  [
    "cohere",
    "plan",
    (text) => event({ type: "tool-plan-delta", delta: { message: { tool_plan: text } } }),
    "",
  ],
  [
    "cohere",
    "arguments",
    (text) =>
      event({
        type: "tool-call-delta",
        index: 1,
        delta: { message: { tool_calls: { function: { arguments: text } } } },
      }),
    event({ type: "tool-call-end", index: 1 }),
  ],
  [
    "mistral",
    "text",
    (content) =>
      event({ object: "chat.completion.chunk", choices: [{ index: 0, delta: { content } }] }),
    "data: [DONE]\n\n",
  ],
  [
    "mistral",
    "thinking",
    (text) => {
      const thinking = [{ type: "text", text }];
      return event({
        choices: [{ index: 0, delta: { content: [{ type: "thinking", thinking }] } }],
      });
    },
    "data: [DONE]\n\n",
  ],
  [
    "anthropic",
    "text",
    (text) =>
      event(
        { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
        "content_block_delta",
      ),
    event({ type: "content_block_stop", index: 0 }, "content_block_stop") +
      event({ type: "message_stop" }, "message_stop"),
  ],
];

/** Every text that stands under one of these names in the events, in order. */
function saidIn(body: string): string {
  return [...body.matchAll(/"(?:text|content|tool_plan|arguments)":"((?:[^"\\]|\\.)*)"/g)]
    .map(([, text]) => text)
    .join("");
}

describe.each(STREAMS)("a native stream of %s, %s", (name, _what, piece, end) => {
  const stream = (text: string, size: number): string => {
    const pieces = text.match(new RegExp(`.{1,${size}}`, "gs")) ?? [];
    return pieces.map(piece).join("") + end;
  };

  it.each([1, 2, 4])(
    "does not say a forbidden word in pieces of %i characters: the connection is cut",
    async (size) => {
      answer("text/event-stream", stream(`${LEAD}${BAD} tail`, size));
      const response = await post(name, asked(name));
      let body = "";
      const read = async (): Promise<void> => {
        for await (const chunk of response.body ?? []) body += Buffer.from(chunk).toString("utf8");
      };
      await expect(read()).rejects.toBeInstanceOf(Error);
      expect(LEAD.startsWith(saidIn(body))).toBe(true);
    },
  );

  it("that begins with a forbidden word is an answer with a status of its own", async () => {
    answer("text/event-stream", stream(`${LEAD}${BAD} tail`, 200));
    const response = await post(name, asked(name));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { type: "guardrail_violation", param: "no-bad" },
    });
  });

  it.each([1, 3, 200])(
    "is masked in pieces of %i characters, and otherwise as it came",
    async (size) => {
      answer("text/event-stream", stream(`${LEAD}${MASKED} and ${MASKED}.`, size));
      const body = await (await post(name, asked(name))).text();
      const said = saidIn(body);
      expect(said.split("***")).toHaveLength(3);
      expect(said).not.toContain(MASKED);
      answer("text/event-stream", stream(LEAD, size));
      expect(await (await post(name, asked(name))).text()).toBe(stream(LEAD, size));
    },
  );
});

describe("a native reply that is whole", () => {
  it.each<[Name, object]>([
    [
      "gemini",
      {
        candidates: [
          {
            content: {
              parts: [{ text: MASKED }, { functionCall: { name: "f", args: { q: MASKED } } }],
            },
          },
        ],
      },
    ],
    [
      "cohere",
      {
        message: { content: [{ type: "text", text: MASKED }], citations: [{ text: MASKED }] },
        finish_reason: "COMPLETE",
      },
    ],
    [
      "mistral",
      {
        choices: [
          {
            message: {
              content: [{ type: "thinking", thinking: [{ type: "text", text: MASKED }] }],
            },
          },
        ],
      },
    ],
    [
      "bedrock",
      {
        output: {
          message: {
            content: [{ text: MASKED }, { toolUse: { toolUseId: "t", input: { q: MASKED } } }],
          },
        },
      },
    ],
  ])("of %s is judged in all of its texts", async (name, reply) => {
    answer("application/json", JSON.stringify(reply));
    const body = await (await post(name, asked(name))).text();
    expect(body).toBe(JSON.stringify(reply).replaceAll(MASKED, "***"));
    answer("application/json", JSON.stringify(reply).replaceAll(MASKED, BAD));
    expect((await post(name, asked(name))).status).toBe(400);
  });
});

describe("unreadable content", () => {
  it.each([
    ["an event of no known kind that holds text", event({ type: "novel.delta", said: "hello" })],
    ["an event that is no object", 'data: ["hello"]\n\n'],
    ["an event that is no JSON", "data: hello\n\n"],
  ])("does not pass: %s", async (_what, body) => {
    answer("text/event-stream", body);
    const text = await (await post("mistral", asked("mistral"))).text();
    expect(text).toMatch(
      /The guardrails cannot read the events|an event that is not a JSON object/,
    );
    expect(text).not.toContain("hello");
  });

  it("does not pass: a binary stream of Bedrock", async () => {
    answer("application/vnd.amazon.eventstream", "\u0000\u0000hello");
    const text = await (await post("bedrock", asked("bedrock"))).text();
    expect(JSON.parse(text)).toMatchObject({ error: { type: "guardrail_violation" } });
  });
});

describe("content unknown to the dialect", () => {
  it.each<[Name, string]>([
    [
      "mistral",
      event({ choices: [{ index: 0, delta: { content: "x", novel: [{ said: BAD }] } }] }),
    ],
    [
      "mistral",
      event({ choices: [{ index: 0, delta: { content: "x" }, message: { content: BAD } }] }),
    ],
    [
      "mistral",
      event({ choices: [{ index: 0, delta: { content: "x" } }], search_results: [{ title: BAD }] }),
    ],
    [
      "mistral",
      event({
        choices: [
          { index: 0, delta: { reasoning_details: [{ type: "reasoning.text", text: BAD }] } },
        ],
      }),
    ],
    [
      "anthropic",
      event({
        type: "content_block_delta",
        index: 0,
        delta: { type: "citations_delta", citation: { cited_text: BAD } },
      }),
    ],
    [
      "anthropic",
      event({
        type: "content_block_start",
        index: 0,
        content_block: { type: "web_search_tool_result", content: [{ title: BAD }] },
      }),
    ],
    [
      "gemini",
      event({ candidates: [{ content: { parts: [{ executableCode: { code: BAD } }] } }] }),
    ],
    [
      "gemini",
      event({
        candidates: [{ content: { parts: [] }, groundingMetadata: { webSearchQueries: [BAD] } }],
      }),
    ],
    [
      "cohere",
      event({ type: "citation-start", index: 0, delta: { message: { citations: { text: BAD } } } }),
    ],
    ["mistral", event({ error: { message: BAD } })],
  ])("is checked as it is: %s %s", async (name, body) => {
    answer("text/event-stream", body);
    const text = await (await post(name, asked(name))).text();
    expect(text).toContain("guardrail_violation");
    expect(text).not.toContain(BAD);
  });
});

describe("blocks that are plain strings", () => {
  const blocks = (...content: unknown[]): object => ({
    model: "m",
    messages: [{ role: "user", content }],
  });
  const halves = (word: string): readonly [string, string] => [word.slice(0, 3), word.slice(3)];

  it.each<[Name, string, (...pieces: unknown[]) => object]>([
    ["mistral", "content", blocks],
    [
      "mistral",
      "a string before a block",
      (first, second) => blocks(first, { type: "text", text: second }),
    ],
    [
      "mistral",
      "a block before a string",
      (first, second) => blocks({ type: "text", text: first }, second),
    ],
    ["anthropic", "system", (...system) => ({ model: "m", max_tokens: 9, messages: [], system })],
    ["gemini", "parts", (...parts) => ({ contents: [{ role: "user", parts }] })],
  ])("are judged together: %s, %s", async (name, _place, body) => {
    const response = await post(name, body(...halves(BAD)));
    expect(await response.json()).toMatchObject({
      error: { type: "guardrail_violation", param: "no-bad" },
    });
    expect(upstream.requests).toHaveLength(seen);
    answer("application/json", "{}");
    await post(name, body(...halves(MASKED)));
    const sent = upstream.requests[seen]?.body.toString("utf8") ?? "";
    expect(sent).toContain("***");
    expect(sent).not.toMatch(/mas"|kme/);
  });
});

describe("a whole JSON reply that calls itself an event stream", () => {
  const reply = (content: string): object => ({
    choices: [{ message: { role: "assistant", content }, finish_reason: "stop" }],
  });

  it.each(["", "\n ", "\ufeff"])("is judged as JSON behind %j", async (before) => {
    answer("text/event-stream", before + JSON.stringify(reply(MASKED)));
    const masked = await post("mistral", asked("mistral"));
    expect(JSON.parse((await masked.text()).trim())).toEqual(reply("***"));
    answer("text/event-stream", before + JSON.stringify(reply(BAD)));
    expect((await post("mistral", asked("mistral"))).status).toBe(400);
    answer("text/event-stream", before + JSON.stringify(reply("fine")));
    expect(await (await post("mistral", asked("mistral"))).text()).toContain("fine");
  });

  it("that is empty stays empty", async () => {
    answer("text/event-stream", "");
    expect(await (await post("mistral", asked("mistral"))).text()).toBe("");
  });
});

describe("a count of tokens at Bedrock", () => {
  const count = (input: object): Promise<Response> =>
    fetch(`${gateway.publicUrl}/bedrock/model/claude/count-tokens`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.masterKey}`, "content-type": "application/json" },
      body: JSON.stringify({ input }),
    });

  it("is refused where its request is encoded: the upstream would read what nothing judges", async () => {
    const messages = [{ role: "user", content: `A ${BAD} word.` }];
    const body = Buffer.from(JSON.stringify({ messages })).toString("base64");
    const response = await count({ invokeModel: { body } });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: "input" } });
    expect(upstream.requests.length).toBe(seen);
  });

  it("is judged where its request stands there as it is", async () => {
    upstream.reply(200, "application/json", JSON.stringify({ inputTokens: 3 }));
    const asked = (text: string) =>
      count({ converse: { messages: [{ role: "user", content: [{ text }] }] } });
    expect((await asked(`A ${BAD} word.`)).status).toBe(400);
    expect(upstream.requests.length).toBe(seen);
    expect((await asked("A fine word.")).status).toBe(200);
    expect(upstream.requests.length).toBe(seen + 1);
  });
});
