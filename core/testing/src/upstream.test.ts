import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Agent, request as send } from "undici";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  createUpstream,
  DEFAULT_TEXT,
  GARBAGE,
  wireFixture,
  type Upstream,
  type UpstreamAction,
} from "./upstream.ts";

const FIXTURES = fileURLToPath(new URL("../../../test/fixtures/openai/", import.meta.url));
const DROPPED = /ECONNRESET|other side closed|terminated|aborted/;
const MESSAGES = [{ role: "user", content: "one two three" }];

let upstream: Upstream;
let agent: Agent;

beforeEach(async () => {
  upstream = await createUpstream();
  agent = new Agent();
});

afterEach(async () => {
  await agent.destroy();
  await upstream.close();
});

/** Sends a chat request. */
const call = (fields: Record<string, unknown> = {}, signal?: AbortSignal) =>
  send(`${upstream.baseUrl}/chat/completions`, {
    method: "POST",
    dispatcher: agent,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "gpt-4o-mini", messages: MESSAGES, ...fields }),
    ...(signal && { signal }),
  });

interface Chunk {
  readonly id: string;
  readonly choices: readonly {
    readonly delta: {
      readonly role?: string;
      readonly content?: string | null;
      readonly tool_calls?: readonly ToolDelta[];
    };
    readonly finish_reason: string | null;
  }[];
  readonly usage?: { readonly completion_tokens: number } | null;
}
interface ToolDelta {
  readonly index: number;
  readonly id?: string;
  readonly function: { readonly name?: string; readonly arguments: string };
}

/** The events of a stream, parsed, and whether it ended with the end mark. */
const readStream = async (fields: Record<string, unknown> = {}) => {
  const response = await call({ stream: true, ...fields });
  const data = (await response.body.text()).split("\n\n").filter(Boolean);
  const isDone = data.at(-1) === "data: [DONE]";
  return {
    isDone,
    chunks: data
      .slice(0, isDone ? -1 : undefined)
      .map((line) => JSON.parse(line.slice(6)) as Chunk),
  };
};

describe("good replies", () => {
  it("answers whole, with usage, under a dated model name, and records it", async () => {
    const response = await call();
    expect(response.statusCode).toBe(200);
    expect(await response.body.json()).toMatchObject({
      object: "chat.completion",
      model: "gpt-4o-mini-2024-07-18",
      choices: [{ message: { role: "assistant", content: DEFAULT_TEXT }, finish_reason: "stop" }],
      usage: { prompt_tokens: 3, completion_tokens: 9, total_tokens: 12 },
    });
    const [record] = upstream.requests;
    expect(record).toMatchObject({
      number: 1,
      method: "POST",
      path: "/v1/chat/completions",
      finished: true,
      status: 200,
    });
    expect(record?.parsed?.["model"]).toBe("gpt-4o-mini");
    expect(record?.usage?.total_tokens).toBe(12);
    expect(record?.closedByPeerAtMs).toBeUndefined();
  });

  it("streams word by word: role, words, finish reason, end mark, and usage only when asked", async () => {
    const plain = await readStream();
    expect(plain.isDone).toBe(true);
    expect(plain.chunks[0]?.choices[0]?.delta).toEqual({
      role: "assistant",
      content: "",
      refusal: null,
    });
    expect(plain.chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("")).toBe(
      DEFAULT_TEXT,
    );
    expect(plain.chunks.at(-1)?.choices[0]?.finish_reason).toBe("stop");
    expect(plain.chunks.every((chunk) => !("usage" in chunk))).toBe(true);
    const asked = await readStream({ stream_options: { include_usage: true } });
    expect(asked.chunks[0]?.usage).toBeNull();
    expect(asked.chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 9 } });
    expect(upstream.requests[1]?.eventsSent).toBe(asked.chunks.length + 1);
  });

  it("never sends usage when the script says so", async () => {
    upstream.script({ kind: "reply", usage: "never" });
    const { chunks } = await readStream({ stream_options: { include_usage: true } });
    expect(chunks.every((chunk) => !("usage" in chunk))).toBe(true);
    expect(await (await call()).body.json()).not.toHaveProperty("usage");
    expect(upstream.requests[1]?.usage?.total_tokens).toBe(12);
  });

  it("calls tools, whole and in fragments that join to the same arguments", async () => {
    const toolCalls = [
      { name: "weather", arguments: '{"city":"Köln 👋"}' },
      { name: "time", arguments: '{"zone":"UTC"}' },
    ];
    upstream.script({ kind: "reply", toolCalls });
    expect(await (await call()).body.json()).toMatchObject({
      choices: [
        {
          finish_reason: "tool_calls",
          message: { content: null, tool_calls: toolCalls.map((call) => ({ function: call })) },
        },
      ],
    });
    const { chunks } = await readStream();
    const deltas = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? []);
    for (const [index, expected] of toolCalls.entries()) {
      const own = deltas.filter((delta) => delta.index === index);
      expect(own[0]).toMatchObject({
        id: `call_2_${index}`,
        function: { name: expected.name, arguments: "" },
      });
      expect(own.map((delta) => delta.function.arguments).join("")).toBe(expected.arguments);
      expect(own.length).toBeGreaterThan(2);
    }
  });

  it("sends log probabilities, several choices and unknown members", async () => {
    upstream.script({ kind: "reply", text: "yes", extra: { x_region: "eu" } });
    expect(await (await call({ logprobs: true, n: 2 })).body.json()).toMatchObject({
      x_region: "eu",
      choices: [{ index: 0, logprobs: { content: [{ token: "yes" }] } }, { index: 1 }],
      usage: { completion_tokens: 2 },
    });
  });

  it("drips the same bytes slowly", async () => {
    upstream.script({ kind: "reply", text: "äöü", drip: { bytes: 7, everyMs: 1 } });
    expect((await readStream()).chunks[1]?.choices[0]?.delta.content).toBe("äöü");
  });
});

describe("scripts", () => {
  it("chooses by model, by user, in turn, and by function", async () => {
    upstream.script("busy", { kind: "error", status: 429, retryAfter: "2" }, { kind: "reply" });
    upstream.script("user-7", (request) => ({ kind: "reply", text: `number ${request.number}` }));
    const refused = await call({ model: "busy" });
    expect([refused.statusCode, refused.headers["retry-after"]]).toEqual([429, "2"]);
    await refused.body.dump();
    expect((await call({ model: "busy" })).statusCode).toBe(200);
    expect((await call({ model: "busy" })).statusCode).toBe(200);
    expect(await (await call({ user: "user-7" })).body.text()).toContain("number 4");
  });

  it("says it when a script function throws", async () => {
    upstream.script(() => {
      throw new Error("no such case");
    });
    expect(await (await call()).body.text()).toContain("no such case");
  });
});

describe("failures", () => {
  it.each([400, 401, 429, 500, 503])("refuses with status %i and an error body", async (status) => {
    upstream.script({ kind: "error", status });
    const response = await call({ stream: true });
    expect(response.statusCode).toBe(status);
    expect(await response.body.json()).toHaveProperty("error.message");
    expect(upstream.requests[0]?.usage).toBeUndefined();
  });

  it.each(Object.entries(GARBAGE))("sends garbage: %s", async (_name, action) => {
    upstream.script(action);
    const response = await call();
    expect(response.statusCode).toBe(200);
    expect(await response.body.text()).toBe(action.body);
  });

  it.each<[string, UpstreamAction]>([
    ["before the headers", { kind: "reset" }],
    ["after the headers", { kind: "reply", fault: { kind: "reset", after: 0 } }],
    ["in the middle", { kind: "reply", fault: { kind: "reset", after: 4 } }],
  ])("resets the connection %s, whole and streamed", async (_name, action) => {
    upstream.script(action);
    await expect(call().then(({ body }) => body.text())).rejects.toThrow(DROPPED);
    await expect(call({ stream: true }).then(({ body }) => body.text())).rejects.toThrow(DROPPED);
    expect(
      upstream.requests.map(({ finished, settled, closedByPeerAtMs }) => [
        finished,
        settled,
        closedByPeerAtMs,
      ]),
    ).toEqual([
      [false, true, undefined],
      [false, true, undefined],
    ]);
  });

  it("bills the words that were sent before a fault, and ends with an error event and no end mark", async () => {
    upstream.script({ kind: "reply", fault: { kind: "error", after: 4 } });
    const { chunks, isDone } = await readStream();
    expect(isDone).toBe(false);
    expect(chunks).toHaveLength(5);
    expect(chunks[4]).toHaveProperty("error.type", "server_error");
    expect(upstream.requests[0]?.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 3 });
  });

  it("ends too early, and sends an event that is no JSON", async () => {
    upstream.script({ kind: "reply", fault: { kind: "end", after: 2 } });
    expect(await readStream()).toMatchObject({ isDone: false, chunks: { length: 2 } });
    upstream.script({ kind: "reply", fault: { kind: "garbage", after: 2 } });
    const text = await (await call({ stream: true })).body.text();
    expect(text).toContain('data: {"choices":[{"delta"\n\n');
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
  });

  it.each<[string, UpstreamAction]>([
    ["before the headers", { kind: "hang" }],
    ["in the middle", { kind: "reply", fault: { kind: "hang", after: 3 } }],
  ])("hangs %s until the peer goes, and records when", async (_name, action) => {
    upstream.script(action);
    const leaving = new AbortController();
    const outcome = call({ stream: true }, leaving.signal).then(
      ({ body }) => body.text().catch(() => "left"),
      () => "left",
    );
    await upstream.waitFor((request) => request.parsed !== undefined);
    leaving.abort();
    expect(await outcome).toBe("left");
    const record = await upstream.waitFor((request) => request.settled);
    expect(record.closedByPeerAtMs).toBeGreaterThanOrEqual(record.startedAtMs);
    expect(record.finished).toBe(false);
  });
});

describe("the server", () => {
  const named = (pattern: RegExp) => readdirSync(FIXTURES).filter((name) => pattern.test(name));

  it.each(named(/^(chat|stream|error)/))(
    "serves the wire fixture %s byte for byte",
    async (name) => {
      const action = wireFixture(`${FIXTURES}${name}`);
      upstream.script(action);
      const response = await call();
      expect([response.statusCode, await response.body.text()]).toEqual([
        action.status,
        action.body,
      ]);
    },
  );

  it.each(named(/^(chat|stream-usage|stream-tools)/))(
    "bills the usage of the wire fixture %s",
    (name) => {
      const usage = wireFixture(`${FIXTURES}${name}`).usage;
      expect(usage?.total_tokens).toBe(
        (usage?.prompt_tokens ?? 0) + (usage?.completion_tokens ?? 0),
      );
    },
  );

  it("answers unknown paths with 404, counts connections, forgets on reset and closes twice", async () => {
    const response = await send(`${upstream.url}/v1/nothing`, { dispatcher: agent });
    expect(response.statusCode).toBe(404);
    await response.body.dump();
    expect(upstream.connections).toEqual({ open: 1, opened: 1 });
    upstream.reset();
    expect(upstream.requests).toHaveLength(0);
    await expect(upstream.waitFor(() => true, 1)).rejects.toThrow("waited 1 ms");
    await upstream.close();
    await upstream.close();
  });
});
