import { expect, it } from "vitest";
import type { StateBound } from "@sluice/contract";
import { fakeState } from "@sluice/testing";
import { prefixedState } from "./prefixed.ts";

it("a state with a prefix has the names of bounds, and of their parts, under it", async () => {
  const state = fakeState();
  const found: unknown[] = [];
  const cache = {
    ...state.cache,
    set: (...[key, , , holder, bounds]: Parameters<typeof state.cache.set>) => {
      found.push(key, holder, bounds);
      return true;
    },
  };
  const bounds: readonly StateBound[] = [
    { name: "own", maxBytes: 1 },
    { name: "all", maxBytes: 2, part: "own" },
  ];
  const own = prefixedState({ ...state, cache }, "p:");
  expect(await own.cache.set("key", new Uint8Array(1), 1, "holder", bounds)).toBe(true);
  expect(found).toEqual([
    "p:key",
    "p:holder",
    [
      { name: "p:own", maxBytes: 1 },
      { name: "p:all", maxBytes: 2, part: "p:own" },
    ],
  ]);
});
