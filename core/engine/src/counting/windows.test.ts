import fastCheck from "fast-check";
import { describe, expect, it } from "vitest";
import { windowEnd } from "./windows.ts";

function cut(text: string, size: number): string[] {
  const windows: string[] = [];
  for (let start = 0; start < text.length;) {
    const end = windowEnd(text, start, size);
    windows.push(text.slice(start, end));
    start = end;
  }
  return windows;
}

describe("windows", () => {
  it("are cut before a space between words, so that no token is", () => {
    expect(cut("the quick brown fox jumps", 12)).toEqual(["the quick", " brown fox", " jumps"]);
  });

  it("are cut anywhere where there is no word break, but never inside a surrogate pair", () => {
    expect(cut("abcdefgh", 4)).toEqual(["abcd", "efgh"]);
    expect(cut("abc👋👋", 4)).toEqual(["abc", "👋👋"]);
  });

  it("join to the text, are never empty and never longer than they may be", () => {
    const unit = fastCheck.constantFrom("a", " ", "\n", "👋", "漢", "\ud83d", "\udc4b", ".");
    const texts = fastCheck.array(unit, { maxLength: 300 }).map((units) => units.join(""));
    fastCheck.assert(
      fastCheck.property(texts, fastCheck.integer({ min: 1, max: 40 }), (text, size) => {
        const windows = cut(text, size);
        expect(windows.join("")).toBe(text);
        expect(windows.every(({ length }) => length > 0 && length <= size)).toBe(true);
      }),
    );
  });
});
