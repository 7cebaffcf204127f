import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fakeClock } from "@sluice/testing";
import { createRecords, type LocalRecords } from "./records.ts";

const LONG_MS = 60_000;

const begin = (records: LocalRecords, key: string): string =>
  records.begin(key, "body", "one", LONG_MS).outcome;

const finish = (records: LocalRecords, key: string, size = 10): boolean => {
  begin(records, key);
  return records.complete(key, "one", new Uint8Array(size), LONG_MS);
};

/**
 * The bytes of the records that are there of these, 0 for one under way. Looking for one that is not
 * there adds it, so each is looked for in records of its own.
 */
function keptOf(keys: Iterable<string>, make: () => LocalRecords): Map<string, number> {
  const kept = new Map<string, number>();
  for (const key of keys) {
    const begun = make().begin(key, "body", "two", LONG_MS);
    if (begun.outcome === "running") kept.set(key, 0);
    if (begun.outcome === "done") kept.set(key, begun.bytes.length);
  }
  return kept;
}

/** What a request does with its record. */
interface Step {
  readonly holder: number;
  readonly id: number;
  readonly end: "running" | "abandoned" | number;
}

const keyOf = ({ holder, id }: Step): string => `${holder}:${id}`;
const holderOf = (key: string): string => key.slice(0, 1);

const step: fc.Arbitrary<Step> = fc.record({
  holder: fc.nat({ max: 4 }),
  id: fc.nat({ max: 9 }),
  end: fc.oneof(
    fc.constant("running" as const),
    fc.constant("abandoned" as const),
    fc.integer({ min: 1, max: 40 }),
  ),
});

describe("records", () => {
  it("stay below their bytes and their number: the oldest goes", () => {
    const records = createRecords({
      clock: fakeClock(),
      maxRecords: 5,
      maxBytes: 100,
      maxEntryBytes: 60,
    });
    const finish = (key: string, size: number): boolean => {
      records.begin(key, "body", "one", LONG_MS);
      return records.complete(key, "one", new Uint8Array(size), LONG_MS);
    };
    expect(finish("large", 61)).toBe(false);
    expect(records.begin("large", "other", "two", LONG_MS).outcome).toBe("new");
    expect(finish("a", 60)).toBe(true);
    expect(finish("b", 60)).toBe(true);
    expect(records.begin("a", "body", "two", LONG_MS).outcome).toBe("new");
    expect(records.begin("b", "body", "two", LONG_MS).outcome).toBe("done");
    for (const key of ["c", "d", "e", "f", "g"]) finish(key, 1);
    expect(records.begin("b", "body", "two", LONG_MS).outcome).toBe("new");
    expect(records.begin("g", "body", "two", LONG_MS).outcome).toBe("done");
  });

  it("of one holder do not drive out those of another, which are fewer", () => {
    const records = createRecords({ clock: fakeClock(), maxRecords: 100, maxBytes: 10_000 });
    const finish = (key: string, size: number): void => {
      records.begin(key, "body", "one", LONG_MS);
      records.complete(key, "one", new Uint8Array(size), LONG_MS);
    };
    finish("repeat:quiet:1", 100);
    records.begin("repeat:quiet:2", "body", "one", LONG_MS);
    for (let serial = 0; serial < 1_000; serial += 1)
      finish(`repeat:loud:${serial}`, serial % 2 === 0 ? 1 : 4_000);
    expect(records.begin("repeat:quiet:1", "body", "two", LONG_MS).outcome).toBe("done");
    expect(records.begin("repeat:quiet:2", "body", "two", LONG_MS).outcome).toBe("running");
    expect(records.begin("repeat:loud:999", "body", "two", LONG_MS).outcome).toBe("done");
    expect(records.begin("repeat:loud:1", "body", "two", LONG_MS).outcome).toBe("new");
  });

  it.each([
    ["records", { maxRecords: 1_000, maxBytes: 1e9 }],
    ["bytes", { maxRecords: 1e9, maxBytes: 10_000 }],
  ])("of a holder below its share stay for every other one, beyond the %s", (_bound, bounds) => {
    const records = createRecords({ clock: fakeClock(), ...bounds });
    const quiet = Array.from({ length: 20 }, (_, at) => `repeat:quiet:${at}`);
    for (const key of quiet) finish(records, key);
    begin(records, "repeat:quiet:running");
    for (let at = 0; at < 5_000; at += 1) finish(records, `repeat:loud:${at}`);
    const third = Array.from({ length: 100 }, (_, at) => `repeat:third:${at}`);
    for (const key of third) finish(records, key);
    const all = [...quiet, "repeat:quiet:running", ...third];
    // All are there, so that looking adds none.
    expect([...keptOf(all, () => records).keys()]).toEqual(all);
  });

  it("under way go only where their holder has no result", () => {
    const make = (more: readonly string[]) => () => {
      const records = createRecords({ clock: fakeClock(), maxRecords: 10 });
      for (const at of [1, 2, 3]) begin(records, `a:running ${at}`);
      for (const at of [1, 2, 3, 4, 5, 6]) finish(records, `a:${at}`);
      for (const at of [1, 2, 3, 4]) begin(records, `b:${at}`);
      for (const key of more) begin(records, key);
      return records;
    };
    const running = [1, 2, 3, 4, 5, 6, 7].map((at) => `a:running ${at}`);
    const results = [1, 2, 3, 4, 5, 6].map((at) => `a:${at}`);
    const others = [1, 2, 3, 4].map((at) => `b:${at}`);
    const kept = (more: readonly string[]): string[] => [
      ...keptOf([...running, ...results, ...others], make(more)).keys(),
    ];
    expect(kept([])).toEqual([...running.slice(0, 3), ...results.slice(3), ...others]);
    expect(kept(running.slice(3, 6))).toEqual([...running.slice(0, 6), ...others]);
    expect(kept(running.slice(3))).toEqual([...running.slice(1), ...others]);
  });

  it("of holders with one each go in their order, those under way last", () => {
    const make = (): LocalRecords => {
      const records = createRecords({ clock: fakeClock(), maxRecords: 10 });
      begin(records, "running:1");
      for (let at = 0; at < 20; at += 1) finish(records, `${at}:1`);
      return records;
    };
    const keys = Array.from({ length: 20 }, (_, at) => `${at}:1`);
    expect([...keptOf(["running:1", ...keys], make).keys()]).toEqual([
      "running:1",
      ...keys.slice(11),
    ]);
  });

  it("are not kept where they are the most that one holder has", () => {
    const results: boolean[] = [];
    const make = (): LocalRecords => {
      const records = createRecords({ clock: fakeClock(), maxBytes: 100 });
      results.push(finish(records, "a:1", 40), finish(records, "b:1", 40));
      results.push(finish(records, "c:1", 60));
      return records;
    };
    expect([...keptOf(["a:1", "b:1", "c:1"], make).keys()]).toEqual(["a:1", "b:1"]);
    expect(results.slice(0, 3)).toEqual([true, true, false]);
  });

  it("stay within both bounds, and only holders beyond their share lose some", () => {
    const [maxRecords, maxBytes] = [10, 150];
    const made = (steps: readonly Step[]) => () => {
      const records = createRecords({ clock: fakeClock(), maxRecords, maxBytes });
      for (const one of steps) {
        if (typeof one.end === "number") finish(records, keyOf(one), one.end);
        else begin(records, keyOf(one));
        if (one.end === "abandoned") records.abandon(keyOf(one), "one");
      }
      return records;
    };
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 60, size: "max" }), (steps) => {
        const last = steps.at(-1)!;
        const own = keyOf(last);
        const keys = new Set(steps.map(keyOf));
        const before = keptOf(keys, made(steps.slice(0, -1)));
        const after = keptOf(keys, made(steps));
        expect(after.size).toBeLessThanOrEqual(maxRecords);
        expect([...after.values()].reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(
          maxBytes,
        );
        const all = new Map(before);
        if (!all.has(own) || typeof last.end === "number")
          all.set(own, typeof last.end === "number" ? last.end : 0);
        const holders = new Set([...all.keys()].map(holderOf)).size;
        for (const [lost, size] of before) {
          if (after.has(lost) || lost === own) continue;
          const isSame = ([key]: readonly [string, number]): boolean =>
            holderOf(key) === holderOf(lost);
          const had = [...all].filter(isSame);
          const bytes = had.reduce((sum, [, one]) => sum + one, 0);
          expect(had.length * holders > maxRecords || bytes * holders > maxBytes).toBe(true);
          if (size > 0) continue;
          const results = [...after].filter((one) => isSame(one) && one[0] !== own && one[1] > 0);
          expect(results).toEqual([]);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("let the owner ask again, and extend its lease", () => {
    const clock = fakeClock();
    const records = createRecords({ clock });
    records.begin("key", "body", "one", 100);
    clock.advance(80);
    expect(records.begin("key", "body", "one", 100).outcome).toBe("new");
    clock.advance(80);
    expect(records.begin("key", "body", "two", 100).outcome).toBe("running");
    expect(records.complete("key", "one", Uint8Array.of(1), 50)).toBe(true);
    expect(records.complete("key", "one", Uint8Array.of(2), 50)).toBe(false);
    clock.advance(60);
    expect(records.begin("key", "body", "two", 100).outcome).toBe("new");
  });
});
