import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JsonObjectText } from "./json-object-text.ts";

function read(...pieces: readonly string[]): readonly [text: string, isObject: boolean] {
  const text = new JsonObjectText();
  return [pieces.map((piece) => text.push(piece)).join(""), text.isObject()];
}

describe("the object in a text", () => {
  it.each<[string, string, boolean]>([
    ['{"a":1}', '{"a":1}', true],
    ['```json\n{"a":"}"}\n```', '{"a":"}"}', true],
    ['Sure: {"a":{"b":"\\"{"}} Done. {}', '{"a":{"b":"\\"{"}}', true],
    ["No.", "", false],
    ["[1]", "", false],
    ['{"a":', '{"a":', false],
    ["{a}", "{a}", false],
    ["", "", false],
  ])("of %j is %j", (text, object, isObject) => {
    expect(read(text)).toEqual([object, isObject]);
  });

  it("is the same wherever the text is cut", () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue()).map((value) => JSON.stringify(value));
    fc.assert(
      fc.property(object, fc.nat(), (text, at) => {
        const whole = `\`\`\`json\n${text}\n\`\`\``;
        const cut = at % whole.length;
        expect(read(whole.slice(0, cut), whole.slice(cut))).toEqual([text, true]);
      }),
      { numRuns: 100 },
    );
  });
});
