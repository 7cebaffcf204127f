/**
 * Every dialect and every optional field: what asks for nothing passes, hints are dropped and
 * listed, demands met or named.
 */

import type { JsonValue } from "@sluice/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type Asked,
  DIALECTS,
  type EveryDialect,
  startEveryDialect,
} from "../support/every-dialect.ts";

let every: EveryDialect;
beforeAll(async () => {
  every = await startEveryDialect();
});
afterAll(() => every?.close());

const TOOLS = ["get_weather", "get_time"].map((name) => ({
  type: "function",
  function: { name, parameters: { type: "object", properties: { city: { type: "string" } } } },
}));

/** Values that ask for nothing. */
const NOTHING: readonly Readonly<Record<string, unknown>>[] = [
  {
    service_tier: "auto",
    modalities: ["text"],
    verbosity: "medium",
    store: false,
    response_format: { type: "text" },
    logit_bias: {},
    stop: [],
    tools: [],
    n: 1,
    logprobs: false,
    presence_penalty: 0,
    frequency_penalty: 0,
    tool_choice: "none",
    parallel_tool_calls: false,
    function_call: "none",
    thinking: { type: "disabled" },
  },
  {
    seed: null,
    user: null,
    temperature: null,
    reasoning_effort: null,
    audio: null,
    thinking: null,
    tool_choice: "auto",
    parallel_tool_calls: true,
  },
  { tools: TOOLS, tool_choice: "auto", parallel_tool_calls: true },
];

/** Hints, with a value that is found again where it is sent on. */
const HINTS: Readonly<Record<string, JsonValue>> = {
  seed: 424_242,
  user: "user-7f3a",
  store: true,
  service_tier: "flex",
  prompt_cache_key: "cache-7f3a",
  prompt_cache_retention: "24h",
  safety_identifier: "safety-7f3a",
  prediction: { type: "content", content: "predicted-7f3a" },
};

/** Demands: what is asked, and the text by which it is found again. */
const DEMANDS: Readonly<Record<string, readonly [value: unknown, pattern: RegExp]>> = {
  n: [2, /"(?:n|candidateCount)":2/],
  logit_bias: [{ "1": 7 }, /"logit_bias":\{"1":7\}/],
  logprobs: [true, /"logprobs":true/],
  top_logprobs: [3, /"top_logprobs":3/],
  presence_penalty: [0.37, /"presence_?[pP]enalty":0\.37/],
  frequency_penalty: [0.38, /"frequency_?[pP]enalty":0\.38/],
  verbosity: ["low", /"verbosity":"low"/],
  modalities: [["text", "audio"], /"modalities"/],
  audio: [{ voice: "alloy", format: "mp3" }, /"alloy"/],
  functions: [[{ name: "old_function", parameters: { type: "object" } }], /old_function/],
};
const DEMANDED = Object.fromEntries(
  Object.entries(DEMANDS).map(([name, [value]]) => [name, value]),
);

/** Providers without tools at all. */
const TOOLLESS = new Set(["perplexity"]);

describe.each(DIALECTS)("%s", (dialect) => {
  it("answers whatever asks for nothing, and lists nothing (Q1, Q6)", async () => {
    for (const fields of NOTHING) {
      if (TOOLLESS.has(dialect) && "tools" in fields && fields.tools === TOOLS) continue;
      const { status, dropped, text } = await every.ask(dialect, fields);
      expect([fields, status, dropped, status === 200 ? "" : text]).toEqual([fields, 200, [], ""]);
    }
  });

  it("sends every hint on, or drops and lists it (Q6)", async () => {
    const asked = await every.ask(dialect, HINTS);
    expect(asked.status).toBe(200);
    for (const [name, value] of Object.entries(HINTS)) {
      expect([name, isSent(asked, name, value)]).toEqual([name, !asked.dropped.includes(name)]);
    }
    expect(asked.dropped.every((name) => name in HINTS)).toBe(true);
  });

  it("honours every demand or refuses it by name, and drops and lists it when the request allows", async () => {
    const dropping = await every.ask(dialect, { ...DEMANDED, drop_params: true });
    expect(dropping.status).toBe(200);
    for (const [name, [, pattern]] of Object.entries(DEMANDS)) {
      expect([name, pattern.test(JSON.stringify(dropping.sent))]).toEqual([
        name,
        !dropping.dropped.includes(name),
      ]);
    }
    const { status, json } = await every.ask(dialect, DEMANDED);
    const param = (json.error as { param?: string } | undefined)?.param;
    const isMet = dropping.dropped.length === 0;
    expect([status, dropping.dropped.includes(param ?? "")]).toEqual(
      isMet ? [200, false] : [400, true],
    );
  });

  it("brings a temperature into its range and lists it, at most (Q6)", async () => {
    const { status, dropped, sent } = await every.ask(dialect, { temperature: 2 });
    expect(status).toBe(200);
    const [, said] = /"temperature":([\d.]+)/.exec(JSON.stringify(sent)) ?? [];
    expect([Number(said) === 2, dropped]).toEqual(
      Number(said) === 2 ? [true, []] : [false, ["temperature"]],
    );
  });

  it("takes an empty list of blocks in every role, and never hands on a turn of nothing (clients 6)", async () => {
    const call = {
      id: "call_1",
      type: "function",
      function: { name: "get_weather", arguments: "{}" },
    };
    const messages = [
      { role: "system", content: [] },
      { role: "user", content: "One." },
      { role: "assistant", content: [] },
      { role: "user", content: [] },
      { role: "user", content: "Two." },
      ...(TOOLLESS.has(dialect)
        ? []
        : [
            { role: "assistant", content: [], tool_calls: [call] },
            { role: "tool", tool_call_id: "call_1", content: [] },
          ]),
      { role: "user", content: "Three." },
    ];
    const { status, sent } = await every.ask(dialect, {
      messages,
      ...(TOOLLESS.has(dialect) ? {} : { tools: TOOLS }),
    });
    expect(status).toBe(200);
    const text = JSON.stringify(sent);
    for (const word of ["One.", "Two.", "Three."]) expect(text).toContain(word);
    // OpenAI itself takes it: github.com/openai/openai-python/issues/1812.
    const isReference = dialect === "openai" || dialect === "azure";
    expect(/(?<!"toolUseId":"call_1",)"(?:content|parts)":\[\]/.test(text)).toBe(isReference);
  });

  it("hands on no member of another provider's reply that it has no use for, and calls keep their results (clients 7, 13)", async () => {
    if (TOOLLESS.has(dialect)) return;
    const id = `chatcmpl-tool-${"0123456789abcdef".repeat(2)}`;
    const extra = { google: { thought_signature: "c2ln" } };
    const messages = [
      { role: "user", content: "Weather?" },
      {
        role: "assistant",
        content: "Let me look.",
        reasoning_content: "thought-7f3a",
        thinking_blocks: [
          { type: "thinking", thinking: "thought-7f3a", signature: "c2lnbmF0dXJl" },
        ],
        extra_content: extra,
        provider_blocks: [{ type: "server_tool_use", id: "x" }],
        citations: [{ text: "x" }],
        tool_calls: [
          {
            id,
            type: "function",
            function: { name: "get_weather", arguments: "{}" },
            extra_content: extra,
          },
        ],
      },
      { role: "tool", tool_call_id: id, content: "321" },
    ];
    const { status, sent } = await every.ask(dialect, { messages, tools: TOOLS });
    expect(status).toBe(200);
    const text = JSON.stringify(sent);
    // What a server of its own takes is not known: it has everything but the signed thoughts.
    expect(/"(?:extra_content|provider_blocks|citations)"/.test(text)).toBe(dialect === "custom");
    expect(text).not.toContain("thinking_blocks");
    const isStrict = ["openai", "azure", "groq", "fireworks"].includes(dialect);
    expect(isStrict && text.includes("reasoning_content")).toBe(false);
    const ids = [...text.matchAll(/"(?:id|tool_call_id|tool_use_id|toolUseId)":"([^"]+)"/g)].map(
      ([, found]) => found,
    );
    // The call and its result have one id; Gemini's API has none, and goes by order.
    const calls = ids.filter((found) => found !== "x");
    const hasIds = dialect !== "gemini" && dialect !== "vertex";
    expect([calls.length, new Set(calls).size]).toEqual(hasIds ? [2, 1] : [0, 0]);
    const longest = ["openai", "azure", "openrouter"].includes(dialect) ? 40 : Infinity;
    expect(ids.every((found = "") => found.length <= longest)).toBe(true);
  });
});

function isSent({ sent }: Asked, name: string, value: JsonValue): boolean {
  const text = JSON.stringify(sent);
  if (name === "store") return text.includes('"store":true');
  if (name === "service_tier") return text.includes('"flex"');
  if (name === "prompt_cache_retention") return text.includes('"24h"');
  return text.includes(name === "prediction" ? "predicted-7f3a" : String(value));
}
