/**
 * A forbidden word in every place of requests and replies, whole and streamed, on every route that
 * carries texts.
 */

import { readFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { chat, configStatus, createKey, rowsOf } from "../support/client.ts";
import { findingsOf } from "../support/findings.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { eventually } from "../support/eventually.ts";
import { guardedWorkspace } from "./guardrails.fixture.ts";
import type { Workspace } from "../support/workspace.ts";

/** With a character of four bytes, so that a cut may fall inside of it. */
const BAD = "f\u{1F600}rbidden";
const MASKED = "maskme";
const SECRET = "alice@example.com";

let upstream: Upstream;
let gateway: GatewayProcess;
let workspace: Workspace;

beforeAll(async () => {
  upstream = await createUpstream();
  workspace = guardedWorkspace({
    baseUrl: upstream.baseUrl,
    attempts: 1,
    guardrails: [
      `no-bad: { use: forbid, word: "${BAD}" }`,
      `mask: { use: forbid, word: ${MASKED}, action: mask }`,
      `hide: { use: forbid, word: "${SECRET}", action: restore }`,
      "extra: { use: forbid, word: extra-word }",
      "hidden: { use: forbid, word: hidden-word, only_named: true }",
      "watch: { use: forbid, word: watched, mode: shadow }",
      "thrower: { use: faulty, how: throw }",
      "hanger: { use: faulty, how: hang, budget_ms: 50 }",
      "babbler: { use: faulty, how: invalid }",
      "liar: { use: faulty, how: spans }",
      "mutant: { use: faulty, how: mutate }",
      "busy: { use: faulty, how: busy, budget_ms: 50 }",
      "lenient: { use: faulty, how: throw, on_error: skip }",
    ],
    step: "{ input: [no-bad, mask, hide, watch], output: [no-bad, mask, watch] }",
  });
  gateway = await startGateway(workspace);
});
afterEach(() => upstream.reset());
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const user = (content: unknown): object => ({ role: "user", content });
const body = (more: object, ...messages: object[]): object => ({
  model: "gpt-4o-mini",
  messages: [...messages, user("hello")],
  ...more,
});
const call = (text: string): object => ({
  id: "c1",
  type: "function",
  function: { name: "f", arguments: `{"q":${text}}` },
});
const tool = (more: object): object => ({
  type: "function",
  function: { name: "f", parameters: { type: "object", properties: {} }, ...more },
});

function post(path: string, sent: object, init: RequestInit = {}): Promise<Response> {
  return fetch(`${gateway.publicUrl}${path}`, {
    method: "POST",
    ...init,
    headers: {
      authorization: `Bearer ${gateway.masterKey}`,
      "content-type": "application/json",
      ...init.headers,
    },
    body: JSON.stringify(sent),
  });
}

/** Requests with a text in each place. */
function places(text: string): [string, string, object][] {
  const path = "/v1/chat/completions";
  const json = JSON.stringify(text);
  const escaped = `"\\u006${text.startsWith("f") ? "6" : "d"}${text.slice(1)}"`;
  const base64 = Buffer.from(text).toString("base64");
  return [
    ["system", path, body({}, { role: "system", content: text })],
    ["developer", path, body({}, { role: "developer", content: text })],
    ["user", path, body({}, user(`x ${text} y`))],
    ["assistant", path, body({}, { role: "assistant", content: text })],
    [
      "second text block",
      path,
      body(
        {},
        user([
          { type: "text", text: "a" },
          { type: "text", text },
        ]),
      ),
    ],
    [
      "tool result",
      path,
      body(
        {},
        { role: "assistant", content: null, tool_calls: [call("1")] },
        { role: "tool", tool_call_id: "c1", content: text },
      ),
    ],
    [
      "tool-call arguments",
      path,
      body(
        {},
        { role: "assistant", content: null, tool_calls: [call(json)] },
        { role: "tool", tool_call_id: "c1", content: "r" },
      ),
    ],
    [
      "escaped arguments",
      path,
      body(
        {},
        { role: "assistant", content: null, tool_calls: [call(escaped)] },
        { role: "tool", tool_call_id: "c1", content: "r" },
      ),
    ],
    ["tool description", path, body({ tools: [tool({ description: text })] })],
    [
      "parameter description",
      path,
      body({
        tools: [
          tool({
            parameters: {
              type: "object",
              properties: { a: { type: "string", description: text } },
            },
          }),
        ],
      }),
    ],
    ["legacy function message", path, body({}, { role: "function", name: "f", content: text })],
    [
      "legacy function call",
      path,
      body(
        {},
        {
          role: "assistant",
          content: null,
          function_call: { name: "f", arguments: `{"q":${json}}` },
        },
      ),
    ],
    [
      "legacy functions",
      path,
      body({
        functions: [
          { name: "f", description: text, parameters: { type: "object", properties: {} } },
        ],
      }),
    ],
    ["prediction", path, body({ prediction: { type: "content", content: text } })],
    ["name", path, body({}, { role: "user", name: text, content: "x" })],
    [
      "document as base64",
      path,
      body(
        {},
        user([
          {
            type: "file",
            file: { filename: "a.txt", file_data: `data:text/plain;base64,${base64}` },
          },
        ]),
      ),
    ],
    ["image prompt", "/v1/images/generations", { model: "gpt-4o-mini", prompt: text }],
    ["embedding input", "/v1/embeddings", { model: "gpt-4o-mini", input: text }],
    ["embedding input k", "/v1/embeddings", { model: "gpt-4o-mini", input: ["a", "b", text] }],
    ["native chat", "/openai/v1/chat/completions", body({}, user(text))],
    [
      "native response input",
      "/openai/v1/chat/completions",
      { model: "m", input: [{ role: "user", content: [{ type: "input_text", text }] }] },
    ],
  ];
}

describe("a forbidden word in a request", () => {
  it.each(places(BAD))("in: %s, is refused before any call", async (_place, path, sent) => {
    const response = await post(path, sent);
    const text = await response.text();
    expect(JSON.parse(text)).toMatchObject({
      error: { type: "guardrail_violation", code: 400, param: "no-bad" },
    });
    expect(text).not.toContain(BAD);
    expect(upstream.requests).toHaveLength(0);
  });

  it.each(places(MASKED))(
    "in: %s, is masked where masking is asked for",
    async (_place, path, sent) => {
      await post(path, sent);
      expect(upstream.requests).toHaveLength(1);
      const seen = upstream.requests[0]!.body.replaceAll(
        Buffer.from("***").toString("base64"),
        "***",
      );
      expect(seen).toContain("***");
      expect(seen).not.toMatch(/maskme|bWFza21l/);
    },
  );

  it("split over two blocks of text, is refused", async () => {
    const response = await chat(
      gateway,
      body(
        {},
        user([
          { type: "text", text: BAD.slice(0, 4) },
          { type: "text", text: BAD.slice(4) },
        ]),
      ),
    );
    expect(response.status).toBe(400);
  });

  it("in a repeated member is refused", async () => {
    const sent = `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"${BAD}","content":"hello"}]}`;
    for (const path of ["/v1/chat/completions", "/openai/v1/chat/completions"]) {
      upstream.reset();
      const headers = {
        authorization: `Bearer ${gateway.masterKey}`,
        "content-type": "application/json",
      };
      // oxlint-disable-next-line no-await-in-loop -- one after the other.
      const response = await fetch(`${gateway.publicUrl}${path}`, {
        method: "POST",
        headers,
        body: sent,
      });
      expect(response.status).toBe(400);
      // oxlint-disable-next-line no-await-in-loop -- one after the other.
      expect(await response.json()).toMatchObject({ error: { param: "messages" } });
      expect(upstream.requests).toHaveLength(0);
    }
  });

  it("in the query of a native request, is refused", async () => {
    const query = new URLSearchParams({ q: `x ${BAD}` });
    const response = await post(`/openai/v1/chat/completions?${String(query)}`, body({}));
    expect(await response.json()).toMatchObject({ error: { param: "no-bad" } });
    expect(upstream.requests).toHaveLength(0);
  });

  it("in tokens instead of text, refuses the request", async () => {
    const response = await post("/v1/embeddings", { model: "gpt-4o-mini", input: [[1, 2, 3]] });
    expect(await response.json()).toMatchObject({ error: { code: 400, param: "input" } });
  });

  it("is reported in the row and the header, by names alone", async () => {
    const response = await chat(gateway, body({}, user(MASKED)));
    await response.text();
    expect(response.headers.get("x-sluice-guardrails")).toBe("no-bad,mask,hide,watch");
    const [row] = await rowsOf(gateway, response.headers.get("x-request-id"));
    expect(row!.metadata).toEqual({
      guardrails: [{ guardrail: "mask", direction: "input", verdict: "edit", mode: "enforce" }],
    });
  });
});

/** The content of a streamed reply, and the events that were no chunks. */
async function read(
  response: Response,
): Promise<{ content: string; args: string; error: unknown; isDone: boolean }> {
  const events = (await response.text())
    .split("\n\n")
    .filter((event) => event.startsWith("data: "));
  const isDone = events.at(-1) === "data: [DONE]";
  const chunks = events
    .filter((event) => event !== "data: [DONE]")
    .map((event) => JSON.parse(event.slice(6)));
  const deltas = chunks.flatMap((chunk) => chunk.choices ?? []).map((choice) => choice.delta ?? {});
  return {
    content: deltas.map((delta) => delta.content ?? "").join(""),
    args: deltas
      .flatMap((delta) => delta.tool_calls ?? [])
      .map((one) => one.function?.arguments ?? "")
      .join(""),
    error: chunks.find((chunk) => chunk.error !== undefined)?.error,
    isDone,
  };
}

/** Events that say a text in pieces of so many characters. */
function eventsOf(text: string, size: number): string {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += size) pieces.push(text.slice(at, at + size));
  const chunk = (delta: object, finish: string | null): string =>
    `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  return [
    chunk({ role: "assistant", content: "" }, null),
    ...pieces.map((content) => chunk({ content }, null)),
    chunk({}, "stop"),
    "data: [DONE]\n\n",
  ].join("");
}

const LEAD = "A harmless beginning that is long enough to be released. ";
const SIZES = [1, 2, 3, 5, 8, 200];

describe("a forbidden word in a reply", () => {
  it.each(SIZES.slice(0, -1))(
    "is blocked in pieces of %i characters: nothing of it leaves",
    async (size) => {
      upstream.script({
        kind: "bytes",
        contentType: "text/event-stream",
        body: eventsOf(`${LEAD}${BAD} tail`, size),
      });
      const { content, error, isDone } = await read(await chat(gateway, body({ stream: true })));
      expect(error).toMatchObject({ type: "guardrail_violation", param: "no-bad" });
      expect(isDone).toBe(false);
      expect(LEAD.startsWith(content)).toBe(true);
      expect(content.length).toBeGreaterThan(20);
    },
  );

  it.each(SIZES)("is masked in pieces of %i characters", async (size) => {
    upstream.script({
      kind: "bytes",
      contentType: "text/event-stream",
      body: eventsOf(`${LEAD}${MASKED} and ${MASKED}`, size),
    });
    const { content, isDone } = await read(await chat(gateway, body({ stream: true })));
    expect(content).toBe(`${LEAD}*** and ***`);
    expect(isDone).toBe(true);
  });

  it("at its start is an answer with a status of its own", async () => {
    upstream.script({ kind: "reply", text: `${BAD} and more` });
    const response = await chat(gateway, body({ stream: true }));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { type: "guardrail_violation" } });
  });

  it("whole is blocked, or masked", async () => {
    upstream.script({ kind: "reply", text: `so ${BAD}` });
    expect((await chat(gateway, body({}))).status).toBe(400);
    upstream.script({ kind: "reply", text: `so ${MASKED}` });
    expect(await (await chat(gateway, body({}))).json()).toMatchObject({
      choices: [{ message: { content: "so ***" } }],
    });
  });

  it.each([true, false])("in the arguments of a call is masked; streamed: %s", async (stream) => {
    upstream.script({
      kind: "reply",
      toolCalls: [{ name: "f", arguments: `{"a":"${MASKED}","b":"\\u006daskme"}` }],
    });
    const response = await chat(gateway, body({ stream, tools: [tool({})] }));
    const args = stream
      ? (await read(response)).args
      : (
          (await response.json()) as {
            choices: { message: { tool_calls: { function: { arguments: string } }[] } }[];
          }
        ).choices[0]!.message.tool_calls[0]!.function.arguments;
    expect(JSON.parse(args)).toEqual({ a: "***", b: "***" });
  });

  it("on a native stream is masked, with the events' names kept", async () => {
    upstream.script({
      kind: "bytes",
      contentType: "text/event-stream",
      body: eventsOf(`${LEAD}${MASKED}.`, 3),
    });
    const { content, isDone } = await read(
      await post("/openai/v1/chat/completions", body({ stream: true })),
    );
    expect(content).toBe(`${LEAD}***.`);
    expect(isDone).toBe(true);
  });

  it("whose row says what cut it", async () => {
    upstream.script({
      kind: "bytes",
      contentType: "text/event-stream",
      body: eventsOf(`${LEAD}${BAD}${LEAD}`, 4),
    });
    const response = await chat(gateway, body({ stream: true }));
    await response.text();
    const [row] = await rowsOf(gateway, response.headers.get("x-request-id"));
    expect(row).toMatchObject({ status: "partial", error_code: "guardrail_violation" });
    expect(JSON.stringify(row)).not.toContain(BAD);
  });
});

describe("what is masked and comes back", () => {
  it.each(["whole", 1, 4])(
    "is not shown to the upstream, and is in the reply: %s",
    async (size) => {
      const reply = "I wrote to [WORD_1] today, [WORD_1]; not to [WORD_2].";
      upstream.script(
        typeof size === "number"
          ? { kind: "bytes", contentType: "text/event-stream", body: eventsOf(reply, size) }
          : { kind: "reply", text: reply },
      );
      const response = await chat(
        gateway,
        body({ stream: size !== "whole" }, user(`mail ${SECRET} and ${SECRET}`)),
      );
      const content =
        size === "whole"
          ? ((await response.json()) as { choices: { message: { content: string } }[] }).choices[0]!
              .message.content
          : (await read(response)).content;
      expect(upstream.requests[0]!.body).toContain("mail [WORD_1] and [WORD_1]");
      expect(upstream.requests[0]!.body).not.toContain(SECRET);
      expect(content).toBe(`I wrote to ${SECRET} today, ${SECRET}; not to [WORD_2].`);
    },
  );

  it("comes back in the arguments of a streamed call", async () => {
    upstream.script({
      kind: "reply",
      toolCalls: [{ name: "f", arguments: '{"to":"[WORD_1]"}' }],
      fragmentLength: 3,
    });
    const { args } = await read(
      await chat(gateway, body({ stream: true, tools: [tool({})] }, user(SECRET))),
    );
    expect(JSON.parse(args)).toEqual({ to: SECRET });
  });
});

describe("the guardrails of a request:", () => {
  it("a request adds one, and an unknown one is refused", async () => {
    expect((await chat(gateway, body({ guardrails: ["extra"] }, user("extra-word")))).status).toBe(
      400,
    );
    expect((await chat(gateway, body({}, user("extra-word")))).status).toBe(200);
    const unknown = await chat(gateway, body({ guardrails: ["extra", "absent"] }));
    expect(await unknown.json()).toMatchObject({ error: { code: 400, param: "guardrails[1]" } });
  });

  it("one with only_named does not exist for a key that does not name it", async () => {
    const answer = async (key: string, name: string) => {
      const headers = { authorization: `Bearer ${key}` };
      const sent = body({ guardrails: ["extra", name] }, user("hidden-word"));
      const response = await chat(gateway, sent, { headers });
      return [response.status, (await response.text()).replaceAll(name, "NAME")];
    };
    const { key: other } = await createKey(gateway, {});
    const [status, text] = await answer(other, "hidden");
    expect([status, text]).toEqual(await answer(other, "absent"));
    expect(text).toContain("guardrails[1] names the guardrail");
    expect(text).toContain("does not exist or is not for this key");
    const { key: own } = await createKey(gateway, { guardrails: ["hidden"] });
    for (const key of [own, gateway.masterKey])
      expect(await answer(key, "hidden")).toEqual([
        400,
        expect.stringContaining('"param":"NAME"') as string,
      ]);
  });

  it("a key has its own, and a removed one refuses every request", async () => {
    const { key } = await createKey(gateway, { guardrails: ["extra"] });
    const headers = { authorization: `Bearer ${key}` };
    expect((await chat(gateway, body({}, user("extra-word")), { headers })).status).toBe(400);
    const { key: lost } = await createKey(gateway, { guardrails: ["gone"] });
    const response = await chat(gateway, body({}), {
      headers: { authorization: `Bearer ${lost}` },
    });
    expect(await response.json()).toMatchObject({ error: { code: 500, param: "gone" } });
    expect(upstream.requests).toHaveLength(0);
  });

  it("one in shadow mode changes nothing and is reported", async () => {
    const response = await chat(gateway, body({}, user("watched")));
    expect(response.status).toBe(200);
    await response.text();
    const [row] = await rowsOf(gateway, response.headers.get("x-request-id"));
    expect(row!.metadata.guardrails).toEqual([
      { guardrail: "watch", direction: "input", verdict: "block", mode: "shadow" },
    ]);
  });
});

describe("a guardrail that misbehaves", () => {
  it.each(["thrower", "hanger", "babbler", "liar", "mutant"])(
    "%s: the request fails, and the log names the culprit alone",
    async (name) => {
      const response = await chat(
        gateway,
        body({ guardrails: [name] }, user("TROUBLE with a secret")),
      );
      expect(await response.json()).toMatchObject({ error: { code: 500, param: name } });
      expect(upstream.requests).toHaveLength(0);
      expect(gateway.stderr + gateway.stdout).toContain(`"guardrail":"${name}"`);
      expect(gateway.stderr + gateway.stdout).not.toContain("TROUBLE");
    },
  );

  it("is skipped where its policy says so", async () => {
    const response = await chat(gateway, body({ guardrails: ["lenient"] }, user("TROUBLE")));
    expect(response.status).toBe(200);
  });

  it("that blocks the event loop is named in the log", async () => {
    const response = await chat(gateway, body({ guardrails: ["busy"] }, user("TROUBLE")));
    expect(response.status).toBe(200);
    expect(gateway.stderr + gateway.stdout).toMatch(/"guardrail":"busy".*held the event loop/);
  });
});

describe("a configuration that would guard nothing", () => {
  const broken: [string, string[], string, RegExp][] = [
    [
      "a guardrail that lets its own sample through",
      ["weak: { use: faulty, how: toothless }"],
      "{}",
      /gateway\.yaml:\d+:3 +The guardrail weak lets its own sample through/,
    ],
    [
      "one that cannot serve streams in windows",
      ["whole: { use: faulty, how: whole }"],
      "{ output: [whole] }",
      /chat\.yaml:\d+:\d+ +The guardrail whole judges whole texts only/,
    ],
    [
      "a name that no guardrail has",
      ["a: { use: faulty }"],
      "{ input: [b] }",
      /chat\.yaml:\d+:\d+ +The step names the guardrail "b"/,
    ],
  ];

  it.each(broken)("is refused: %s", async (_title, guardrails, step, finding) => {
    const workspace = guardedWorkspace({ guardrails, step });
    const findings = await findingsOf(workspace);
    workspace.remove();
    expect(findings).toMatch(finding);
  });

  it("keeps the old one serving: a reload is refused, with the place", async () => {
    const before = readFileSync(workspace.configPath, "utf8");
    workspace.write(before.replace("use: faulty, how: throw }", "use: faulty, how: toothless }"));
    const status = await eventually("the refusal", async () => {
      const { last_attempt: last } = await configStatus(gateway);
      return last.outcome === "refused" && last;
    });
    workspace.write(before);
    expect(status.findings[0]).toMatchObject({
      message: "The guardrail thrower lets its own sample through.",
      column: 3,
    });
    expect((await chat(gateway, body({}, user(BAD)))).status).toBe(400);
  });
});
