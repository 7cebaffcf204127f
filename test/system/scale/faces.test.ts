/**
 * What a client of a face may rely on: thoughts of several turns come back in order and unchanged,
 * a thousand streams at once stay whole, and what the gateway does not know is forwarded on the
 * native lane and refused elsewhere.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  fourProviders,
  openCompletions,
  PROVIDER_ENVIRONMENT,
} from "../support/faces/four-providers.ts";
import { exchangesUntil } from "../support/faces/left-calls.ts";
import { createScriptedModel, type ScriptedModel } from "../support/faces/scripted-model.ts";
import { askWire, readWire, sendWire, WIRES } from "../support/faces/wires.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace } from "../support/workspace.ts";

let model: ScriptedModel;
let gateway: GatewayProcess;

beforeAll(async () => {
  model = await createScriptedModel();
  const four = fourProviders(model.url);
  const workspace = createWorkspace({
    ...four,
    providers: [
      ...(four.providers ?? []),
      `lane: { use: openai, api_key: "\${env:NATIVE_KEY}", base_url: ${model.url}/lane/v1, responses: true }`,
    ],
    models: [
      ...four.models,
      "{ id: responses-lane, targets: [{ provider: lane, model: gpt-4.1-mini }] }",
    ],
  });
  openCompletions(workspace);
  gateway = await startGateway(workspace, PROVIDER_ENVIRONMENT);
});
afterAll(async () => {
  await gateway?.dispose();
  gateway?.workspace.remove();
  await model?.close();
});

// oxlint-disable-next-line typescript/no-explicit-any -- replies are read as a client reads them.
type Json = Record<string, any>;
const TURNS = [1, 2, 3];
const PARAMETERS = { type: "object", properties: { city: { type: "string" } } };
const signature = (turn: number): string => Buffer.from(`signature ${turn}`).toString("base64");

/** How a face asks with a conversation, and how it goes on with a reply. */
interface Conversation {
  readonly path: string;
  begin(): unknown[];
  body(conversation: readonly unknown[]): Json;
  next(reply: Json, turn: number): readonly unknown[];
}

const TALKS: Readonly<Record<"chat" | "messages" | "responses" | "gemini", Conversation>> = {
  chat: {
    path: "/v1/chat/completions",
    begin: () => [{ role: "user", content: "Hi" }],
    body: (messages) => ({
      model: "anthropic",
      reasoning_effort: "low",
      messages,
      tools: [{ type: "function", function: { name: "weather", parameters: PARAMETERS } }],
    }),
    next: ({ choices: [{ message }] }, turn) => [
      message,
      { role: "tool", tool_call_id: `toolu_${turn}`, content: "rain" },
    ],
  },
  messages: {
    path: "/v1/messages",
    begin: () => [{ role: "user", content: "Hi" }],
    body: (messages) => ({
      model: "anthropic",
      max_tokens: 4_000,
      thinking: { type: "enabled", budget_tokens: 2_000 },
      messages,
      tools: [{ name: "weather", input_schema: PARAMETERS }],
    }),
    next: ({ content }, turn) => [
      { role: "assistant", content },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: `toolu_${turn}`, content: "rain" }],
      },
    ],
  },
  responses: {
    path: "/v1/responses",
    begin: () => [{ role: "user", content: "Hi" }],
    body: (input) => ({
      model: "anthropic",
      store: false,
      reasoning: { effort: "low" },
      include: ["reasoning.encrypted_content"],
      input,
      tools: [{ type: "function", name: "weather", parameters: PARAMETERS, strict: false }],
    }),
    next: ({ output }, turn) => [
      ...output,
      { type: "function_call_output", call_id: `toolu_${turn}`, output: "rain" },
    ],
  },
  gemini: {
    path: "/v1beta/models/anthropic:generateContent",
    begin: () => [{ role: "user", parts: [{ text: "Hi" }] }],
    body: (contents) => ({
      contents,
      generationConfig: { thinkingConfig: { thinkingBudget: 2_000 } },
      tools: [{ functionDeclarations: [{ name: "weather", parametersJsonSchema: PARAMETERS }] }],
    }),
    next: ({ candidates: [{ content }] }, turn) => [
      content,
      {
        role: "user",
        parts: [
          {
            functionResponse: {
              id: `toolu_${turn}`,
              name: "weather",
              response: { output: "rain" },
            },
          },
        ],
      },
    ],
  },
};

async function post(path: string, body: Json, headers: Json = {}): Promise<Response> {
  return fetch(gateway.publicUrl + path, {
    method: "POST",
    headers: {
      authorization: `Bearer ${gateway.masterKey}`,
      "content-type": "application/json",
      ...headers,
    },
    body: JSON.stringify(body),
  });
}

describe("three turns of a model of Anthropic that thinks", () => {
  it.each(Object.keys(TALKS) as (keyof typeof TALKS)[])("through %s", async (name) => {
    const { path, begin, body, next } = TALKS[name];
    const conversation = begin();
    const said: Json[][] = [];
    for (const turn of [...TURNS, 4]) {
      const input = { city: `city ${turn}` };
      model.says({
        thought: `Thought ${turn} of ümlauts.`,
        text: `Text ${turn}.`,
        calls: [{ id: `toolu_${turn}`, name: "weather", input }],
        signature: signature(turn),
      });
      // oxlint-disable no-await-in-loop -- each turn needs the reply before it.
      const response = await post(path, body(conversation));
      const reply = (await response.json()) as Json;
      // oxlint-enable no-await-in-loop
      expect([response.status, reply]).toEqual([200, reply]);
      conversation.push(...next(reply, turn));
      said.push([
        { type: "thinking", thinking: `Thought ${turn} of ümlauts.`, signature: signature(turn) },
        { type: "text", text: `Text ${turn}.` },
        { type: "tool_use", id: `toolu_${turn}`, name: "weather", input },
      ]);
    }
    const sent = model.lastBody() as { messages: { role: string; content: Json[] }[] };
    const answers = sent.messages.filter(({ role }) => role === "assistant");
    expect(answers.map(({ content }) => content)).toEqual(said.slice(0, TURNS.length));
  });
});

const STREAMS = 1_000;
const WORDS = Array.from({ length: 10 }, (_, index) => `w${index} `);

describe.each([
  ...WIRES.map((wire) => [wire, "openai"] as const),
  ["responses", "responses-lane"] as const,
])(`${STREAMS} streams of %s at once, model %s`, (wire, id) => {
  it("are whole and in order", async () => {
    model.says({ text: WORDS.join(""), piece: 3 });
    const question = { model: id, stream: true };
    const replies = await Promise.all(
      Array.from({ length: STREAMS }, () => askWire(gateway, wire, question)),
    );
    const bad = replies.filter(({ end, text }) => end !== "whole" || text !== WORDS.join(""));
    expect(bad).toHaveLength(0);
    const isLane = id !== "openai";
    expect(model.requests.at(-1)?.url.endsWith("/lane/v1/responses")).toBe(isLane);
  });

  it("free the upstream when their clients leave", async () => {
    model.says({ text: WORDS.join(""), piece: 3, silentBefore: "w5" });
    const closed = model.closed;
    const leaving = new AbortController();
    const question = { model: id, stream: true };
    const clients = Array.from({ length: 200 }, async () => {
      const response = await sendWire(gateway, wire, question, { signal: leaving.signal });
      const reader = response.body?.getReader();
      const { value } = (await reader?.read()) ?? {};
      return readWire(wire, response, "").status + (value?.length ?? 0);
    });
    const begun = await Promise.all(clients);
    leaving.abort();
    await exchangesUntil(
      gateway,
      "it left the upstreams",
      () => model.closed === closed + begun.length,
    );
    expect(begun.every((status) => status > 200)).toBe(true);
  });
});

describe("what the gateway does not know", () => {
  const FUTURE = { of_next_year: { zq: 1 } };
  const messages = { max_tokens: 9, messages: [{ role: "user", content: "Hi" }] };
  const block = {
    ...messages,
    messages: [{ role: "user", content: [{ type: "of_next_year", zq: 1 }] }],
  };
  const contents = { contents: [{ role: "user", parts: [{ text: "Hi" }] }] };
  const part = { contents: [{ role: "user", parts: [{ ofNextYear: { zq: 1 } }] }] };
  const gemini = (name: string): string => `/v1beta/models/${name}:generateContent`;

  it.each<readonly [string, string, Json]>([
    ["a member of messages", "/v1/messages", { model: "anthropic", ...messages, ...FUTURE }],
    ["a block of messages", "/v1/messages", { model: "anthropic", ...block }],
    ["a member of Gemini's", gemini("gemini"), { ...contents, ofNextYear: { zq: 1 } }],
    ["a part of Gemini's", gemini("gemini"), part],
  ])("%s is forwarded on the lane", async (_name, path, body) => {
    model.says({ text: "Fine." });
    const beta = { "anthropic-beta": "of-next-year-2027-01-01" };
    const response = await post(path, body, beta);
    const { model: _model, ...rest } = body;
    expect([response.status, model.lastBody()]).toMatchObject([200, rest]);
    const { headers } = model.requests.at(-1)!;
    expect(headers["anthropic-beta"]).toBe(
      path === "/v1/messages" ? beta["anthropic-beta"] : undefined,
    );
  });

  it.each<readonly [string, string, string, Json]>([
    ["messages", "of_next_year", "/v1/messages", { model: "openai", ...messages, ...FUTURE }],
    ["messages", "messages[0].content[0]", "/v1/messages", { model: "openai", ...block }],
    [
      "responses",
      "of_next_year",
      "/v1/responses",
      { model: "anthropic", store: false, input: "Hi", ...FUTURE },
    ],
    ["gemini", "ofNextYear", gemini("openai"), { ...contents, ofNextYear: { zq: 1 } }],
    ["gemini", "contents[0].parts[0]", gemini("openai"), part],
    [
      "completions",
      "of_next_year",
      "/v1/completions",
      { model: "openai", prompt: "Hi", ...FUTURE },
    ],
  ])("on a bridge, %s names %s", async (_face, place, path, body) => {
    const calls = model.requests.length;
    const response = await post(path, body);
    expect([response.status, model.requests.length - calls]).toEqual([400, 0]);
    expect(await response.text()).toContain(place);
  });

  it("an item of responses is left out, and the header lists it", async () => {
    model.says({ text: "Fine." });
    const input = [
      { type: "of_next_year", zq: 1 },
      { role: "user", content: "Hi" },
    ];
    const response = await post("/v1/responses", { model: "openai", store: false, input });
    expect([response.status, response.headers.get("x-sluice-dropped-params")]).toEqual([
      200,
      "input[0]",
    ]);
  });
});
