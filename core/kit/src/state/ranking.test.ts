import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Ranked, Ranking } from "./ranking.ts";

const change = fc.record({
  member: fc.nat({ max: 12 }),
  amount: fc.option(fc.integer({ min: 0, max: 20 }), { nil: undefined }),
});

describe("a ranking", () => {
  it("has a member with the most at its top after any changes", () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 200, size: "max" }), (changes) => {
        const ranking = new Ranking<Ranked>();
        const members = Array.from({ length: 13 }, () => new Ranked());
        const amounts = new Map<Ranked, number>();
        for (const { member, amount } of changes) {
          const changed = members[member]!;
          if (amount === undefined) {
            ranking.delete(changed);
            amounts.delete(changed);
          } else {
            ranking.set(changed, amount);
            amounts.set(changed, amount);
          }
          const { largest } = ranking;
          expect(largest === undefined).toBe(amounts.size === 0);
          if (largest === undefined) continue;
          expect(largest.amount).toBe(Math.max(...amounts.values()));
          expect(amounts.get(largest)).toBe(largest.amount);
        }
      }),
      { numRuns: 200 },
    );
  });
});
