import fc from "fast-check";
import { expect, it } from "vitest";
import { type Waiter, WaitQueue } from "./wait-queue.ts";

interface Numbered extends Waiter {
  readonly number: number;
}

/** Adds a request of a key, or takes the next one. */
const steps = fc.array(fc.oneof(fc.constantFrom("a", "b", "c", "d"), fc.constant(undefined)), {
  maxLength: 200,
});

it("serves keys in turn, and the requests of one key in order", () => {
  fc.assert(
    fc.property(steps, (each) => {
      const queue = new WaitQueue<Numbered>();
      const waiting = new Map<string, number[]>();
      /** For each key with a waiting request: the keys served since it waits or was served. */
      const since = new Map<string, string[]>();
      for (const [number, key] of each.entries()) {
        if (key !== undefined) {
          queue.add({ holder: { key, team: undefined }, number });
          const own = waiting.get(key) ?? [];
          if (own.length === 0) since.set(key, []);
          waiting.set(key, [...own, number]);
          continue;
        }
        const next = queue.next();
        const served = next?.holder.key ?? "";
        const [first, ...rest] = waiting.get(served) ?? [];
        expect(next?.number).toBe(first);
        if (next === undefined) continue;
        waiting.set(served, rest);
        since.delete(served);
        for (const others of since.values()) others.push(served);
        for (const others of since.values()) expect(others).toEqual([...new Set(others)]);
        if (rest.length > 0) since.set(served, []);
      }
      expect(queue.length).toBe([...waiting.values()].flat().length);
    }),
  );
});

it("passes over what may not go, and forgets what is removed", () => {
  const queue = new WaitQueue<Numbered>();
  const requests = ["a", "a", "b"].map((key, number) => ({
    holder: { key, team: undefined },
    number,
  }));
  for (const request of requests) queue.add(request);
  expect(queue.next(({ holder }) => holder.key !== "a")).toBe(requests[2]);
  queue.remove(requests[0]!);
  queue.remove(requests[0]!);
  expect([queue.length, queue.lengthOf({ key: "a", team: undefined })]).toEqual([1, 1]);
  expect([queue.next(), queue.next(), queue.length]).toEqual([requests[1], undefined, 0]);
});
