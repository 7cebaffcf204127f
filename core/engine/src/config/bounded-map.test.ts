import { expect, it } from "vitest";

import { BoundedMap } from "./bounded-map.ts";

it("keeps the newest entries, each under its last value", () => {
  const map = new BoundedMap<number>(2);
  map.set("a", 1);
  map.set("b", 2);
  map.set("a", 3);
  map.set("c", 4);
  expect([map.get("a"), map.get("b"), map.get("c")]).toEqual([3, undefined, 4]);
});

it("drops the oldest entry each time, also after entries were renewed and tables rebuilt", () => {
  const max = 50;
  const map = new BoundedMap<number>(max);
  const seen = new Set<string>();
  let expected: string[] = [];
  for (let turn = 0; turn < 600; turn++) {
    // Every third turn renews an entry: the oldest, one in the middle, the newest.
    const key =
      turn % 3 === 0 && expected.length > 0
        ? (expected[(turn * 7) % expected.length] ?? "")
        : `key-${turn}`;
    map.set(key, turn);
    expected = [...expected.filter((one) => one !== key), key].slice(-max);
    const kept = [...seen.add(key)].filter((one) => map.get(one) !== undefined);
    expect(new Set(kept), `after turn ${turn}`).toEqual(new Set(expected));
  }
});
