import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { endOfSpan } from "./span.ts";

const at = (text: string): number => Date.parse(text);

describe("the end of a span", () => {
  it.each([
    ["2026-01-01T00:00:00Z", "30s", "2026-01-01T00:00:30Z"],
    ["2026-01-01T00:00:00Z", "1d", "2026-01-02T00:00:00Z"],
    ["2026-01-01T00:00:00Z", "2w", "2026-01-15T00:00:00Z"],
    ["2026-01-15T12:30:00Z", "1mo", "2026-02-15T12:30:00Z"],
    ["2026-01-31T12:30:00Z", "1mo", "2026-02-28T12:30:00Z"],
    ["2028-01-31T00:00:00Z", "1mo", "2028-02-29T00:00:00Z"],
    ["2026-12-31T23:59:59Z", "2mo", "2027-02-28T23:59:59Z"],
    ["2026-05-31T00:00:00Z", "12mo", "2027-05-31T00:00:00Z"],
    ["2026-01-01T00:00:00Z", "0s", "2026-01-01T00:00:00Z"],
    ["2026-01-01T00:00:00Z", "0w", "2026-01-01T00:00:00Z"],
    ["2026-01-01T00:00:00Z", "0mo", "2026-01-01T00:00:00Z"],
  ])("from %s after %s is %s", (from, span, end) => {
    expect(endOfSpan(span, at(from))).toBe(at(end));
  });

  it.each([
    "",
    "30",
    "s",
    "1 d",
    "-1d",
    "1.5h",
    "1y",
    "1M",
    "mo",
    "9999w",
    "999mo",
    "4000d",
    "1d2h",
    " 1d",
  ])("is not there for %j", (text) => {
    expect(endOfSpan(text, at("2026-01-01T00:00:00Z"))).toBeUndefined();
  });

  it("stays in the month that was meant, on a day that is never later", () => {
    const months = fc.integer({ min: 1, max: 100 });
    const from = fc.date({
      min: new Date("2000-01-01"),
      max: new Date("2100-01-01"),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(months, from, (count, start) => {
        const end = new Date(endOfSpan(`${count}mo`, start.getTime()) ?? Number.NaN);
        const passed =
          (end.getUTCFullYear() - start.getUTCFullYear()) * 12 +
          end.getUTCMonth() -
          start.getUTCMonth();
        expect(passed).toBe(count);
        expect(end.getUTCDate()).toBeLessThanOrEqual(start.getUTCDate());
      }),
    );
  });
});
