/**
 * The end of a guarded stream at the front door: a finish reason beside a text of one channel, while
 * a text of another channel is held.
 */

import { afterAll, beforeAll, expect, it } from "vitest";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";
import { guardedWorkspace } from "./guardrails.fixture.ts";

let upstream: NativeUpstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createNativeUpstream();
  const workspace = guardedWorkspace({
    baseUrl: `${upstream.url}/v1`,
    attempts: 1,
    models: ["{ id: m, targets: [{ provider: openai, model: m }] }"],
    guardrails: ["masking: { use: forbid, word: zqforbiddenzq, action: mask }"],
    step: "{}",
  });
  gateway = await startGateway(workspace, { NATIVE_KEY: "a-native-credential-0123456789" });
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const event = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const chunk = (...choices: readonly object[]): string =>
  event({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices });
const DONE = "data: [DONE]\n\n";

const FACES = {
  chat: { path: "/v1/chat/completions", end: '"finish_reason":"stop"' },
  messages: { path: "/v1/messages", end: "content_block_stop" },
  responses: { path: "/v1/responses", end: "response.completed" },
  gemini: { path: "/v1beta/models/m:streamGenerateContent?alt=sse", end: '"finishReason":"STOP"' },
} as const;

const BODIES: Readonly<Record<keyof typeof FACES, object>> = {
  chat: { model: "m", stream: true, messages: [{ role: "user", content: "x" }] },
  messages: {
    model: "m",
    stream: true,
    max_tokens: 9,
    thinking: { type: "adaptive" },
    messages: [{ role: "user", content: "x" }],
  },
  responses: { model: "m", stream: true, input: "x", reasoning: { summary: "auto" } },
  gemini: {
    contents: [{ role: "user", parts: [{ text: "x" }] }],
    generationConfig: { thinkingConfig: { includeThoughts: true } },
  },
};

async function ask(face: keyof typeof FACES): Promise<string> {
  const response = await fetch(gateway.publicUrl + FACES[face].path, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.masterKey}`, "content-type": "application/json" },
    body: JSON.stringify({ ...BODIES[face], guardrails: ["masking"] }),
  });
  expect(response.status).toBe(200);
  return response.text();
}

it.each(Object.keys(FACES) as (keyof typeof FACES)[])(
  "the end comes behind the texts of all channels: %s",
  async (face) => {
    upstream.reply(
      200,
      "text/event-stream",
      chunk({ index: 0, delta: { role: "assistant", content: "It is a long beginning. " } }) +
        chunk({ index: 0, delta: { reasoning_content: "THOUGHT" } }) +
        chunk({ index: 0, delta: { content: "LAST" }, finish_reason: "stop" }) +
        DONE,
    );
    const said = await ask(face);
    expect(said).toContain("THOUGHT");
    expect(said).toContain("LAST");
    const end = said.lastIndexOf(FACES[face].end);
    // The last event of Responses repeats the texts.
    const before = said.slice(0, end);
    expect([before.includes("THOUGHT"), before.includes("LAST")]).toEqual([true, true]);
    const last = face === "responses" ? said.length : end;
    expect(said.slice(last)).not.toMatch(/THOUGHT|LAST/);
  },
);

it("the end of one choice leaves the text of another held", async () => {
  upstream.reply(
    200,
    "text/event-stream",
    chunk({ index: 0, delta: { content: "zqforb" } }, { index: 1, delta: { content: "zqforb" } }) +
      chunk(
        { index: 0, delta: { content: "iddenzq" }, finish_reason: "stop" },
        { index: 1, delta: { content: "idden" } },
      ) +
      chunk({ index: 1, delta: { content: "zq" }, finish_reason: "stop" }) +
      DONE,
  );
  const said = await ask("chat");
  const texts = ["", ""];
  for (const line of said.split("\n").filter((each) => each.startsWith("data: {")))
    for (const { index, delta } of (
      JSON.parse(line.slice(6)) as { choices: { index: number; delta: { content?: string } }[] }
    ).choices)
      texts[index] += delta.content ?? "";
  expect(texts).toEqual(["***", "***"]);
});

const CALL_TEXTS = ["I will look at the weather ", "in Paris."];

/** The beginnings of the text and of the call in what a client gets. */
const BEGINNINGS: Readonly<Record<"messages" | "responses" | "gemini", readonly string[]>> = {
  messages: ['"type":"text_delta"', '"type":"tool_use"'],
  responses: ['"type":"message"', '"type":"function_call"'],
  gemini: ['"text":"I will', '"functionCall"'],
};

it.each(["messages", "responses", "gemini"] as const)(
  "a call comes behind the text before it: %s",
  async (face) => {
    const call = { index: 0, id: "c1", type: "function" };
    upstream.reply(
      200,
      "text/event-stream",
      CALL_TEXTS.map((content) => chunk({ index: 0, delta: { content } })).join("") +
        chunk({
          index: 0,
          delta: { tool_calls: [{ ...call, function: { name: "f", arguments: "" } }] },
        }) +
        chunk({
          index: 0,
          delta: {
            tool_calls: [{ index: 0, function: { arguments: '{"a":"more than the word"}' } }],
          },
        }) +
        chunk({ index: 0, delta: {}, finish_reason: "tool_calls" }) +
        DONE,
    );
    const said = await ask(face);
    const [text = "", begun = ""] = BEGINNINGS[face];
    expect(said.indexOf(text)).toBeGreaterThan(0);
    expect(said.indexOf(begun)).toBeGreaterThan(said.indexOf(text));
    expect(said.indexOf(begun)).toBeGreaterThan(said.indexOf("in Paris."));
  },
);

it("a word around a call does not pass whole", async () => {
  const call = { index: 0, id: "c1", type: "function", function: { name: "f", arguments: "{}" } };
  upstream.reply(
    200,
    "text/event-stream",
    chunk({ index: 0, delta: { content: "A zqforb" } }) +
      chunk({ index: 0, delta: { tool_calls: [call] } }) +
      chunk({ index: 0, delta: { content: "iddenzq." }, finish_reason: "tool_calls" }) +
      DONE,
  );
  expect(await ask("chat")).not.toContain("iddenzq");
});
