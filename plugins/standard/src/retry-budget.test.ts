import { describe, expect, it } from "vitest";
import { RetryBudgets } from "./retry-budget.ts";

describe("the budgets of many deployments", () => {
  it("keep the one that is in use, however many others come and go", () => {
    const budgets = new RetryBudgets();
    const inUse = budgets.of("in use");
    for (let other = 0; other < 5_000; other += 1) {
      budgets.of(`other ${other}`);
      if (other % 100 === 0) expect(budgets.of("in use")).toBe(inUse);
    }
  });

  it("forget those that nobody asked for since a thousand others", () => {
    const budgets = new RetryBudgets();
    const once = budgets.of("once");
    for (let other = 0; other < 1_000; other += 1) budgets.of(`other ${other}`);
    expect(budgets.of("once")).not.toBe(once);
  });
});
