import { describe, expect, it } from "vitest";
import { fakeHost, guardrailContract } from "@sluice/testing";
import type { JsonObject, TextContext, Verdict } from "@sluice/contract";
import type { LimitsConfig } from "./config.ts";
import limits from "./index.ts";

const signal = new AbortController().signal;
const context = {
  exchange: "x",
  operation: "chat",
  model: "m",
  place: "p",
  isPartial: false,
  offset: 0,
} as const;

function make(config: Partial<LimitsConfig>) {
  const guardrail = limits.create({ unknown_language: "pass", ...config }, fakeHost());
  const check = (text: string, more: Partial<TextContext> = {}): Verdict =>
    guardrail.check(text, signal, {
      ...context,
      direction: "input",
      part: "user",
      ...more,
    }) as Verdict;
  const admit = (body: JsonObject, model = "m"): Verdict =>
    guardrail.admit?.(
      { exchange: "x", operation: "chat", model, stream: false, body },
      signal,
    ) as Verdict;
  return { guardrail, check, admit };
}

describe("lengths", () => {
  const config: Partial<LimitsConfig> = {
    message: { max_characters: 10 },
    reply: { max_characters: 20 },
    prompt: { max_tokens: 4 },
  };

  it("bound messages and replies, each by its own", () => {
    const { check } = make(config);
    expect(check("x".repeat(10)).kind).toBe("allow");
    expect(check("x".repeat(11))).toEqual({
      kind: "block",
      reason: "limits/message_length",
      start: 10,
      end: 11,
    });
    expect(check("x".repeat(20), { direction: "output", part: "content" }).kind).toBe("allow");
    expect(
      check("x".repeat(5), { direction: "output", part: "content", offset: 16 }),
    ).toMatchObject({ start: 4, end: 5 });
  });

  it("bound the prompt as a whole, and count a text once", () => {
    const { admit } = make(config);
    const text = (content: string): object => ({ type: "text", text: content });
    expect(
      admit({
        messages: [{ role: "user", content: [text("12345678"), text("12345678")] }],
      } as never).kind,
    ).toBe("allow");
    expect(admit({ messages: [{ role: "user", content: "x".repeat(17) }] })).toEqual({
      kind: "block",
      reason: "limits/prompt_length",
    });
  });
});

describe("names", () => {
  const { admit, check } = make({
    tools: { allow: ["read_*", "search"], deny: ["read_secret"] },
    models: { deny: ["gpt-4*"] },
  });

  it.each([
    [
      {
        tools: [
          { type: "function", function: { name: "read_file" } },
          { type: "function", function: { name: "search" } },
        ],
      },
      "allow",
    ],
    [{ tools: [{ type: "function", function: { name: "read_secret" } }] }, "block"],
    [{ functions: [{ name: "write" }] }, "block"],
    [{ tools: [{ name: "write", input_schema: {} }] }, "block"],
    [{ tools: [{ functionDeclarations: [{ name: "search" }, { name: "write" }] }] }, "block"],
    [{ tools: [{ type: "web_search" }] }, "block"],
    [{ tools: [{ googleSearch: {} }] }, "block"],
    [{ tools: ["search"] }, "block"],
    [{}, "allow"],
  ] as [JsonObject, string][])("of tools, in every dialect: %j is %s", (body, kind) => {
    expect(admit(body).kind).toBe(kind);
  });

  it("of models, with a rest", () => {
    expect(admit({}, "gpt-4o")).toEqual({ kind: "block", reason: "limits/model" });
    expect(admit({}, "gpt-3").kind).toBe("allow");
  });

  it("of tools that a reply calls", () => {
    expect(check("write", { direction: "output", part: "names" })).toEqual({
      kind: "block",
      reason: "limits/tool",
    });
    expect(check("search", { direction: "output", part: "names" }).kind).toBe("allow");
  });
});

describe("languages", () => {
  it("that are not allowed are refused in written texts; unknown languages follow the option", () => {
    const { check, guardrail } = make({ languages: ["en"] });
    expect(guardrail.reach).toBe(Infinity);
    expect(check("Das ist der Text, den ich dir heute mit der Post geschickt habe.").kind).toBe(
      "block",
    );
    expect(check("This is the text that I have sent to you.").kind).toBe("allow");
    expect(
      check("Das ist der Text, den ich dir heute geschickt habe.", { part: "tool" }).kind,
    ).toBe("allow");
    expect(check("12345").kind).toBe("allow");
    expect(make({ languages: ["en"], unknown_language: "block" }).check("12345").kind).toBe(
      "block",
    );
  });
});

it("options that limit nothing are a fault", () => {
  expect(limits.check?.({ unknown_language: "pass" })).toHaveLength(1);
  expect(limits.check?.({ unknown_language: "pass", models: { allow: ["x"] } })).toEqual([]);
});

const CONFIGS: Partial<LimitsConfig>[] = [
  { reply: { max_characters: 30 } },
  { languages: ["en"], unknown_language: "block" },
];
const long = "This sentence of a reply is longer than thirty characters.";
guardrailContract(
  limits,
  {
    config: { unknown_language: "pass", ...CONFIGS[0] },
    denied: [long],
    allowed: [],
    // oxlint-disable-next-line no-console -- the report is for the person that runs the suite.
    report: console.info,
  },
  { describe, it },
);
guardrailContract(
  limits,
  {
    config: { unknown_language: "pass", ...CONFIGS[1] },
    denied: ["Das ist der Text, den ich dir heute mit der Post geschickt habe."],
    allowed: ["This is the text that you have sent to me."],
  },
  { describe, it },
);

describe("the self-test", () => {
  it.each([
    { tools: { allow: ["a"] } },
    { tools: { deny: ["b*"] } },
    { models: { allow: ["m"] } },
    { prompt: { max_tokens: 3 } },
  ] as Partial<LimitsConfig>[])("has something to refuse: %j", (config) => {
    const sample = limits.sample({ unknown_language: "pass", ...config });
    const { admit } = make(config);
    const verdict =
      typeof sample === "string"
        ? admit({ messages: [{ role: "user", content: sample }] })
        : admit({ ...sample.body }, sample.model ?? "self-test");
    expect(verdict.kind).toBe("block");
  });
});
