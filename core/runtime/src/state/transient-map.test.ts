import { array, assert, constantFrom, nat, property, record } from "fast-check";
import { describe, expect, it } from "vitest";
import { TransientMap } from "./transient-map.ts";

const action = record({ do: constantFrom("set", "delete", "get"), key: nat(40), value: nat() });

describe("a transient map", () => {
  it("holds what a Map would, whatever is done with it", () => {
    assert(
      property(array(action, { maxLength: 200 }), (actions) => {
        const expected = new Map<string, number>();
        const actual = new TransientMap<number>();
        for (const step of actions) {
          const key = `key-${step.key}`;
          const deleted = [expected, actual].map((map) => {
            if (step.do === "set") map.set(key, step.value);
            return step.do === "delete" && map.delete(key);
          });
          expect(deleted[1]).toBe(deleted[0]);
          expect(actual.get(key)).toBe(expected.get(key));
          expect(actual.size).toBe(expected.size);
        }
        expect(new Map(actual.entries())).toEqual(expected);
      }),
    );
  });

  it("keeps keys apart that share a bucket, in any order of their going", () => {
    const map = new TransientMap<number>();
    const keys = Array.from({ length: 5_000 }, (_, at) => `${at}`);
    for (const [at, key] of keys.entries()) map.set(key, at);
    for (const key of keys.filter((_, at) => at % 3 === 0)) expect(map.delete(key)).toBe(true);
    expect(keys.every((key, at) => map.get(key) === (at % 3 === 0 ? undefined : at))).toBe(true);
    map.clear();
    expect([map.size, map.get("1"), map.entries()]).toEqual([0, undefined, []]);
  });
});
