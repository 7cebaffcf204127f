import { describe, expect, it } from "vitest";
import { RetryBudgets } from "./budget.ts";

describe("the budgets of many deployments", () => {
  it("keep the one that is in use, however many others come and go", () => {
    const budgets = new RetryBudgets();
    const inUse = budgets.of("in use");
    const seen = Array.from({ length: 50 }, (_value, turn) => {
      for (let other = 0; other < 100; other += 1) budgets.of(`other ${turn} ${other}`);
      return budgets.of("in use");
    });
    expect(new Set(seen)).toEqual(new Set([inUse]));
  });

  it("drop those that were not used since a thousand others", () => {
    const budgets = new RetryBudgets();
    const once = budgets.of("once");
    for (let other = 0; other < 1_000; other += 1) budgets.of(`other ${other}`);
    expect(budgets.of("once")).not.toBe(once);
  });
});
