import { describe, expect, it } from "vitest";
import { fakeExchange } from "@sluice/testing";
import { branchOf } from "./view.ts";
import { defineSlot, shadowSlots } from "./slots.ts";

const FIRST = defineSlot<string>("one");
const SECOND = defineSlot<string[]>("one", { inShadow: (value) => [...value] });
const THIRD = defineSlot<string>("three", { inShadow: () => undefined });

describe("a slot", () => {
  it("keeps a value of its own on each exchange, also beside a slot of the same name", () => {
    const [a, b] = [fakeExchange(), fakeExchange()];
    SECOND.set(a, ["x"]);
    FIRST.set(a, "y");
    expect([FIRST.get(a), SECOND.get(a), THIRD.get(a)]).toEqual(["y", ["x"], undefined]);
    expect([FIRST.get(b), SECOND.get(b)]).toEqual([undefined, undefined]);
    FIRST.set(a, undefined);
    expect(FIRST.get(a)).toBeUndefined();
  });

  it("is shared by the branches of an exchange", () => {
    const parent = fakeExchange();
    const branch = branchOf(branchOf(parent));
    FIRST.set(branch, "y");
    expect(FIRST.get(parent)).toBe("y");
  });

  it("begins in shadow with the same value, with a copy, or empty, as it is defined", () => {
    const real = fakeExchange();
    FIRST.set(real, "y");
    SECOND.set(real, ["x"]);
    THIRD.set(real, "z");
    const shadow = { slots: shadowSlots(real.slots) };
    expect([FIRST.get(shadow), SECOND.get(shadow), THIRD.get(shadow)]).toEqual([
      "y",
      ["x"],
      undefined,
    ]);
    FIRST.set(shadow, "other");
    SECOND.get(shadow)?.push("more");
    expect([FIRST.get(real), SECOND.get(real), THIRD.get(real)]).toEqual(["y", ["x"], "z"]);
  });
});
