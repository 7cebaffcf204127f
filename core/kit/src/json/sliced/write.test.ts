import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonValue } from "@sluice/contract";
import { amount } from "@sluice/testing";
import { objectText, valueText } from "../json-text.fixture.ts";
import { parseJson } from "../parse.ts";
import { isAtLeast } from "./length.ts";
import { PIECE_CHARACTERS } from "./text.ts";
import { writtenPieces } from "./write.ts";

/** Long enough for several pieces, at every level. */
const filler = fc
  .tuple(
    fc.constantFrom("x", "\u00e9\u0000", "\u{1f600}", "a\ud800", '"\\\n'),
    fc.integer({ min: PIECE_CHARACTERS - 4, max: PIECE_CHARACTERS + 4 }),
  )
  .chain(([text, count]) =>
    fc.constantFrom<JsonValue>(
      text.repeat(count),
      Array.from({ length: count / 8 }, (_, at) => ({ at, text })),
      Object.fromEntries(Array.from({ length: count / 16 }, (_, at) => [`${text}${at}`, [text]])),
      [text.repeat(count), text, [text.repeat(count)]],
    ),
  );
const value = fc.oneof(
  objectText.map((text) => parseJson(text) as JsonValue),
  valueText.map((text) => parseJson(text) as JsonValue),
);
const large = fc
  .tuple(filler, value, filler, value)
  .chain(([first, one, second, two]) =>
    fc.constantFrom<JsonValue>(
      [one, first, two, second],
      { first, one, "": undefined, second, two, last: undefined },
      [[[first]], one, { two: [two, { second }] }],
      { undefined, list: [undefined as unknown as JsonValue, first, one], rest: { undefined } },
    ),
  );

it("a text that is taken for as long as a number is no shorter", () => {
  fc.assert(
    fc.property(value, fc.nat(200), (each, characters) => {
      const { length } = JSON.stringify(each);
      expect(isAtLeast(each, characters) && length < characters).toBe(false);
    }),
  );
  expect([isAtLeast("x".repeat(98), 100), isAtLeast("x".repeat(97), 100)]).toEqual([true, false]);
  expect(isAtLeast([{ a: "x".repeat(90) }], 97)).toBe(true);
});

describe("a value that is written in slices", () => {
  it("has the text that JSON.stringify gives it", () => {
    fc.assert(
      fc.property(fc.oneof(value, large), (each) => {
        expect([...writtenPieces(each)].join("") === JSON.stringify(each)).toBe(true);
      }),
      { numRuns: amount(15, 50) },
    );
  });

  it("has pieces of bounded length, which end between two characters", () => {
    fc.assert(
      fc.property(large, (each) => {
        const pieces = [...writtenPieces(each)];
        // A character is written as at most six.
        expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(14 * PIECE_CHARACTERS);
        const bytes = Buffer.concat(pieces.map((piece) => Buffer.from(piece)));
        expect(bytes.equals(Buffer.from(JSON.stringify(each)))).toBe(true);
      }),
      { numRuns: amount(5, 15) },
    );
  });
});
