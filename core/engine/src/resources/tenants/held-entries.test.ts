import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HeldEntries } from "./held-entries.ts";

describe("entries with a bound in bytes", () => {
  it("keep those of a thousand keys when one that came last floods them", () => {
    const held = new HeldEntries<string>();
    const of = (keyId: string) => ({ bytes: 2_500, keyId, maxBytes: 5_000 * 2_500 });
    for (let at = 0; at < 2_000; at += 1) held.set(`${at}`, "other", of(`key-${at % 1_000}`));
    for (let at = 0; at < 5_000; at += 1) held.set(`flood-${at}`, "flood", of("flood"));
    const kept = [...held.values()];
    expect(kept).toHaveLength(5_000);
    expect(kept.filter((entry) => entry === "other")).toHaveLength(2_000);
  });

  interface Entry {
    readonly keyId: string;
    readonly bytes: number;
  }
  const write = fc.record({
    keyId: fc.nat({ max: 12 }).map(String),
    bytes: fc.integer({ min: 1, max: 40 }).map((number) => number * 256),
  });
  const maxBytes = 200 * 256;

  /** What the entries have together is compared in steps. */
  const steps = (bytes: number): number => Math.ceil(bytes / 1_024);
  const sum = (entries: readonly Entry[]): number =>
    entries.reduce((total, { bytes }) => total + bytes, 0);

  it("drop the oldest of a key with the most, of the writer where it is one", () => {
    fc.assert(
      fc.property(fc.array(write, { maxLength: 150, size: "max" }), (writes) => {
        const held = new HeldEntries<Entry>();
        for (const [at, entry] of writes.entries()) {
          const before = [...held.values()];
          held.set(`${at}`, entry, { ...entry, maxBytes });
          const after = [...held.values()];
          expect(sum(after)).toBeLessThanOrEqual(maxBytes);
          const isKept = (each: Entry): boolean => after.includes(each);
          const keptOf = (id: string): readonly Entry[] =>
            before.filter((each) => each.keyId === id && isKept(each));
          const lost = before.filter((each) => !isKept(each));
          expect(lost.length > 0).toBe(sum(before) + entry.bytes > maxBytes);
          const ids = [...new Set(before.map(({ keyId }) => keyId))];
          for (const id of new Set(lost.map(({ keyId }) => keyId))) {
            const last = lost.findLast(({ keyId }) => keyId === id)!;
            // What the key had when it lost this one, which was its oldest.
            const had = sum(keptOf(id)) + last.bytes;
            const most = Math.max(...ids.map((each) => sum(keptOf(each))));
            expect(steps(had)).toBeGreaterThanOrEqual(steps(most));
            const least = id === entry.keyId ? 0 : steps(sum(keptOf(entry.keyId)));
            expect(steps(had)).toBeGreaterThan(least);
            const own = before.filter(({ keyId }) => keyId === id);
            expect(own.slice(own.length - keptOf(id).length)).toEqual(keptOf(id));
          }
        }
      }),
      { numRuns: 100 },
    );
  });
});
