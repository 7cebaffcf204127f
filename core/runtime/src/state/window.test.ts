import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { amount } from "@sluice/testing";
import {
  addNow,
  advance,
  createWindow,
  emptyMs,
  giveBack,
  isPast,
  type SlidingWindow,
  waitMs,
} from "./window.ts";

const WINDOW_MS = 60_000;
const PART_MS = 1_000;
/** A part counts until the window has passed its end. */
const PARTS = 61;

/** What was taken, one entry for each time. */
class Takes {
  readonly all: { readonly index: number; amount: number }[] = [];

  counting(nowMs: number): readonly { readonly index: number; readonly amount: number }[] {
    const present = Math.floor(nowMs / PART_MS) + PARTS;
    return this.all.filter(({ index, amount: taken }) => present - index < PARTS && taken > 0);
  }

  used(nowMs: number): number {
    return this.counting(nowMs).reduce((sum, { amount: taken }) => sum + taken, 0);
  }

  /** The first moment, in steps of parts, at which at most `rest` counts. */
  freeMs(nowMs: number, rest: number): number {
    if (this.used(nowMs) <= rest) return 0;
    for (const { index } of this.counting(nowMs)) {
      const atMs = index * PART_MS;
      if (this.used(atMs) <= rest) return Math.max(1, atMs - nowMs);
    }
    return 0;
  }
}

const step = fc.record({
  waitMs: fc.oneof(fc.constant(0), fc.integer({ max: 3_000 }).map(Math.abs), fc.nat(130_000)),
  amount: fc.nat(50),
  /** Which earlier take is given back in part: none where there are fewer. */
  back: fc.option(fc.record({ of: fc.nat(8), amount: fc.nat(60) }), { nil: undefined }),
});

describe("a sliding window", () => {
  it("counts what was taken within its span, whatever comes when", () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), fc.array(step, { maxLength: 60 }), (startMs, steps) => {
        const window = createWindow(WINDOW_MS);
        const takes = new Takes();
        let nowMs = startMs;
        for (const { waitMs: passedMs, amount: taken, back } of steps) {
          nowMs += passedMs;
          advance(window, nowMs);
          expect(window.used).toBe(takes.used(nowMs));
          take(window, takes, taken);
          const other = back && takes.all.at(-1 - back.of);
          if (other !== undefined && back !== undefined) {
            const inPart = takes.counting(nowMs).filter(({ index }) => index === other.index);
            const most = inPart.reduce((sum, { amount: one }) => sum + one, 0);
            giveBack(window, other.index, back.amount);
            returnTo(takes, other.index, Math.min(back.amount, most));
          }
          const used = takes.used(nowMs);
          expect(window.used).toBe(used);
          expect(emptyMs(window, nowMs)).toBe(takes.freeMs(nowMs, 0));
          const surplus = Math.min(5, used);
          expect(waitMs(window, nowMs, 10, used + 10 - surplus)).toBe(
            takes.freeMs(nowMs, used - surplus),
          );
        }
      }),
      { numRuns: amount(100, 1_000) },
    );
  });

  it("keeps no more parts than its span has, and none when it was left", () => {
    const window = createWindow(WINDOW_MS);
    for (let nowMs = 0; nowMs < 10 * WINDOW_MS; nowMs += 100) {
      advance(window, nowMs);
      addNow(window, 0.1);
      expect(window.parts.length).toBeLessThanOrEqual(2 * PARTS);
    }
    expect(isPast(window, 10.5 * WINDOW_MS)).toBe(false);
    advance(window, 12 * WINDOW_MS);
    expect([window.parts, window.used]).toEqual([[], 0]);
    expect(isPast(window, 14 * WINDOW_MS)).toBe(true);
  });
});

function take(window: SlidingWindow, takes: Takes, taken: number): void {
  addNow(window, taken);
  takes.all.push({ index: window.newest, amount: taken });
}

/** Takes an amount from the entries of a part. */
function returnTo(takes: Takes, index: number, given: number): void {
  let rest = given;
  for (const entry of takes.all.filter((one) => one.index === index)) {
    const part = Math.min(rest, entry.amount);
    entry.amount -= part;
    rest -= part;
  }
}
