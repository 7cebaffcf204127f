import { describe, expect, it } from "vitest";
import { fakeClock, fakeLog, sharedStateContract } from "@sluice/testing";
import definition from "./index.ts";

const clock = fakeClock();
const state = definition.create(
  { max_keys: 50_000, cache_size: "1mb", max_entry: "64kb" },
  { log: fakeLog([]), clock },
);

sharedStateContract({ describe, it, expect }, "memory", async () => ({
  state,
  second: state,
  wait: async (ms) => clock.advance(ms),
  tooManyBytes: 65_537,
}));

describe("the memory cache", () => {
  it("stays below its bytes, and lets the least recently used go", async () => {
    for (let at = 0; at < 100; at += 1) {
      await state.cache.set(`fill:${at}`, new Uint8Array(60_000), 60_000);
      await state.cache.get("fill:0");
    }
    const kept = await state.cache.purge("fill:");
    expect(kept).toBeGreaterThan(10);
    expect(kept).toBeLessThanOrEqual(17);
  });

  it("answers at once", () => {
    expect(state.take({ id: "sync", claims: [] }, 1_000)).toEqual({
      outcome: "granted",
      states: [],
    });
    expect(state.cache.get("nothing")).toBeUndefined();
  });
});
