import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { WordFinder } from "./word-finder.ts";

function found(words: readonly string[], text: string): string[] {
  const places: string[] = [];
  new WordFinder(words).find(text, (start, end) => places.push(`${start}-${end}`));
  return places.toSorted();
}

describe("the finder of words", () => {
  it("tells words that overlap, and words in words", () => {
    expect(found(["he", "she", "his", "hers"], "ushers")).toEqual(["1-4", "2-4", "2-6"]);
    expect(found(["a", "aa", "aaa"], "aaa")).toEqual(["0-1", "0-2", "0-3", "1-2", "1-3", "2-3"]);
    expect(found([], "a")).toEqual([]);
    expect(found(["", "b"], "ab")).toEqual(["1-2"]);
  });

  it("tells what a search for each word tells", () => {
    const word = fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength: 5 });
    const text = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 60 });
    fc.assert(
      fc.property(fc.uniqueArray(word, { maxLength: 8 }), text, (words, text) => {
        const expected: string[] = [];
        for (const one of words) {
          for (let at = text.indexOf(one); at >= 0; at = text.indexOf(one, at + 1))
            expected.push(`${at}-${at + one.length}`);
        }
        expect(found(words, text)).toEqual(expected.toSorted());
      }),
    );
  });
});
