import { describe, expect, it } from "vitest";
import { RecentTimes } from "./recent-times.ts";

const [A, B, C, NEW] = ["a", "b", "c", "new"].map((key) => ({ key, team: undefined })) as [
  Key,
  Key,
  Key,
  Key,
];
type Key = { readonly key: string; readonly team: undefined };

function filled(
  ...times: readonly (readonly [key: Key, ms: number, count: number])[]
): RecentTimes {
  const recent = new RecentTimes();
  for (const [key, ms, count] of times) for (let n = 0; n < count; n += 1) recent.add(ms, key);
  return recent;
}

describe("the recent times of a model", () => {
  it("have percentiles by rank, of the last 128", () => {
    const times = new RecentTimes();
    expect(times.percentile(0.95, A, 20)).toBeUndefined();
    for (let ms = 1; ms <= 100; ms += 1) times.add(ms, A);
    expect([times.count, times.percentile(0.95, A, 20), times.percentile(0.5, A, 20)]).toEqual([
      100, 95, 50,
    ]);
    for (let ms = 0; ms < 128; ms += 1) times.add(1_000, A);
    expect([times.count, times.percentile(0.5, A, 20), times.percentile(0.99, A, 20)]).toEqual([
      128, 1_000, 1_000,
    ]);
  });

  it("put off no hedge of a key because another one is slow", () => {
    const times = filled([A, 10, 40], [B, 5_000, 1_000]);
    expect(times.count).toBe(128);
    expect(times.percentile(0.95, A, 20)).toBe(10);
    expect(times.percentile(0.95, B, 20)).toBe(5_000);
  });

  it("are those of most keys for a key that is new", () => {
    expect(filled([A, 10, 40], [B, 5_000, 40]).percentile(0.95, NEW, 20)).toBe(10);
    expect(filled([A, 10, 40], [B, 5_000, 40], [C, 30, 40]).percentile(0.95, NEW, 20)).toBe(30);
    // Nothing but the slow key is known.
    expect(filled([A, 10, 2], [B, 5_000, 100]).percentile(0.95, NEW, 20)).toBe(5_000);
  });

  it("are those of all for the slow key, which hedges by what is usual", () => {
    const times = filled([A, 10, 120], [B, 5_000, 4]);
    expect(times.percentile(0.95, B, 20)).toBe(10);
  });
});
