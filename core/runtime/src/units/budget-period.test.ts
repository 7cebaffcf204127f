import { describe, expect, it } from "vitest";
import { budgetPeriod } from "./budget-period.ts";

const at = (text: string) => Date.parse(text);
const shown = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());

describe("the period of a budget", () => {
  it.each([
    ["1d", "2026-11-20T17:00:00Z", "2026-11-20T00:00:00.000Z", "2026-11-21T00:00:00.000Z"],
    ["7d", "2026-11-20T17:00:00Z", "2026-11-16T00:00:00.000Z", "2026-11-23T00:00:00.000Z"],
    ["1w", "2026-11-16T00:00:00Z", "2026-11-16T00:00:00.000Z", "2026-11-23T00:00:00.000Z"],
    ["30d", "2026-02-28T23:59:59Z", "2026-02-01T00:00:00.000Z", "2026-03-01T00:00:00.000Z"],
    ["1mo", "2026-12-31T23:59:59Z", "2026-12-01T00:00:00.000Z", "2027-01-01T00:00:00.000Z"],
    ["3mo", "2026-11-20T17:00:00Z", "2026-10-01T00:00:00.000Z", "2027-01-01T00:00:00.000Z"],
    ["1h", "2026-11-20T17:59:59Z", "2026-11-20T17:00:00.000Z", "2026-11-20T18:00:00.000Z"],
    ["30s", "2026-11-20T17:00:31Z", "2026-11-20T17:00:30.000Z", "2026-11-20T17:01:00.000Z"],
  ])("%s at %s", (duration, now, start, end) => {
    const { startMs, endMs } = budgetPeriod(duration, at(now), "UTC");
    expect([shown(startMs), shown(endMs)]).toEqual([start, end]);
  });

  it.each([
    [
      "1d",
      "Europe/Berlin",
      "2026-11-20T23:30:00Z",
      "2026-11-20T23:00:00.000Z",
      "2026-11-21T23:00:00.000Z",
    ],
    [
      "1d",
      "Europe/Berlin",
      "2026-03-29T12:00:00Z",
      "2026-03-28T23:00:00.000Z",
      "2026-03-29T22:00:00.000Z",
    ],
    [
      "1d",
      "Europe/Berlin",
      "2026-10-25T12:00:00Z",
      "2026-10-24T22:00:00.000Z",
      "2026-10-25T23:00:00.000Z",
    ],
    [
      "1mo",
      "America/New_York",
      "2026-03-15T12:00:00Z",
      "2026-03-01T05:00:00.000Z",
      "2026-04-01T04:00:00.000Z",
    ],
    [
      "7d",
      "Asia/Kolkata",
      "2026-11-22T19:00:00Z",
      "2026-11-22T18:30:00.000Z",
      "2026-11-29T18:30:00.000Z",
    ],
  ])("%s in %s at %s follows the zone's clocks", (duration, zone, now, start, end) => {
    const { startMs, endMs } = budgetPeriod(duration, at(now), zone);
    expect([shown(startMs), shown(endMs)]).toEqual([start, end]);
  });

  it("is for ever without a duration, and for a text that is none", () => {
    for (const duration of [null, undefined, "soon"]) {
      expect(budgetPeriod(duration, at("2026-11-20T17:00:00Z"), "UTC")).toEqual({
        startMs: 0,
        endMs: null,
      });
    }
  });
});
