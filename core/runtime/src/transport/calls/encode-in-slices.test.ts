import { describe, expect, it } from "vitest";
import { LateSignal } from "@sluice/kit/internals";
import { encodeInTurns } from "./prepare-call.ts";

const ending = new LateSignal();

describe("a long text", () => {
  it.each(["x", "\u00e9", "\u0436x", "x\u{1f600}", "\u{1f600}", "\ud800x"])(
    "of %s has the bytes that it has at once",
    async (piece) => {
      const text = `a${piece.repeat(1_500_000)}`;
      expect(
        Buffer.compare(Buffer.from(await encodeInTurns(text, ending)), Buffer.from(text)),
      ).toBe(0);
    },
  );

  it("that is short stays a text", () => {
    expect(encodeInTurns("short", ending)).toBe("short");
  });
});
