/**
 * What agents and SDKs send as a matter of course, before the dialects that have no word for it.
 */

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type EveryDialect, startEveryDialect } from "../support/every-dialect.ts";

let every: EveryDialect;
beforeAll(async () => {
  every = await startEveryDialect();
});
beforeEach(() => every.reset());
afterAll(() => every?.close());

const TOOLS = ["get_weather", "get_time"].map((name) => ({
  type: "function",
  function: { name, parameters: { type: "object", properties: { city: { type: "string" } } } },
}));
const [WEATHER] = TOOLS;
const NAMED = { type: "function", function: { name: "get_weather" } };
const CLAUDES = ["anthropic", "vertex-claude", "bedrock"];

/** Sends one answer to whatever is asked. */
function answerWith(type: string, body: string): void {
  every.upstream.answer((response, { url }) => {
    const token = JSON.stringify({ access_token: "t", expires_in: 3_599, token_type: "Bearer" });
    const isToken = url.startsWith("/computeMetadata/");
    response
      .writeHead(200, { "content-type": isToken ? "application/json" : type })
      .end(isToken ? token : body);
  });
}

const json = (value: unknown): void => answerWith("application/json", JSON.stringify(value));
const events = (list: readonly object[], done = ""): void =>
  answerWith(
    "text/event-stream",
    list.map((each) => `data: ${JSON.stringify(each)}\n\n`).join("") + done,
  );

/** The chunks of a streamed reply, `[DONE]` left out. */
function chunksOf(text: string): {
  choices?: { delta: Record<string, unknown>; finish_reason: string | null }[];
  error?: object;
}[] {
  return text
    .split("\n\n")
    .filter((part) => part.startsWith("data: {"))
    .map((part) => JSON.parse(part.slice(6)) as { choices: [] });
}

describe("a choice of tools at Ollama (Q1)", () => {
  it("is nothing when it is auto, takes the tools out when it is none, and leaves the one that it names", async () => {
    const auto = await every.ask("ollama", {
      tools: TOOLS,
      tool_choice: "auto",
      parallel_tool_calls: true,
    });
    expect([auto.status, auto.dropped, auto.sent?.tools, auto.sent?.tool_choice]).toEqual([
      200,
      [],
      TOOLS,
      undefined,
    ]);
    for (const more of [{}, { drop_params: true }]) {
      const none = await every.ask("ollama", { tools: TOOLS, tool_choice: "none", ...more });
      expect([none.status, none.dropped]).toEqual([200, []]);
      expect(Object.keys(none.sent ?? {}).toSorted()).toEqual(["messages", "model"]);
    }
    const named = await every.ask("ollama", { tools: TOOLS, tool_choice: NAMED });
    expect([named.status, named.dropped, named.sent?.tools]).toEqual([
      200,
      ["tool_choice"],
      [WEATHER],
    ]);
    const required = await every.ask("ollama", { tools: TOOLS, tool_choice: "required" });
    expect([required.status, required.json]).toMatchObject([
      400,
      { error: { param: "tool_choice" } },
    ]);
    const dropping = await every.ask("ollama", {
      tools: TOOLS,
      tool_choice: "required",
      drop_params: true,
    });
    expect([dropping.status, dropping.dropped, dropping.sent?.tools]).toEqual([
      200,
      ["tool_choice"],
      TOOLS,
    ]);
  });
});

describe("one call at a time (Q2)", () => {
  const SERIAL = { tools: TOOLS, parallel_tool_calls: false };
  const gemini = ["get_weather", "get_time"].map((name) => ({
    functionCall: { name, args: { city: name } },
  }));

  it.each(["gemini", "vertex", "cohere", "nova", "bedrock", "ollama", "deepseek"])(
    "passes with one tool at %s",
    async (dialect) => {
      const { status, dropped } = await every.ask(dialect, {
        tools: [WEATHER],
        parallel_tool_calls: false,
      });
      expect([status, dropped]).toEqual([200, []]);
    },
  );

  it("cuts a whole reply to its first call, and lists it", async () => {
    json({ candidates: [{ content: { role: "model", parts: gemini }, finishReason: "STOP" }] });
    const { status, dropped, json: reply } = await every.ask("gemini", SERIAL);
    expect([status, dropped]).toEqual([200, ["parallel_tool_calls"]]);
    const [choice] = reply.choices as {
      message: { tool_calls: { function: { name: string } }[] };
      finish_reason: string;
    }[];
    expect([
      choice?.finish_reason,
      choice?.message.tool_calls.map((call) => call.function.name),
    ]).toEqual(["tool_calls", ["get_weather"]]);
    const both = await every.ask("gemini", { tools: TOOLS });
    expect(
      (both.json.choices as { message: { tool_calls: object[] } }[])[0]?.message.tool_calls,
    ).toHaveLength(2);
  });

  it.each([
    [
      "gemini",
      () =>
        events([
          { candidates: [{ content: { role: "model", parts: gemini }, finishReason: "STOP" }] },
        ]),
    ],
    [
      "ollama",
      () =>
        events(
          [
            {
              choices: [
                {
                  index: 0,
                  delta: {
                    role: "assistant",
                    content: "",
                    tool_calls: TOOLS.map((tool, index) => ({
                      index,
                      id: `c${index}`,
                      type: "function",
                      function: { name: tool.function.name, arguments: "{}" },
                    })),
                  },
                  finish_reason: null,
                },
              ],
            },
            { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
          ],
          "data: [DONE]\n\n",
        ),
    ],
  ])("cuts a stream of %s to its first call", async (dialect, script) => {
    script();
    const { status, dropped, text } = await every.ask(dialect, { ...SERIAL, stream: true });
    expect([status, dropped]).toEqual([200, ["parallel_tool_calls"]]);
    const chunks = chunksOf(text);
    const calls = chunks.flatMap(
      ({ choices }) => (choices?.[0]?.delta.tool_calls ?? []) as { index: number }[],
    );
    expect(calls.length).toBeGreaterThan(0);
    expect(new Set(calls.map(({ index }) => index))).toEqual(new Set([0]));
    expect(chunks.map(({ choices }) => choices?.[0]?.finish_reason)).toContain("tool_calls");
    expect(text.trimEnd().endsWith("data: [DONE]")).toBe(true);
  });
});

describe.each(CLAUDES)("Claude at %s", (dialect) => {
  const call = {
    id: "toolu_1",
    type: "function",
    function: { name: "get_weather", arguments: "{}" },
  };
  const step = (thoughts: object): object => ({
    tools: TOOLS,
    messages: [
      { role: "user", content: "Weather?" },
      { role: "assistant", content: null, tool_calls: [call], ...thoughts },
      { role: "tool", tool_call_id: "toolu_1", content: "321" },
    ],
  });
  const signed = {
    thinking_blocks: [{ type: "thinking", thinking: "Hm.", signature: "c2lnbmF0dXJl" }],
  };
  const isThinking = (sent: unknown): boolean =>
    /"type":"(?:enabled|adaptive)"/.test(JSON.stringify(sent));

  it("does not think in a turn whose signed thoughts are lost, and lists it (Q3, clients 2)", async () => {
    for (const [name, asked] of [
      ["reasoning_effort", { reasoning_effort: "low" }],
      ["thinking", { thinking: { type: "enabled", budget_tokens: 2_000 } }],
    ] as const) {
      const lost = await every.ask(dialect, { ...step({ reasoning_content: "Hm." }), ...asked });
      expect([lost.status, lost.dropped, isThinking(lost.sent)]).toEqual([200, [name], false]);
      const kept = await every.ask(dialect, { ...step(signed), ...asked });
      expect([kept.status, kept.dropped, isThinking(kept.sent)]).toEqual([200, [], true]);
    }
    const { messages, tools } = step({}) as { messages: object[]; tools: object[] };
    const later = [
      ...messages,
      { role: "assistant", content: "321." },
      { role: "user", content: "And now?" },
    ];
    const next = await every.ask(dialect, { tools, messages: later, reasoning_effort: "low" });
    expect([next.status, next.dropped, isThinking(next.sent)]).toEqual([200, [], true]);
  });

  it("does not think beside a forced choice of tools, and lists it (Q3)", async () => {
    for (const choice of ["required", NAMED]) {
      const asked = await every.ask(dialect, {
        tools: TOOLS,
        tool_choice: choice,
        reasoning_effort: "low",
      });
      expect([asked.status, asked.dropped, isThinking(asked.sent)]).toEqual([
        200,
        ["reasoning_effort"],
        false,
      ]);
    }
  });

  it("leaves out a top_p or a temperature of 1 beside the other, and stops that are white space (Q6, Q7)", async () => {
    const both = await every.ask(dialect, { temperature: 0, top_p: 1 });
    expect([both.status, both.dropped, /"top_?[pP]"/.test(JSON.stringify(both.sent))]).toEqual([
      200,
      [],
      false,
    ]);
    const other = await every.ask(dialect, { temperature: 1, top_p: 0.5 });
    expect([other.status, /"temperature"/.test(JSON.stringify(other.sent))]).toEqual([200, false]);
    const stops = await every.ask(dialect, { stop: ["END", "\n", ""] });
    expect([stops.status, stops.dropped]).toEqual([200, ["stop"]]);
    expect(JSON.stringify(stops.sent)).toMatch(/"stop_?[sS]equences":\["END"\]/);
  });

  it("is instructed to answer with JSON, and its reply is checked (Q4)", async () => {
    const reply = (text: string): object =>
      dialect === "bedrock"
        ? {
            output: { message: { role: "assistant", content: [{ text }] } },
            stopReason: "end_turn",
          }
        : { type: "message", content: [{ type: "text", text }], stop_reason: "end_turn" };
    json(reply('Here it is:\n```json\n{"a": "}"}\n```'));
    const asked = { response_format: { type: "json_object" }, num_retries: 0 };
    const good = await every.ask(dialect, asked);
    expect([good.status, good.dropped]).toEqual([200, ["response_format"]]);
    expect(good.json).toMatchObject({ choices: [{ message: { content: '{"a": "}"}' } }] });
    expect(JSON.stringify(good.sent)).toContain("one JSON object");
    json(reply("I would rather not."));
    const bad = await every.ask(dialect, asked);
    expect([bad.status, bad.json]).toMatchObject([502, { error: { type: "upstream_error" } }]);
  });
});

describe("JSON mode on a stream of Claude (Q4)", () => {
  const stream = (pieces: readonly string[]): void =>
    events([
      { type: "message_start", message: { usage: { input_tokens: 1 } } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      ...pieces.map((text) => ({
        type: "content_block_delta",
        index: 0,
        delta: { type: "text_delta", text },
      })),
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 3 } },
      { type: "message_stop" },
    ]);
  const asked = { response_format: { type: "json_object" }, stream: true, num_retries: 0 };
  const textOf = (text: string): string =>
    chunksOf(text)
      .map(({ choices }) => choices?.[0]?.delta.content ?? "")
      .join("");

  it("has the object alone, however it is cut", async () => {
    stream(["``", '`json\n{"a"', ': "\\"', '}"', "}\n`", "``"]);
    const { status, text, dropped } = await every.ask("anthropic", asked);
    expect([status, dropped, textOf(text)]).toEqual([200, ["response_format"], '{"a": "\\"}"}']);
    expect(text.trimEnd().endsWith("data: [DONE]")).toBe(true);
  });

  it("ends in an error when it is none", async () => {
    stream(['{"a": ', "what?}"]);
    const { text } = await every.ask("anthropic", asked);
    expect(text).not.toContain("[DONE]");
    expect(chunksOf(text).at(-1)?.error).toBeDefined();
  });
});

describe("instructions alone (Q9)", () => {
  it.each(["anthropic", "vertex-claude", "bedrock", "nova", "gemini", "vertex"])(
    "are the user's turn at %s",
    async (dialect) => {
      const { status, sent } = await every.ask(dialect, {
        messages: [{ role: "system", content: "Greet me." }],
      });
      expect(status).toBe(200);
      const { messages = sent?.contents, system = sent?.systemInstruction } = sent ?? {};
      expect([system, messages]).toMatchObject([undefined, [{ role: "user" }]]);
      expect(JSON.stringify(messages)).toContain("Greet me.");
    },
  );
});

describe("an effort at Mistral (clients 9)", () => {
  it.each([
    ["none", "none"],
    ["minimal", "minimal"],
    ["low", "low"],
    ["medium", "medium"],
    ["high", "high"],
    ["xhigh", "xhigh"],
    ["max", "xhigh"],
  ])("of %s is %s", async (effort, sent) => {
    const asked = await every.ask("mistral", { reasoning_effort: effort });
    expect([asked.status, asked.dropped, asked.sent?.reasoning_effort]).toEqual([200, [], sent]);
  });
});
