import type { JsonObject } from "@sluice/contract";
import { amount } from "@sluice/testing";
import {
  type Arbitrary,
  assert,
  constant,
  constantFrom,
  dictionary,
  oneof,
  property,
  record,
  string,
  tuple,
} from "fast-check";
import { describe, expect, it } from "vitest";
import { ChunkRepairer } from "./chunk-repairs.ts";
import { ThoughtRename } from "./thought-rename.ts";

/** Texts that hold what is looked for. */
const words = oneof(
  string({ unit: "binary" }),
  constantFrom(
    '"reasoning":"',
    '{"delta":{"reasoning":"x"}}',
    '\\"reasoning',
    '","usage":{',
    '"choices":[{"delta":{',
    "tool_calls",
    "\\",
    '"',
  ),
  tuple(string(), constantFrom('"reasoning":', '\\"error\\":{'), string()).map((parts) =>
    parts.join(""),
  ),
);
/** Mostly nothing, now and then a member that makes a chunk odd. */
const seldom = (members: Record<string, Arbitrary<unknown>>): Arbitrary<object> =>
  oneof(
    { weight: 4, arbitrary: constant({}) },
    { weight: 1, arbitrary: record(members, { requiredKeys: [] }) },
  );
const calls = [{ index: 0, id: "a", type: "function", function: { name: "f", arguments: "" } }];
const delta = tuple(
  record(
    { role: constantFrom("assistant", "", null), content: constantFrom("", null) },
    { requiredKeys: [] },
  ),
  seldom({ content: words, reasoning_content: oneof(words, constant(null)) }),
  record({
    reasoning: oneof(
      { weight: 5, arbitrary: words },
      { weight: 1, arbitrary: constantFrom(null, "") },
    ),
  }),
  seldom({
    channel: constant("analysis"),
    reasoning_details: constant([{ text: "x" }]),
    tool_calls: constantFrom<unknown>([], null, calls),
  }),
).map((parts): object => Object.assign({}, ...parts) as object);
const choice = tuple(
  record({ index: constantFrom(0, 1) }, { requiredKeys: [] }),
  record({ delta }),
  record({ logprobs: constant(null), finish_reason: constant(null) }, { requiredKeys: [] }),
  seldom({ finish_reason: constant("stop"), error: constant(null) }),
).map((parts): object => Object.assign({}, ...parts) as object);
const chunk = tuple(
  record({
    id: words,
    object: constant("chat.completion.chunk"),
    model: words,
    choices: tuple(choice),
  }),
  record({ usage: constant(null), service_tier: constant("default") }, { requiredKeys: [] }),
  seldom({
    usage: constant({ prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }),
    x_groq: constantFrom({ id: "req" }, null),
    nested: constant({ choices: [{ delta: { reasoning: "not this one" } }] }),
    others: dictionary(words, words, { maxKeys: 2 }),
    error: constantFrom(null, "no", { message: "No." }),
  }),
).map((parts): object => Object.assign({}, ...parts) as object);
/** The members of each object in any order, as servers write them; then with spaces or without. */
const texts = tuple(chunk, constantFrom(0, 1, 2, 3), constantFrom(false, true)).map(
  ([value, turns, isSpaced]) => {
    const entries = Object.entries(value);
    const turned = Object.fromEntries([...entries.slice(turns), ...entries.slice(0, turns)]);
    return isSpaced
      ? JSON.stringify(turned, null, 1).replaceAll("\n", " ")
      : JSON.stringify(turned);
  },
);

/** The next reader refuses a value that is no object, under either name. */
function objectOf(text: string): JsonObject | undefined {
  try {
    return JSON.parse(text) as JsonObject;
  } catch {
    return undefined;
  }
}

describe("thoughts under another name", () => {
  it("are what parsing and writing the chunk makes of it, or are left to that", () => {
    let renamings = 0;
    assert(
      property(texts, texts, (first, second) => {
        const rename = new ThoughtRename();
        // The second time a text is compared with what was seen; and a thought may end anywhere in
        // the other's end.
        for (const text of [
          first,
          second,
          first,
          second,
          `${first.slice(0, first.length >> 1)}${second.slice(second.length >> 1)}`,
        ]) {
          const renamed = rename.renamed(text);
          if (renamed === undefined) continue;
          const parsed = objectOf(text);
          if (parsed === undefined) continue;
          renamings++;
          const repaired = new ChunkRepairer({}, "r").repair({ value: parsed, bytes: text });
          expect(repaired).not.toBe(parsed);
          expect(JSON.parse(renamed)).toEqual(repaired);
          expect(renamed.replace('"reasoning_content"', '"reasoning"')).toBe(text);
        }
      }),
      { numRuns: amount(600, 3_000) },
    );
    expect(renamings).toBeGreaterThan(amount(30, 300));
  });

  it.each([
    ["a name with an escaped quote", '{"x\\"choices":[{"index":0,"delta":{"reasoning":"a"}}]}'],
    [
      "a list of choices within another object",
      '{"x":{"choices":[{"index":0,"delta":{"reasoning":"a"}}]}}',
    ],
    ["a second thought", '{"choices":[{"index":0,"delta":{"reasoning":"a","reasoning":null}}]}'],
    ["both names", '{"choices":[{"index":0,"delta":{"reasoning":"a","reasoning_content":"b"}}]}'],
    [
      "a second choice",
      '{"choices":[{"index":0,"delta":{"reasoning":"a"}},{"index":1,"delta":{"reasoning":"b"}}]}',
    ],
    ["a finish", '{"choices":[{"index":0,"delta":{"reasoning":"a"},"finish_reason":"stop"}]}'],
    ["a usage", '{"choices":[{"index":0,"delta":{"reasoning":"a"}}],"usage":{"prompt_tokens":1}}'],
    ["an error", '{"choices":[{"index":0,"delta":{"reasoning":"a"}}],"error":{"message":"No."}}'],
    ["no thought", '{"choices":[{"index":0,"delta":{"content":"a"}}]}'],
    ["no text", '{"choices":[{"index":0,"delta":{"reasoning":null}}]}'],
  ])("stay where there is %s", (_, text) => {
    expect(new ThoughtRename().renamed(text)).toBeUndefined();
  });
});
