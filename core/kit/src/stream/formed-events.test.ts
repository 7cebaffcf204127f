import { describe, expect, it } from "vitest";
import { FormedEventReader } from "./formed-events.ts";

/** The data of the events that have been given after each piece of a stream whose form is known. */
function givenAfter(...pieces: readonly string[]): number[] {
  let given = 0;
  const reader = new FormedEventReader({
    hasForm: true,
    event: () => (given += 1),
    read: () => undefined,
    run: () => undefined,
  });
  return pieces.map((piece) => {
    reader.push(Buffer.from(piece));
    return given;
  });
}

describe("an event is given when its empty line has arrived", () => {
  it.each([
    ["line feeds", ["data: a\n\nda", "ta: b\n", "\n"], [1, 1, 2]],
    ["carriage returns behind line feeds", ["data: a\n\ndata: b\r\rdata: c", "\r\r"], [2, 3]],
    ["both behind line feeds", ["data: a\n\n", "data: b\r\n\r\n"], [1, 2]],
    ["line feeds behind both", ["data: a\r\n\r\ndata: b\n\n"], [2]],
    ["a longer event than is awaited", [`data: a\n\ndata: ${"b".repeat(5_000)}`, "\n\n"], [1, 2]],
  ])("with %s", (_what, pieces, expected) => {
    expect(givenAfter(...pieces)).toEqual(expected);
  });
});

describe("a byte order mark", () => {
  it("is left out at the beginning and kept behind it", () => {
    const texts: string[] = [];
    const reader = new FormedEventReader({
      hasForm: false,
      event: ({ data }) => texts.push(data),
      read: () => undefined,
      run: () => undefined,
    });
    for (const piece of ["\ufeffdata: a\n\n", "data: b", "\ufeffc\n\n"])
      reader.push(Buffer.from(piece));
    const behind = new FormedEventReader({
      hasForm: false,
      event: ({ data }) => texts.push(data),
      read: () => undefined,
      run: () => undefined,
    });
    for (const piece of ["data: b", "\ufeffc\n\n"]) behind.push(Buffer.from(piece));
    expect(texts).toEqual(["a", "b\ufeffc", "b\ufeffc"]);
  });
});
