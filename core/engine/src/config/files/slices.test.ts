import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { atOnce, inSlices, type Pieces, TimeSlices } from "./slices.ts";

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

  it("gives the same at once and in slices", async () => {
    expect(atOnce(work(3, 0))).toBe("done");
    expect(await inSlices(work(3, 0))).toBe("done");
  });

  it("rests after each turn, and not after each piece", async () => {
    const slices = new TimeSlices();
    const pause = vi.spyOn(slices, "pause");
    expect(await inSlices(work(12, 0.5), slices)).toBe("done");
    expect(pause).toHaveBeenCalledTimes(3);
  });

  it("lets others run before it goes on", async () => {
    const order: string[] = [];
    setTimeout(() => order.push("another"), 0);
    await inSlices(work(1, 2));
    order.push("the work");
    expect(order).toEqual(["another", "the work"]);
  });

  it("throws what the work throws", async () => {
    const failing = function* (): Pieces<never> {
      yield;
      throw new Error("broken");
    };
    expect(() => atOnce(failing())).toThrow("broken");
    await expect(inSlices(failing())).rejects.toThrow("broken");
  });
});
