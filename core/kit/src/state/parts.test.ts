import { describe, expect, it } from "vitest";
import { type Holder, Parts } from "./parts.ts";

const holder = (key: string, team?: string): Holder => ({ key, team });

/** Takes as much as a holder may have. */
function fill(parts: Parts, who: Holder, limits: Parameters<Parts["mayTake"]>[1]): number {
  let taken = 0;
  for (; parts.mayTake(who, limits); taken += 1) parts.take(who);
  return taken;
}

describe("the parts of a bound", () => {
  it("leave room to the next key, however many keys take all they may", () => {
    const parts = new Parts();
    const taken = ["a", "b", "c", "d", "e", "f", "g"].map((key) =>
      fill(parts, holder(key), { capacity: 128 }),
    );
    expect(taken).toEqual([64, 32, 16, 8, 4, 2, 1]);
    expect(parts.mayTake(holder("h"), { capacity: 128 })).toBe(true);
  });

  it("come to capacity / (k + 1) when keys give back", () => {
    const parts = new Parts();
    const [a, b] = [holder("a"), holder("b")];
    fill(parts, a, { capacity: 300 });
    for (let turn = 0; turn < 300; turn += 1) {
      parts.giveBack(a);
      fill(parts, b, { capacity: 300 });
      fill(parts, a, { capacity: 300 });
    }
    expect([parts.heldBy(a), parts.heldBy(b)].map((held) => Math.abs(held - 100) <= 2)).toEqual([
      true,
      true,
    ]);
  });

  it("count the keys of a team as one, and leave room within the team", () => {
    const parts = new Parts();
    const ofTeam = ["a", "b", "c", "d"].map((key) =>
      fill(parts, holder(key, "red"), { capacity: 120 }),
    );
    expect(ofTeam.reduce((sum, taken) => sum + taken)).toBeLessThanOrEqual(60);
    expect(ofTeam.every((taken) => taken > 0)).toBe(true);
    expect(fill(parts, holder("x"), { capacity: 120 })).toBeGreaterThanOrEqual(30);
  });

  it("have a least size while anything is free, and a share for one key alone", () => {
    const parts = new Parts();
    expect(fill(parts, holder("a"), { capacity: 100, share: 0.9 })).toBe(90);
    expect(fill(parts, holder("b"), { capacity: 100, min: 8 })).toBe(8);
    expect(fill(parts, holder("c"), { capacity: 100, share: 1 })).toBe(2);
    expect(parts.mayTake(holder("d"), { capacity: 100, min: 8 })).toBe(false);
  });

  it("are forgotten when nothing is held", () => {
    const parts = new Parts();
    parts.take(holder("a", "red"));
    parts.giveBack(holder("a", "red"));
    expect([parts.held, parts.heldBy(holder("a"))]).toEqual([0, 0]);
  });
});
