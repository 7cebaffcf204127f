import { describe, expect, it } from "vitest";
import type { Holder } from "@sluice/kit/internals";
import { RetryBudget, RetryBudgets } from "./budget.ts";

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

describe("the parts of keys", () => {
  const keyed = (key: string, team?: string): Holder => ({ key, team });
  const [loud, quiet] = [keyed("loud"), keyed("quiet")];
  /** As many retries as a key gets. */
  const takeAll = (budget: RetryBudget, holder: Holder, nowMs: number): number => {
    let taken = 0;
    while (budget.takeRetry(holder, 0.2, nowMs) === "taken") taken += 1;
    return taken;
  };

  it("one key alone has the whole budget, 3 at least", () => {
    const budget = new RetryBudget();
    budget.request("loud", 100_000);
    expect(takeAll(budget, loud, 100_000)).toBe(3);
    expect(budget.takeRetry(loud, 0.2, 100_000)).toBe("spent");
    for (let request = 0; request < 99; request += 1) budget.request("loud", 100_000);
    expect(takeAll(budget, loud, 100_000)).toBe(17);
    // All of them have left the window.
    expect(takeAll(budget, loud, 110_000)).toBe(3);
  });

  it("a key leaves retries to another that uses the deployment too", () => {
    const budget = new RetryBudget();
    for (let request = 0; request < 50; request += 1) {
      budget.request("loud", 100_000);
      budget.request("quiet", 100_000);
    }
    expect(takeAll(budget, loud, 100_000)).toBe(10);
    expect(budget.takeRetry(loud, 0.2, 100_000)).toBe("part spent");
    expect(takeAll(budget, quiet, 100_000)).toBeGreaterThanOrEqual(5);
  });

  it("a key that was alone keeps a share of its own requests when another comes", () => {
    const budget = new RetryBudget();
    for (let request = 0; request < 100; request += 1) budget.request("quiet", 100_000);
    for (let retry = 0; retry < 10; retry += 1)
      expect(budget.takeRetry(quiet, 0.2, 100_000)).toBe("taken");
    for (let request = 0; request < 20; request += 1) budget.request("loud", 100_001);
    expect(takeAll(budget, loud, 100_001)).toBeGreaterThan(0);
    // A tenth of its requests are retries, a fifth may be.
    expect(takeAll(budget, quiet, 100_001)).toBe(10);
    expect(budget.takeRetry(quiet, 0.2, 100_001)).not.toBe("taken");
  });

  it("a key that comes when another has used the budget up gets a retry all the same; three keys do, not more", () => {
    const budget = new RetryBudget();
    for (let request = 0; request < 50; request += 1) budget.request("loud", 100_000);
    expect(takeAll(budget, loud, 100_000)).toBe(10);
    const others = ["a", "b", "c", "d"].map((key) => {
      budget.request(key, 100_001);
      return takeAll(budget, keyed(key), 100_001);
    });
    expect(others).toEqual([1, 1, 1, 0]);
    budget.request("loud", 100_002);
    expect(budget.takeRetry(loud, 0.2, 100_002)).toBe("spent");
  });

  it("the keys of a team have one part", () => {
    const budget = new RetryBudget();
    for (let request = 0; request < 50; request += 1) {
      budget.request("loud", 100_000);
      budget.request("quiet", 100_000);
    }
    const ofTeam = ["a", "b", "c"].map((key) => takeAll(budget, keyed(key, "loud"), 100_000));
    expect(ofTeam.reduce((sum, taken) => sum + taken, 0)).toBeLessThanOrEqual(12);
    expect(takeAll(budget, quiet, 100_000)).toBeGreaterThanOrEqual(4);
  });
});
