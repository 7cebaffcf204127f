import { describe, expect, it } from "vitest";
import { soakGoals } from "./goals.ts";
import { soakResult } from "./proof.ts";
import type { Sight } from "./traffic.ts";

const sight = (parts: Partial<Sight> = {}): Sight => ({
  isStream: false,
  beganMs: 0,
  tookMs: 2,
  outcome: "served",
  fault: undefined,
  generation: "1",
  edit: "edit-1",
  ...parts,
});

const look = (reloads: number, megabytes: number) => ({
  reloads,
  rss: megabytes * 1_048_576,
  heapUsed: (megabytes / 2) * 1_048_576,
  handles: 10,
  files: 20,
});

describe("the figures of a soak", () => {
  it("tell replies of two generations, failures and refusals", () => {
    const sights = [
      sight(),
      sight({ edit: undefined }),
      sight({ generation: "2", edit: "edit-2" }),
      sight({ generation: "2", edit: "edit-1" }),
      sight({ generation: undefined }),
      sight({ outcome: "failed", fault: "status 500", edit: "edit-9" }),
      sight({ outcome: "refused", fault: "status 429" }),
    ];
    const result = soakResult(sights, { swaps: [], looks: [] });
    expect(result).toMatchObject({
      requests: 7,
      mixed: 2,
      failed: 1,
      refused: 1,
      faults: { "status 500": 1 },
      rssSlopeMb: undefined,
    });
    expect(soakGoals(result).map(({ isMet }) => isMet)).toEqual([false, false, true]);
  });

  it("tell requests that overlap a swap from the others", () => {
    const between = Array.from({ length: 100 }, (_, index) =>
      sight({ beganMs: index, tookMs: index === 99 ? 20 : 2 }),
    );
    const during = Array.from({ length: 100 }, () => sight({ beganMs: 999, tookMs: 41 }));
    const result = soakResult([...between, ...during, sight({ beganMs: 2_000, tookMs: 500 })], {
      swaps: [{ beganMs: 1_000, endedMs: 1_010 }],
      looks: [],
      pauses: [{ beganMs: 2_100, endedMs: 2_200 }],
    });
    expect(result).toMatchObject({
      p50Ms: 2,
      p99Ms: 20,
      p50SwapMs: 41,
      p99SwapMs: 41,
      swapP50Ms: 10,
    });
    expect(soakGoals(result).map(({ isMet }) => isMet)).toEqual([true, true, false, true]);
  });

  it("tell how much memory a reload leaves behind", () => {
    const swaps = Array.from({ length: 100 }, () => ({ beganMs: 0, endedMs: 1 }));
    const flat = soakResult([sight()], {
      swaps,
      looks: [look(20, 100), look(60, 101), look(100, 100)],
    });
    expect(flat.rssSlopeMb).toBeCloseTo(0);
    const leaking = soakResult([sight()], {
      swaps,
      looks: [look(20, 100), look(60, 140), look(100, 180)],
    });
    expect(leaking).toMatchObject({ rssSlopeMb: 1, heapSlopeMb: 0.5, handlesGrown: 0 });
    expect(soakGoals(leaking).at(-2)).toEqual({
      isMet: false,
      text: "MISS  0.500 MB of heap a reload (resident: 1.000 MB) (goal: 0.1 MB)",
    });
  });
});
