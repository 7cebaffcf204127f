import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fakeClock } from "@sluice/testing";
import { createMemoryCache } from "./cache.ts";

const KB = 1_024;
const small = new Uint8Array(100);
const large = new Uint8Array(8 * KB);

const make = () =>
  createMemoryCache({ clock: fakeClock(), maxBytes: 64 * KB, maxEntryBytes: 16 * KB });

describe("the cache of several keys", () => {
  it("takes nothing from a key within its share, however much another stores", () => {
    const cache = make();
    for (let n = 0; n < 20; n += 1) cache.set(`cache:v:${n}`, small, 1_000);
    for (let n = 0; n < 500; n += 1) cache.set(`cache:a:${n}`, large, 1_000);
    for (let n = 0; n < 20; n += 1) expect(cache.get(`cache:v:${n}`)).toBeDefined();
    expect(
      [cache.get("cache:a:0"), cache.get("cache:a:499")].map((bytes) => bytes !== undefined),
    ).toEqual([false, true]);
  });

  it("takes from the largest, also where it uses its entries all the time", () => {
    const cache = make();
    for (let n = 0; n < 7; n += 1) cache.set(`cache:a:${n}`, large, 1_000);
    for (let n = 0; n < 40; n += 1) {
      cache.set(`cache:v:${n}`, small, 1_000);
      for (let used = 0; used < 7; used += 1) cache.get(`cache:a:${used}`);
    }
    for (let n = 0; n < 40; n += 1) expect(cache.get(`cache:v:${n}`)).toBeDefined();
  });

  it("counts an entry shared by all keys for the key that stored it", () => {
    const cache = make();
    for (let n = 0; n < 20; n += 1) cache.set(`cache:global:v${n}`, small, 1_000, "v");
    for (let n = 0; n < 500; n += 1) cache.set(`cache:global:a${n}`, large, 1_000, "a");
    for (let n = 0; n < 20; n += 1) expect(cache.get(`cache:global:v${n}`)).toBeDefined();
  });

  it("lets one key alone have all of it, the least recently used going first", () => {
    const cache = make();
    for (let n = 0; n < 7; n += 1) cache.set(`cache:a:${n}`, large, 1_000);
    cache.get("cache:a:0");
    cache.set("cache:a:7", large, 1_000);
    expect([0, 1, 2, 7].map((n) => cache.get(`cache:a:${n}`) !== undefined)).toEqual([
      true,
      false,
      true,
      true,
    ]);
  });

  it("keeps within its bytes and loses no count, whatever is stored, read and dropped", () => {
    const step = fc.record({
      holder: fc.integer({ min: 0, max: 4 }),
      id: fc.integer({ min: 0, max: 9 }),
      size: fc.nat(16 * KB),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const cache = make();
        const written = new Map<string, number>();
        for (const { holder, id, size } of steps) {
          const key = `cache:${holder}:${id}`;
          if (size % 7 === 0) cache.delete(key);
          else if (cache.set(key, new Uint8Array(size), 1_000, String(size % 3)))
            written.set(key, size);
        }
        const kept = [...written].filter(([key]) => cache.get(key) !== undefined);
        expect(kept.reduce((sum, [, size]) => sum + size + 512, 0)).toBeLessThanOrEqual(64 * KB);
      }),
    );
  });
});
