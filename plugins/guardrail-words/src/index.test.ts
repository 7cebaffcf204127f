import { describe, expect, it } from "vitest";
import { applySpans, orderSpans } from "@sluice/kit/internals";
import { fakeHost, guardrailContract } from "@sluice/testing";
import type { TextContext, Verdict } from "@sluice/contract";
import words from "./index.ts";
import type { ListConfig } from "./lists.ts";

const list = (more: Partial<ListConfig>): ListConfig => ({
  name: "list",
  words: [],
  patterns: [],
  match: "word",
  action: "mask",
  replacement: "[X]",
  ...more,
});

const config = {
  lists: [
    list({ words: ["forbidden", "Wile E. Coyote", "forbidden fruit"] }),
    list({ name: "inside", words: ["acme"], match: "substring", replacement: "[ACME]" }),
    list({ name: "pattern", patterns: ["project-[a-z]{3,20}", String.raw`\bx{2,5}y?\b`] }),
  ],
};
const texts = {
  denied: [
    "a forbidden fruit",
    "Wile E. Coyote",
    "superacmes",
    "in project-alpha and project-project-beta",
    "xxy or xxxxx",
  ],
  allowed: ["unforbidden", "Wile Coyote", "project-ab", "xxxxxxy", "ac me"],
  // oxlint-disable-next-line no-console -- the report is for the person that runs the suite.
  report: console.info,
};

guardrailContract(words, { config, ...texts }, { describe, it });

describe("blocking and masking together", () => {
  const [first, ...others] = config.lists;
  const lists = [{ ...first!, action: "block" as const }, ...others];
  guardrailContract(
    words,
    { config: { lists }, denied: texts.denied, allowed: texts.allowed },
    { describe, it },
  );
});

const context: TextContext = {
  exchange: "e",
  operation: "chat",
  model: "m",
  direction: "input",
  part: "user",
  place: "p",
  isPartial: false,
  offset: 0,
};

function check(lists: readonly ListConfig[], text: string): Verdict {
  return words
    .create({ lists }, fakeHost())
    .check(text, new AbortController().signal, context) as Verdict;
}

function edited(more: Partial<ListConfig>, text: string): string {
  const verdict = check([list(more)], text);
  return verdict.kind === "edit" ? applySpans(text, orderSpans(verdict.spans, text.length)) : text;
}

describe("words", () => {
  it.each([
    ["FORBIDDEN", "[X]"],
    ["for\u200bbid\u00adden", "[X]"],
    ["f\u043erbidden", "[X]"],
    ["ｆｏｒｂｉｄｄｅｎ", "[X]"],
    ["fórbidden and fo\u0301rbidden", "[X] and [X]"],
    ["𝐟𝐨𝐫𝐛𝐢𝐝𝐝𝐞𝐧!", "[X]!"],
    ["\u{1F600}forbidden\u{1F600}", "\u{1F600}[X]\u{1F600}"],
    ["forbidden\u200b next", "[X]\u200b next"],
    [`f${"\u200b".repeat(9)}orbidden`, `f${"\u200b".repeat(9)}orbidden`],
    ["unforbidden forbidden2", "unforbidden forbidden2"],
    ["wile\u00a0e.\ncoyote", "[X]"],
  ])("%s", (text, expected) => {
    expect(edited({ words: ["forbidden", "Wile E. Coyote"] }, text)).toBe(expected);
  });

  it("come from files too, one on each line", () => {
    expect(edited({ words: ["# remarks\nalpha\n\n beta \n"] }, "alpha beta # remarks")).toBe(
      "[X] [X] # remarks",
    );
  });

  it("are found inside of each other, the one that begins first and is longest", () => {
    const more = { words: ["she", "he", "hers", "his"], match: "substring" } as const;
    expect(edited(more, "ushers this")).toBe("u[X][X] t[X]");
  });

  it("may be of another alphabet", () => {
    expect(edited({ words: ["Вор"] }, "вор ВОР воры")).toBe("[X] [X] воры");
  });

  it("may be ten thousand", () => {
    const many = Array.from({ length: 10_000 }, (_none, at) => `word${at}`);
    const text = "no word here ".repeat(8_000);
    const guardrail = words.create({ lists: [list({ words: many })] }, fakeHost());
    const startedMs = performance.now();
    expect(guardrail.check(text, new AbortController().signal, context)).toEqual({ kind: "allow" });
    // oxlint-disable-next-line no-console -- a figure, for the person that runs the suite.
    console.info(
      `words: 10,000 words, ${text.length} characters: ${(performance.now() - startedMs).toFixed(1)} ms`,
    );
  });
});

describe("patterns", () => {
  const hostile = ["(a+)+$", "(a|aa)+b", "(a|a)*b", "(?:a?){20}a{20}b", "a{1,64}b", "(.*)*x"];
  const inputs = [
    `${"a".repeat(27)}!`,
    "a".repeat(100_000),
    "ab".repeat(50_000),
    "b ".repeat(50_000),
  ];
  it.each(hostile)("that would hang a backtracking engine are linear: %s", (pattern) => {
    const guardrail = words.create({ lists: [list({ patterns: [pattern] })] }, fakeHost());
    for (const input of inputs) {
      const startedMs = performance.now();
      const verdict = guardrail.check(input, new AbortController().signal, context) as Verdict;
      // oxlint-disable-next-line no-console -- a figure, for the person that runs the suite.
      console.info(
        `words: ${pattern}, ${input.length} characters: ${(performance.now() - startedMs).toFixed(1)} ms`,
      );
      expect(["allow", "edit"]).toContain(verdict.kind);
    }
  });

  it("judge streams in windows only when their matches are bounded", () => {
    const reach = (pattern: string): number =>
      words.create({ lists: [list({ patterns: [pattern] })] }, fakeHost()).reach;
    expect(reach("a{1,64}b")).toBe(65 + 52);
    expect(reach("a+b")).toBe(Infinity);
  });

  it("fold as texts do", () => {
    expect(edited({ patterns: ["caf[eé]-[0-9]{1,3}"] }, "CAFÉ-12 cаfe-7")).toBe("[X] [X]");
  });
});

describe("verdicts", () => {
  it("name the list that blocks, and where", () => {
    expect(check([list({ name: "bad", words: ["foo"], action: "block" })], "a foo")).toEqual({
      kind: "block",
      reason: "bad",
      start: 2,
      end: 5,
      spans: [],
    });
  });
});

describe("the configuration", () => {
  it.each([
    [[list({})], ["lists", 0]],
    [[list({ patterns: ["("] })], ["lists", 0, "patterns", 0]],
    [[list({ words: ["a"], patterns: ["(?:[a-z]{50}){20}"] })], ["lists", 0, "patterns", 0]],
    [[list({ words: ["a"], patterns: ["a*"] })], ["lists", 0, "patterns", 0]],
    [[list({ patterns: ["(?<=a)b"] })], ["lists", 0, "patterns", 0]],
    [[list({ words: ["a".repeat(201)] })], ["lists", 0, "words"]],
    [[list({ words: ["\u200b\u200b"] })], ["lists", 0, "words"]],
    [[list({ patterns: ["ab"] })], ["lists"]],
  ])("is refused where a list cannot work: %#", (lists, path) => {
    expect(words.check?.({ lists }).map((fault) => fault.path)).toEqual([path]);
  });

  it("is accepted where it can", () => {
    expect(words.check?.({ lists: [list({ patterns: ["ab"] })], sample: "ab" })).toEqual([]);
    expect(words.check?.(config)).toEqual([]);
  });
});
