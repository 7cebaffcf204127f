import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ObjectText } from "./object-text.ts";

/** Whether a text is a JSON object. */
function isObjectText(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

const blanks = fc.constantFrom("", " ", "\n\t\r ", "\u00a0");
/** Objects, texts of their characters, and both behind each other. */
const texts = fc.oneof(
  fc
    .tuple(blanks, fc.dictionary(fc.string(), fc.jsonValue()), blanks)
    .map(([before, value, after]) => [before, JSON.stringify(value, null, 1), after].join("")),
  fc.string({ unit: fc.constantFrom("{", "}", "[", "]", '"', "\\", ":", ",", " ", "a", "1") }),
  fc.tuple(fc.json(), fc.constantFrom("", "}", "{}", "x", '"'), blanks).map((all) => all.join("")),
);

describe("a text that may become an object", () => {
  it("is whole when JSON.parse reads an object, behind each piece", () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 5 }), (text, length) => {
        const object = new ObjectText();
        for (let at = 0; at < text.length; at += length) {
          object.add(text.slice(at, at + length));
          expect(object.isWhole).toBe(isObjectText(text.slice(0, at + length)));
        }
      }),
      { numRuns: 1000 },
    );
  });

  it("is whole when it is asked for at the end alone", () => {
    fc.assert(
      fc.property(texts, (text) => {
        const object = new ObjectText();
        for (const character of text) object.add(character);
        expect(object.isWhole).toBe(isObjectText(text));
      }),
    );
  });

  it("is read once, in however many pieces it arrives", () => {
    const object = new ObjectText();
    object.add(`{"a":[${"{},".repeat(300_000)}`);
    for (let piece = 0; piece < 20_000; piece++) {
      object.add("{}\n,{}\n");
      expect(object.isWhole).toBe(false);
    }
    object.add(",1]}");
    expect(object.isWhole).toBe(false);
  });

  it("is parsed once", () => {
    const object = new ObjectText();
    object.add(`{"a":[${"{},".repeat(300_000)}1]}`);
    for (let piece = 0; piece < 20_000; piece++) {
      object.add(" ");
      expect(object.isWhole).toBe(true);
    }
    object.add("}");
    expect(object.isWhole).toBe(false);
  });
});
