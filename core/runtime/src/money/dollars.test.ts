import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { configuredNanoUsd, dollarText, dollarsOf, nanoUsdOf } from "./dollars.ts";

describe("dollars", () => {
  it.each([
    [0, 0],
    [-0, 0],
    [0.1, 100_000_000],
    [0.3, 300_000_000],
    [1e-9, 1],
    [1e-7, 100],
    [4.35, 4_350_000_000],
    [1_000_000.000000001, 1_000_000_000_000_001],
    [7_999_999.999999999, 7_999_999_999_999_999],
    [8_000_000, 8_000_000_000_000_000],
    [8_000_000.000000001, undefined],
    [0.1 + 0.2, 300_000_000],
    [1e-10, 0],
    [6e-10, 1],
    [1.0000000001, 1_000_000_000],
    [1.0000000006, 1_000_000_001],
    [8_000_000.000000002, undefined],
    [-1, undefined],
    [-1e-9, undefined],
    [1e21, undefined],
    [Number.NaN, undefined],
    [Infinity, undefined],
  ])("%d are %s nano-dollars", (dollars, nanoUsd) => {
    expect(nanoUsdOf(dollars)).toBe(nanoUsd);
  });

  it("come back as they were sent", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 8e15 }), (nanoUsd) => {
        const dollars = dollarsOf(nanoUsd);
        // As a client would write it, and JSON would read it.
        const read = nanoUsdOf(JSON.parse(JSON.stringify(dollars)) as number);
        expect(read).toBe(nanoUsd);
      }),
    );
  });

  it("in a message have no trailing zeros", () => {
    expect([0, 1, 100_000_000, 2_000_000_000].map(dollarText)).toEqual([
      "0",
      "0.000000001",
      "0.1",
      "2",
    ]);
  });

  it("of a configuration are bounded", () => {
    expect(configuredNanoUsd(4.35)).toBe(4_350_000_000);
    expect(() => configuredNanoUsd(8_000_001)).toThrow(RangeError);
  });
});
