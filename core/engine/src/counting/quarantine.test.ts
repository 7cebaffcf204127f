import { describe, expect, it } from "vitest";
import { fakeClock } from "@sluice/testing";
import { Quarantine } from "./quarantine.ts";

describe("the quarantine", () => {
  it("knows the very texts it holds, for ten minutes", () => {
    const clock = fakeClock();
    const quarantine = new Quarantine(clock);
    quarantine.hold(["poison", "of two"]);
    expect(quarantine.holds(["poison", "of two"])).toBe(true);
    expect(quarantine.holds(["poison", "of twO"])).toBe(false);
    expect(quarantine.holds(["poisonof two"])).toBe(false);
    clock.advance(10 * 60_000);
    expect(quarantine.holds(["poison", "of two"])).toBe(true);
    clock.advance(1);
    expect(quarantine.holds(["poison", "of two"])).toBe(false);
    expect(quarantine.size).toBe(0);
  });

  it("holds 256 texts at most: the oldest goes first", () => {
    const quarantine = new Quarantine(fakeClock());
    for (let index = 0; index <= 256; index++) quarantine.hold([`text ${index}`]);
    expect(quarantine.size).toBe(256);
    expect(quarantine.holds(["text 0"])).toBe(false);
    expect(quarantine.holds(["text 1"])).toBe(true);
  });

  it("holds a text once, however often it broke something", () => {
    const quarantine = new Quarantine(fakeClock());
    for (let index = 0; index < 3; index++) quarantine.hold(["again"]);
    expect(quarantine.size).toBe(1);
  });
});
