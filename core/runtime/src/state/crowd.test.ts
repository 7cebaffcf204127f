import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Crowd } from "./crowd.ts";

const BOUND = 20;
const rules = { maxEntries: BOUND, isIdle: () => true, isLeft: () => false };

/** How many entries each holder has. */
function countsOf(entries: Iterable<{ readonly holder: string }>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { holder } of entries) counts.set(holder, (counts.get(holder) ?? 0) + 1);
  return counts;
}

describe("a crowd", () => {
  it("keeps the entries of a thousand holders when one that came last floods it", () => {
    const crowd = new Crowd<string>({ ...rules, maxEntries: 5_000 });
    for (let at = 0; at < 2_000; at += 1) crowd.add(`${at}`, `key-${at % 1_000}`, "other", 0);
    for (let at = 0; at < 5_000; at += 1) crowd.add(`flood-${at}`, "flood", "flood", 1);
    const kept = [...crowd.values()];
    expect(kept).toHaveLength(5_000);
    expect(kept.filter((entry) => entry === "other")).toHaveLength(2_000);
  });

  const write = fc.record({
    holder: fc.nat({ max: 30 }).map((number) => `key-${number % 12}`),
    name: fc.nat({ max: 60 }),
    isDelete: fc.integer({ min: 0, max: 5 }).map((number) => number === 0),
  });

  it("drops an entry of a holder with the most, of the writer where it is one", () => {
    fc.assert(
      fc.property(fc.array(write, { maxLength: 200, size: "max" }), (writes) => {
        const crowd = new Crowd<{ holder: string }>(rules);
        for (const { holder, name, isDelete } of writes) {
          const key = `${holder}/${name}`;
          const before = new Set(crowd.values());
          const counts = countsOf(before);
          if (isDelete) crowd.delete(key);
          else if (crowd.use(key, 0) === undefined) crowd.add(key, holder, { holder }, 0);
          expect(crowd.size).toBeLessThanOrEqual(BOUND);
          if (isDelete) continue;
          const after = new Set(crowd.values());
          const dropped = [...before].filter((entry) => !after.has(entry));
          expect(dropped).toHaveLength(
            before.size === BOUND && !before.has(crowd.find(key)!) ? 1 : 0,
          );
          const most = Math.max(...counts.values());
          const mayLose = [...counts].filter(([, count]) => count === most).map(([id]) => id);
          const losers = mayLose.includes(holder) ? [holder] : mayLose;
          for (const entry of dropped) expect(losers).toContain(entry.holder);
        }
      }),
      { numRuns: 100 },
    );
  });
});
