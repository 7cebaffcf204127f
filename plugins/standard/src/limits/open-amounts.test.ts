import fc from "fast-check";
import { expect, it } from "vitest";
import { OpenAmounts } from "./open-amounts.ts";

it("has what was added less what was taken, of any keys in any order", () => {
  const step = fc.record({
    key: fc.constantFrom("a", "b", "c"),
    amount: fc.integer({ min: -9, max: 9 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const amounts = new OpenAmounts();
      const model = new Map<string, number>();
      for (const { key, amount } of steps) {
        amounts.add(key, amount);
        model.set(key, Math.max(0, (model.get(key) ?? 0) + amount));
        expect(["a", "b", "c"].map((one) => amounts.of(one))).toEqual(
          ["a", "b", "c"].map((one) => model.get(one) ?? 0),
        );
        expect(amounts.isEmpty).toBe([...model.values()].every((one) => one === 0));
      }
    }),
  );
});
