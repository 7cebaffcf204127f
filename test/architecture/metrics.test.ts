import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ALL_METRICS, METRICS_PAGE, metricsPage } from "../generate/metrics.ts";

/** Labels that could identify a person, or grow without a bound. */
const FORBIDDEN = [
  "key",
  "key_id",
  "user",
  "user_id",
  "team",
  "end_user",
  "request_id",
  "address",
  "prompt",
  "tag",
];

describe("the page of metrics", () => {
  it("is what the generator makes: run node test/generate/metrics.ts", () => {
    expect(readFileSync(METRICS_PAGE, "utf8")).toBe(metricsPage());
  });

  it("names every metric once, with no label that a client fills or that identifies a person", () => {
    const names = ALL_METRICS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(
      ALL_METRICS.flatMap(({ labels = [] }) => labels).filter((label) => FORBIDDEN.includes(label)),
    ).toEqual([]);
  });
});
