import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { atOnce, inTurns, type Pieces, Turns } from "./pieces.ts";

/** Work of so many pieces, each of so many milliseconds by the faked clock. */
function* work(pieces: number, pieceMs: number): Pieces<string> {
  for (let piece = 0; piece < pieces; piece += 1) {
    nowMs += pieceMs;
    yield;
  }
  return "done";
}

let nowMs = 0;

describe("work in pieces", () => {
  beforeEach(() => {
    vi.spyOn(performance, "now").mockImplementation(() => nowMs);
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it("gives the same at once and in turns", async () => {
    expect(atOnce(work(3, 0))).toBe("done");
    expect(await inTurns(work(3, 0))).toBe("done");
  });

  it("rests after each turn, and not after each piece", async () => {
    const turns = new Turns();
    const rest = vi.spyOn(turns, "rest");
    expect(await inTurns(work(12, 0.5), turns)).toBe("done");
    expect(rest).toHaveBeenCalledTimes(3);
  });

  it("lets others run before it goes on", async () => {
    const order: string[] = [];
    setTimeout(() => order.push("another"), 0);
    await inTurns(work(1, 2));
    order.push("the work");
    expect(order).toEqual(["another", "the work"]);
  });

  it("throws what the work throws", async () => {
    const failing = function* (): Pieces<never> {
      yield;
      throw new Error("broken");
    };
    expect(() => atOnce(failing())).toThrow("broken");
    await expect(inTurns(failing())).rejects.toThrow("broken");
  });
});
