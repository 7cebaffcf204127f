import { describe, expect, it } from "vitest";
import { HedgeBudget, HedgeRecords, RecentTimes } from "./hedge-record.ts";

describe("the recent times of a model", () => {
  it("have percentiles by rank, of the last 128", () => {
    const times = new RecentTimes();
    expect(times.percentile(0.95)).toBeUndefined();
    for (let ms = 1; ms <= 100; ms += 1) times.add(ms);
    expect([times.count, times.percentile(0.95), times.percentile(0.5)]).toEqual([100, 95, 50]);
    for (let ms = 0; ms < 128; ms += 1) times.add(1_000);
    expect([times.count, times.percentile(0.5), times.percentile(0.99)]).toEqual([128, 1_000, 1_000]);
  });
});

describe("the budget of hedges", () => {
  it("is one, and the share of all requests", () => {
    const budget = new HedgeBudget();
    let hedges = 0;
    for (let request = 0; request < 1_000; request += 1) {
      budget.request(5);
      if (budget.take(5)) hedges += 1;
    }
    expect(hedges).toBeGreaterThanOrEqual(50);
    expect(hedges).toBeLessThanOrEqual(51);
  });

  it("saves little for later, and nothing at a share of 0", () => {
    const budget = new HedgeBudget();
    for (let request = 0; request < 10_000; request += 1) budget.request(5);
    const taken = Array.from({ length: 10 }, () => budget.take(5));
    expect(taken.filter(Boolean)).toHaveLength(5);
    expect(new HedgeBudget().take(0)).toBe(false);
  });

  it("belongs to one model, and stays", () => {
    const records = new HedgeRecords();
    expect(records.of("a").budget.take(5)).toBe(true);
    expect([records.of("a").budget.take(5), records.of("b").budget.take(5)]).toEqual([false, true]);
  });
});
