import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CustomInput } from "./reply/custom-input.ts";

/** Characters that JSON writes in different ways; two of them are halves of one. */
const UNIT = fc.constantFrom(...'ab"\\/{}\n\t\u0001äß€\u2028', "😀", "\ud83d", "\ude00");

function inputOf(...pieces: readonly string[]): string {
  const reader = new CustomInput();
  return pieces.map((piece) => reader.add(piece)).join("") + reader.end();
}

describe("CustomInput", () => {
  it("unwraps any input, in any pieces and any spelling of JSON", () => {
    const escaped = (text: string): string =>
      Array.from({ length: text.length }, (_, at) => {
        const unit = text.charCodeAt(at).toString(16).padStart(4, "0");
        return `\\u${unit}`;
      }).join("");
    fc.assert(
      fc.property(
        fc.string({ unit: UNIT }),
        fc.array(fc.nat(200)),
        fc.boolean(),
        (input, cuts, isEscaped) => {
          const string = isEscaped ? `"${escaped(input)}"` : JSON.stringify(input);
          const text = ` { "input" :${string}, "more": 1 } `;
          const places = [0, ...cuts.filter((cut) => cut < text.length), text.length];
          places.sort((a, b) => a - b);
          const pieces = places.slice(1).map((end, at) => text.slice(places[at], end));
          expect(inputOf(...pieces)).toBe(input);
        },
      ),
    );
  });

  it("gives the same input of the same text however it is cut", () => {
    const texts = [
      '{"input":"a\\"b\\\\c\\/\\b\\f\\n\\r\\t\\u00e4\\ud83d\\ude00"}',
      '{"input":"\\ud83d\\u0041 \\ud83d"}',
      '{"input":"bad \\x \\u12g4 escape"}',
      '{"input":"never closed',
      '{"input":"cut \\u00',
      '{"input":7}',
      '{"other":"x","input":"late"}',
      "*** Begin Patch",
      '"quoted"',
      "{",
      "",
    ];
    for (const text of texts) {
      const whole = inputOf(text);
      expect(inputOf(...text)).toBe(whole);
      for (let at = 1; at < text.length; at++)
        expect(inputOf(text.slice(0, at), text.slice(at))).toBe(whole);
    }
  });

  it("takes a text without the object as the input", () => {
    expect(inputOf("*** Begin Patch")).toBe("*** Begin Patch");
    expect(inputOf('{"input":7}')).toBe('{"input":7}');
    expect(inputOf('{"other":"x","input":"late"}')).toBe("late");
  });
});
