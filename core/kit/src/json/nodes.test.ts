import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "@sluice/contract";
import { amount } from "@sluice/testing";
import { readMembers } from "./members.ts";
import { hasRepeatedMembers, nodesOf } from "./nodes.ts";
import { parseJson } from "./parse.ts";

/** The nodes of a text, and those of its value. */
const both = (text: string): readonly [number, number] => [
  readMembers(text).nodes,
  nodesOf(parseJson(text) as JsonObject),
];

/** A text, and the same with one member of one object written twice. */
interface Texts {
  readonly plain: string;
  readonly repeated: string | undefined;
}

const name = fc.oneof(
  fc.constantFrom("a", "b", "", "0", "__proto__", 'x"', "\\"),
  fc.string({ maxLength: 4 }),
);
const scalar = fc
  .oneof(fc.constantFrom<unknown>(null, true, 0, -1.5e3, "", ',":{[', '\\"'), fc.string())
  .map((value): Texts => ({ plain: JSON.stringify(value), repeated: undefined }));
const space = fc.constantFrom("", " ", "\n\t");

const { list, object } = fc.letrec<{ value: Texts; list: Texts; object: Texts }>((tie) => ({
  value: fc.oneof({ maxDepth: 5, depthSize: "small" }, scalar, tie("list"), tie("object")),
  list: fc.array(tie("value"), { maxLength: 5 }).map((items) => joined(items, "[", "]")),
  object: fc
    .tuple(
      fc.uniqueArray(fc.tuple(name, tie("value")), { maxLength: 5, selector: ([key]) => key }),
      space,
      fc.nat(),
      fc.boolean(),
    )
    .map(([members, gap, pick, isHere]) => {
      const texts = members.map(([key, { plain, repeated }]): Texts => {
        const start = `${gap}${JSON.stringify(key)}${gap}:${gap}`;
        return {
          plain: start + plain,
          repeated: repeated === undefined ? undefined : start + repeated,
        };
      });
      const twice = texts[pick % texts.length]?.plain;
      return isHere && twice !== undefined
        ? { ...joined(texts, "{", "}"), repeated: `{${[...texts.map(plain), twice].join(",")}}` }
        : joined(texts, "{", "}");
    }),
}));

const plain = (texts: Texts): string => texts.plain;

/** The first part that has a member twice is the one that is written so. */
function joined(parts: readonly Texts[], open: string, close: string): Texts {
  const first = parts.findIndex(({ repeated }) => repeated !== undefined);
  const written = parts.map((part, index) => (index === first ? part.repeated : part.plain));
  return {
    plain: open + parts.map(plain).join(",") + close,
    repeated: first < 0 ? undefined : open + written.join(",") + close,
  };
}

describe("nodesOf", () => {
  it("counts what the text of a value has", () => {
    fc.assert(
      fc.property(object, ({ plain: text }) => {
        const [inText, inValue] = both(text);
        expect(inText).toBe(inValue);
      }),
      { numRuns: amount(200, 2_000) },
    );
  });

  it("counts less than a text in which one member stands twice", () => {
    const repeated = fc
      .oneof(
        object,
        list.map((texts) =>
          joined(
            [{ plain: `"l":${texts.plain}`, repeated: texts.repeated && `"l":${texts.repeated}` }],
            "{",
            "}",
          ),
        ),
      )
      .map((texts) => texts.repeated)
      .filter((text) => text !== undefined);
    fc.assert(
      fc.property(repeated, (text) => {
        const [inText, inValue] = both(text);
        expect(inText).toBeGreaterThan(inValue);
      }),
      { numRuns: amount(200, 2_000) },
    );
  });

  it.each([
    ['{"a":1,"a":1}', 2, 1],
    ['{"a":{"b":1,"b":2}}', 2, 1],
    ['{"a":[[],{}],"b":[{"c":1,"\\u0063":[]}]}', 8, 7],
  ])("%s has %i, its value %i", (text, inText, inValue) => {
    expect(both(text)).toEqual([inText, inValue]);
  });
});

describe("repeated members", () => {
  it.each([
    ['{"a":1,"a":2}', true],
    ['{"":[{"b":{"a":1,"\\u0061":2}}]}', true],
    ['{"a":":","b":"\\"a\\":1"}', false],
    ['{"a":"\\\\","b":{"a":[]}}', false],
    ['{"":[]}', false],
    ["{}", false],
  ])("are found in %s: %s", (text, isRepeated) => {
    expect(hasRepeatedMembers(text, parseJson(text) as JsonObject)).toBe(isRepeated);
  });

  it("are in no text that was written from a value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify({ value });
        expect(hasRepeatedMembers(text, parseJson(text) as JsonObject)).toBe(false);
      }),
    );
  });
});
