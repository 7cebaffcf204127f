import { describe, expect, it } from "vitest";
import { fakeHost, guardrailContract } from "@sluice/testing";
import type { TextContext, Verdict } from "@sluice/contract";
import schema from "./index.ts";
import { type Repair, repaired } from "./repair.ts";

const ANSWER = {
  type: "object",
  required: ["answer"],
  additionalProperties: false,
  properties: {
    answer: { type: "string", pattern: "^[a-z]+$" },
    sources: { type: "array", items: { type: "string", format: "uri" } },
  },
};
const EVERY: readonly Repair[] = ["fences", "surrounding_text", "trailing_commas"];

function judge(
  text: string,
  repair: readonly Repair[] = [],
  more: Partial<TextContext> = {},
): Verdict {
  const guardrail = schema.create({ schema: ANSWER, repair }, fakeHost());
  const context = {
    exchange: "x",
    operation: "chat",
    model: "m",
    direction: "output",
    part: "content",
    place: "choices.0.message.content",
    isPartial: false,
    offset: 0,
    ...more,
  } as const;
  return guardrail.check(text, new AbortController().signal, context) as Verdict;
}

describe("a reply", () => {
  it.each([
    ['{"answer":"yes"}', "allow"],
    ['  {"answer":"yes","sources":["https://a.example/b"]}\n', "allow"],
    ['{"answer":"NO"}', "schema/pattern"],
    ['{"answer":1}', "schema/type"],
    ["{}", "schema/required"],
    ['{"answer":"a","more":1}', "schema/additionalProperties"],
    ['{"answer":"a","sources":["no uri"]}', "schema/format"],
    ["null", "schema/type"],
    ["The answer is yes.", "schema/no_json"],
    ['{"answer":"yes"', "schema/no_json"],
  ])("%s is %s", (text, what) => {
    const verdict = judge(text);
    expect(verdict.kind === "block" ? verdict.reason : verdict.kind).toBe(what);
  });

  it("is all that is judged: no request, no arguments, no link", () => {
    expect(judge("hello", [], { direction: "input", part: "user" }).kind).toBe("allow");
    expect(judge("hello", [], { part: "arguments" }).kind).toBe("allow");
    expect(
      judge("A page", [], { place: "choices.0.message.annotations.0.url_citation.title" }).kind,
    ).toBe("allow");
    expect(judge("hello", [], { place: "0/content" }).kind).toBe("block");
  });

  it("is replaced by its repair, if that fits the schema", () => {
    const text = 'Sure:\n```json\n{"answer":"yes",}\n```\nBye.';
    const spans = [{ start: 0, end: text.length, replacement: '{"answer":"yes"}' }];
    expect(judge(text, EVERY)).toMatchObject({ kind: "edit", spans });
    expect(judge('{"answer":"NO",}', EVERY)).toEqual({ kind: "block", reason: "schema/pattern" });
  });
});

describe("repairs", () => {
  const cases: [string, readonly Repair[], string | undefined][] = [
    ['```json\n{"a":1}\n```', ["fences"], '{"a":1}'],
    ["```\r\n[1]\r\n```  ", ["fences"], "[1]"],
    ['```json\n{"a":1}\n``` and more', ["fences"], undefined],
    ['Here: {"a":"}"} there', ["surrounding_text"], '{"a":"}"}'],
    ['Here: {"a":1,} there', ["surrounding_text"], undefined],
    ['{"a":[1,2, ], "b":"x,}" , }', ["trailing_commas"], '{"a":[1,2 ], "b":"x,}"  }'],
    ['{"a":1,}', ["fences"], undefined],
    [' \n```json5 \n\n{"a":1}\n\n\t ```\n\n', ["fences"], '\n{"a":1}\n'],
    ['```\n{"a":1} ```', ["fences"], '{"a":1}'],
    ['```\n{"a":1}', ["fences"], undefined],
    ["```\n```", ["fences"], undefined],
    ["```\n``", ["fences"], undefined],
    ["[1,,]", ["trailing_commas"], undefined],
    ['{"a":"unfinished', EVERY, undefined],
    ['{"a":"\\"}",}', ["trailing_commas"], '{"a":"\\"}"}'],
    ["no json", EVERY, undefined],
    ["", EVERY, undefined],
    ["}", EVERY, undefined],
  ];
  it("take a time that grows with the text alone", () => {
    // Models in JSON mode may write white space until their last token.
    const blanks = " ".repeat(1_048_576);
    for (const text of [
      `\`\`\`json\n{"a":1,${blanks}`,
      `\`\`\`json\n{"a":1}${blanks}\`\`\`${blanks}x`,
      `${blanks}\`\``,
    ])
      expect(repaired(text, EVERY)).toBe(text.includes("}") ? '{"a":1}' : undefined);
    expect(repaired(`\`\`\`\n[1]${blanks}\`\`\``, ["fences"])).toBe("[1]");
  });

  it.each(cases)("of %s by %j give %s", (text, repairs, json) => {
    expect(repaired(text, repairs)).toBe(json);
  });
});

it("a schema that is at fault is a finding", () => {
  expect(schema.check?.({ schema: { type: "objekt" }, repair: [] })?.[0]?.path).toEqual(["schema"]);
  expect(
    schema.check?.({ schema: { type: "string", pattern: "(?<!a)b" }, repair: [] })?.[0]?.message,
  ).toContain("at fault");
  expect(
    schema.check?.({ schema: { $ref: "https://elsewhere.example/schema" }, repair: [] }),
  ).toHaveLength(1);
  expect(schema.check?.({ schema: ANSWER, repair: [] })).toEqual([]);
});

guardrailContract(
  schema,
  {
    config: { schema: ANSWER, repair: ["fences", "trailing_commas"] },
    denied: ['{"answer":"yes",}', "no", '{"answer":"NO"}'],
    // Between other words no reply is JSON: what must pass stands alone, above.
    allowed: [],
    // oxlint-disable-next-line no-console -- the report is for the person that runs the suite.
    report: console.info,
  },
  { describe, it },
);
