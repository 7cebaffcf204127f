import { describe, expect, it } from "vitest";
import { forecast, lengthOf, periodOf } from "./periods.ts";

const NOW = Date.parse("2026-03-10T15:00:00Z");

describe("periods of spend", () => {
  it.each([
    ["today", "2026-03-10", "2026-03-10"],
    ["yesterday", "2026-03-09", "2026-03-09"],
    ["7d", "2026-03-04", "2026-03-10"],
    ["30d", "2026-02-09", "2026-03-10"],
    ["month", "2026-03-01", "2026-03-10"],
    ["last-month", "2026-02-01", "2026-02-28"],
    ["unknown", "2026-02-09", "2026-03-10"],
  ])("%s is from %s to %s", (name, from, to) => {
    expect(periodOf(name, NOW)).toEqual({ from, to });
  });

  it("have a length in days, both ends included", () => {
    expect(lengthOf({ from: "2026-03-01", to: "2026-03-10" })).toBe(10);
  });

  it("of a month are continued to its end", () => {
    const half = Date.parse("2026-04-16T00:00:00Z");
    expect(forecast("month", 15, half)).toBe(30);
    expect(forecast("30d", 15, half)).toBeUndefined();
    expect(forecast("month", 15, Date.parse("2026-04-01T08:00:00Z"))).toBeUndefined();
  });
});
