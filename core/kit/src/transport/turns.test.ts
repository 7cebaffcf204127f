import { expect, it } from "vitest";
import { nextTurn } from "./turns.ts";

it("lets one caller go in each turn of the event loop, in the order in which they asked", async () => {
  const order: string[] = [];
  const callers = ["a", "b", "c"].map(async (name) => {
    await nextTurn();
    order.push(name);
  });
  const seen: number[] = [];
  while (order.length < callers.length) {
    seen.push(order.length);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(callers);
  expect(order).toEqual(["a", "b", "c"]);
  // Never two of them between two turns.
  expect(seen.every((length, index) => index === 0 || length - (seen[index - 1] ?? 0) <= 1)).toBe(
    true,
  );
  await nextTurn();
});
