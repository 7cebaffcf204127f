import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EscapeReader, plainEscapes } from "./escapes.ts";

const MEGABYTE = 1_048_576;

/** What a reader gives for a text in pieces. */
function read(pieces: readonly string[]): string {
  const reader = new EscapeReader();
  return pieces.map((piece) => reader.push(piece)).join("");
}

/** The inside of a JSON string: no escape of it is unfinished. */
const inside = fc
  .array(
    fc.oneof(
      fc.constantFrom("\\\\", '\\"', "\\n", "\\/", "u", "00", "\\u0066", "\\u005c", "\\ud83d", "a"),
      fc.string({ unit: "grapheme", maxLength: 3 }).map((text) => text.replace(/["\\]/g, "")),
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(""));

describe("escapes of a JSON text in pieces", () => {
  it("are those of the whole text, wherever it is cut", () => {
    fc.assert(
      fc.property(inside, fc.array(fc.nat({ max: 120 }), { maxLength: 12 }), (text, places) => {
        const cuts = [0, ...places.toSorted((one, other) => one - other), text.length];
        const pieces = cuts.slice(1).map((to, at) => text.slice(cuts[at], to));
        expect(read(pieces)).toBe(plainEscapes(text));
      }),
    );
  });

  it("are read in a time that grows with the text alone", () => {
    // A pattern that begins at each backslash of the run takes minutes.
    const run = "\\".repeat(MEGABYTE);
    expect(read([`${run}path`])).toBe(`${run}path`);
    expect(read([run, "u0066", run])).toHaveLength(2 * MEGABYTE + 5);
    expect(read([`${run}\\`, "u0066"])).toBe(`${run}f`);
  });
});
