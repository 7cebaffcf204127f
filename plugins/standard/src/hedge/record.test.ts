import { describe, expect, it } from "vitest";
import type { Model, SharedValue } from "@sluice/contract";
import { fakeHost } from "@sluice/testing";
import { HedgeBudget, openRecords } from "./record.ts";

const holder = (key: string, team: string | undefined) => ({ key, team });

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

  it("gives a key hedges by its own requests alone, and a team's keys those of the team", () => {
    const budget = new HedgeBudget();
    const [many, few] = [holder("many", undefined), holder("few", undefined)];
    for (let request = 0; request < 100; request += 1) budget.request(5, many);
    const taken = Array.from({ length: 10 }, () => budget.take(5, few));
    expect(taken.filter(Boolean)).toHaveLength(1);
    expect(budget.take(5, many)).toBe(true);
    const [one, two] = [holder("one", "team"), holder("two", "team")];
    expect([budget.take(5, one), budget.take(5, two)]).toEqual([true, false]);
  });

  it("belongs to one model, and outlives a generation", () => {
    const held = new Map<string, SharedValue>();
    const entries = ["a", "b"].map((entry) => ({ entry }) as Model);
    const host = fakeHost({
      models: { find: () => undefined, list: () => entries },
      shared: <T extends SharedValue>(key: string, make: () => T): T => {
        const value = held.get(key) ?? make();
        held.set(key, value);
        return value as T;
      },
    });
    expect(openRecords(host).get("a")?.budget.take(5)).toBe(true);
    const next = openRecords(host);
    expect([next.get("a")?.budget.take(5), next.get("b")?.budget.take(5)]).toEqual([false, true]);
  });
});
