import { assert, constantFrom, integer, nat, property, string, stringMatching } from "fast-check";
import { describe, expect, it } from "vitest";

import { parseDecimal } from "./prices/decimal.ts";
import { distance, nearest } from "./validate/distance.ts";
import { DURATION_PATTERN } from "@sluice/kit/internals";
import { parseDuration } from "@sluice/kit";
import { parseSize, SIZE_PATTERN } from "@sluice/runtime";

describe("durations", () => {
  it("reads every unit", () => {
    expect(["250ms", "30s", "10m", "1h", "7d"].map(parseDuration)).toEqual([
      250, 30_000, 600_000, 3_600_000, 604_800_000,
    ]);
  });

  it("is the number times its unit, for every number and unit", () => {
    const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
    const unit = constantFrom(...(Object.keys(units) as (keyof typeof units)[]));
    assert(
      property(
        nat(3_650),
        unit,
        (count, name) => parseDuration(`${count}${name}`) === count * units[name],
      ),
    );
  });

  it("refuses whatever does not match its pattern", () => {
    const pattern = new RegExp(DURATION_PATTERN);
    assert(property(string(), (text) => pattern.test(text) || parseDuration(text) === undefined));
    expect(
      ["", "1", "s", "-1s", "1.5s", "1 s", "1S", "1s ", "1s\n", "1w", "9999d", "1h30m"].map(
        parseDuration,
      ),
    ).toEqual(Array(12).fill(undefined));
  });
});

describe("sizes", () => {
  it("reads every unit", () => {
    expect(["512b", "64kb", "20mb", "1gb"].map(parseSize)).toEqual([
      512, 65_536, 20_971_520, 1_073_741_824,
    ]);
  });

  it("is the number times its unit, for every number and unit", () => {
    const units = { b: 1, kb: 1_024, mb: 1_048_576, gb: 1_073_741_824 };
    const unit = constantFrom(...(Object.keys(units) as (keyof typeof units)[]));
    assert(
      property(
        nat(1_000_000),
        unit,
        (count, name) => parseSize(`${count}${name}`) === count * units[name],
      ),
    );
  });

  it("refuses whatever does not match its pattern", () => {
    const pattern = new RegExp(SIZE_PATTERN);
    assert(property(string(), (text) => pattern.test(text) || parseSize(text) === undefined));
    expect(["", "20", "20MB", "20 mb", "1.5mb", "-1b", "999999999gb"].map(parseSize)).toEqual(
      Array(7).fill(undefined),
    );
  });
});

describe("decimal prices", () => {
  it("keeps the digits that a float would bend", () => {
    expect(parseDecimal("0.15", 6)).toBe(150_000);
    expect(parseDecimal("1.005", 6)).toBe(1_005_000);
    expect(parseDecimal("0.000001", 6)).toBe(1);
    expect(parseDecimal("75", 6)).toBe(75_000_000);
  });

  it("gives back every integer that is written with its six decimals", () => {
    const pico = integer({ min: 0, max: 999_999_999_999 });
    assert(
      property(pico, (value) => {
        const text = `${Math.floor(value / 1e6)}.${String(value % 1e6).padStart(6, "0")}`;
        return (
          parseDecimal(text, 6) === value &&
          parseDecimal(String(Number(text)), 6) === (value > 0 && value < 1 ? undefined : value)
        );
      }),
    );
  });

  it("refuses what it cannot hold exactly", () => {
    assert(
      property(
        stringMatching(/^[0-9]{1,3}\.[0-9]{6}[1-9]$/),
        (text) => parseDecimal(text, 6) === undefined,
      ),
    );
    expect(
      ["", ".5", "1.", "1e3", "-1", "+1", " 1", "1,5", "9999999999999999"].map((text) =>
        parseDecimal(text, 6),
      ),
    ).toEqual(Array(9).fill(undefined));
  });
});

describe("did you mean", () => {
  it("counts insertions, deletions, substitutions and swapped neighbours", () => {
    expect(distance("retry", "retry")).toBe(0);
    expect(distance("retyr", "retry")).toBe(1);
    expect(distance("rety", "retry")).toBe(1);
    expect(distance("", "abc")).toBe(3);
    expect(distance("kitten", "sitting")).toBe(3);
  });

  it("is the same from both sides", () => {
    assert(
      property(
        string(),
        string(),
        (left, right) => distance(left, right) === distance(right, left),
      ),
    );
  });

  it("offers the nearest word, and none that is far", () => {
    expect(nearest("prot", ["host", "port"])).toBe("port");
    expect(nearest("colour", ["host", "port"])).toBeUndefined();
  });
});
