import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { amount } from "@sluice/testing";
import { excessOf, type TextBounds } from "./counted.ts";

const UNBOUNDED: TextBounds = {
  members: Infinity,
  names: Infinity,
  values: Infinity,
  containers: Infinity,
  depth: Infinity,
  escapes: Infinity,
};

/** What a value has, counted in the value itself. */
function countsOf(
  value: unknown,
  depth = 1,
  seen = new Set<string>(),
): { [Name in keyof TextBounds]: number } {
  const counts = { members: 0, names: 0, values: 0, containers: 0, depth: 0, escapes: 0 };
  if (typeof value === "string") counts.escapes = escapesOf(value);
  if (typeof value !== "object" || value === null) return counts;
  const names = Array.isArray(value) ? [] : Object.keys(value);
  const items: unknown[] = Object.values(value);
  counts.members = names.length;
  for (const name of names) seen.add(name);
  counts.values = Math.max(0, items.length - 1);
  counts.containers = 1;
  counts.depth = depth;
  for (const name of names) counts.escapes += escapesOf(name);
  for (const item of items) {
    const below = countsOf(item, depth + 1, seen);
    for (const name of ["members", "values", "containers", "escapes"] as const)
      counts[name] += below[name];
    counts.depth = Math.max(counts.depth, below.depth);
  }
  counts.names = seen.size;
  return counts;
}

const escapesOf = (text: string): number =>
  (JSON.stringify(text).match(/\\(?:u[\da-f]{4}|.)/g) ?? []).length;

const value = fc.oneof(
  fc.jsonValue(),
  fc.array(fc.constantFrom('"', "\\", '\\"', ":,[]{}", "\n")),
  fc.dictionary(fc.constantFrom('"a', "\\", "b:", "[{"), fc.jsonValue()),
);

describe("excessOf", () => {
  it.each(["members", "names", "values", "containers", "depth", "escapes"] as const)(
    "finds what a text has more of than the bound: %s",
    (name) => {
      fc.assert(
        fc.property(value, fc.constantFrom(0, 2), (found, space) => {
          const text = JSON.stringify(found, null, space);
          const count = countsOf(JSON.parse(text))[name];
          const excessAt = (most: number): boolean =>
            excessOf([text], { ...UNBOUNDED, [name]: most }) !== undefined;
          expect([excessAt(count), count > 0 && excessAt(count - 1)]).toEqual([false, count > 0]);
        }),
        { numRuns: amount(300, 5_000) },
      );
    },
  );

  it("counts texts together, but for their depth", () => {
    expect(excessOf(["[[1]]", "[[1]]"], { ...UNBOUNDED, containers: 3, depth: 2 })).toBe(
      "more than 3 lists and objects",
    );
    expect(excessOf(["[[1]]", "[[1]]"], { ...UNBOUNDED, depth: 2 })).toBeUndefined();
  });

  it.each(['"', '"\\', "{", '{"a', "]]]", "", '"\\"'])(
    "ends for a text that is no JSON: %s",
    (text) => {
      expect(() => excessOf([text], UNBOUNDED)).not.toThrow();
    },
  );
});
