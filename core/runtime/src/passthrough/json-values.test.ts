import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JsonValues } from "./json-values.ts";

/** The objects of a text that comes in pieces. */
function objectsOf(text: string, pieceBytes = text.length): unknown[] {
  const found: unknown[] = [];
  const values = new JsonValues((object) => found.push(JSON.parse(object)));
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += pieceBytes)
    values.push(bytes.subarray(at, at + pieceBytes));
  return found;
}

describe("the objects of a JSON text", () => {
  it("are those that JSON.parse reads, wherever the text is split", () => {
    const value = fc.object({
      maxDepth: 4,
      withUnicodeString: true,
    } as never) as fc.Arbitrary<object>;
    fc.assert(
      fc.property(
        fc.array(value, { maxLength: 4 }),
        fc.integer({ min: 1, max: 9 }),
        fc.boolean(),
        (objects, pieces, isList) => {
          const texts = objects.map((object) => JSON.stringify(object));
          const text = isList ? `[${texts.join(",\r\n")}]` : texts.join("\n");
          const expected = texts.map((each) => JSON.parse(each) as unknown);
          expect(objectsOf(text, pieces)).toEqual(expected);
        },
      ),
      { numRuns: 200 },
    );
  });

  it.each([
    ["[DONE]", []],
    ['[[1,{"a":1}],{"b":2}]', [[1, { a: 1 }], { b: 2 }]],
    ['{"a":"}"}{"b":"\\\\"}', [{ a: "}" }, { b: "\\" }]],
    ['{"a":1', []],
    ["", []],
  ])("of %s", (text, expected) => {
    expect(objectsOf(text)).toEqual(expected);
  });

  it("keep what stands behind a long list and a long text", () => {
    const numbers = Array.from({ length: 1_000 }, (_, index) => index);
    const long = `${'\u00fc\\"'.repeat(60_000)}`;
    const text = JSON.stringify({
      long,
      numbers,
      mixed: [...numbers, "t", { x: [numbers] }, [], 1],
      end: { usage: 1 },
    });
    for (const pieces of [1_000_003, 7]) {
      const [object] = objectsOf(text, pieces) as [
        { long: string; numbers: number[]; mixed: unknown[]; end: object },
      ];
      expect(long.startsWith(object.long)).toBe(true);
      expect(object.numbers).toEqual(numbers.slice(0, 64));
      expect(object.mixed).toContain("t");
      expect(object.end).toEqual({ usage: 1 });
    }
  });

  it("pass over one that is too deep or too large, and read the next", () => {
    expect(objectsOf(`${'{"a":'.repeat(300)}1${"}".repeat(300)}{"b":1}`)).toEqual([{ b: 1 }]);
    const wide = JSON.stringify({
      a: Array.from({ length: 200_000 }, (_, index) => ({ name: `member number ${index}` })),
    });
    expect(objectsOf(`${wide}{"b":1}`)).toEqual([{ b: 1 }]);
  });
});
