import { describe, expect, it } from "vitest";
import { fakeClock } from "@sluice/testing";
import { fakeLog } from "@sluice/testing";
import type { Holder } from "@sluice/kit/internals";
import { GuardBreaker } from "./breaker.ts";
import { CONTEXT, instanceOf } from "@sluice/testing/guardrail-instances";
import { GuardrailRunner } from "./guardrail-runner.ts";

const ABOUT = { ...CONTEXT, part: "user", place: "p", isPartial: false, offset: 0 } as const;

describe("the breaker of a guardrail", () => {
  it("is one for all who ask it: what failed for one is left alone by the other, and tried again by one of them", () => {
    let calls = 0;
    const failing = {
      reach: 1,
      check: () => {
        calls++;
        throw new Error("no");
      },
    };
    const breaker = new GuardBreaker();
    const clock = fakeClock();
    const parts = { clock, log: fakeLog([]) };
    const { signal } = new AbortController();
    const [before, after] = [1, 2].map(() =>
      new GuardrailRunner(instanceOf("g", failing), parts, breaker).begin(signal),
    );
    for (let times = 0; times < 5; times++)
      expect(() => before?.check("x", ABOUT)).toThrow("threw");
    expect(() => after?.check("x", ABOUT)).toThrow("suspended");
    expect(calls).toBe(5);
    clock.advance(10_000);
    expect(() => after?.check("x", ABOUT)).toThrow("threw");
    expect(() => before?.check("x", ABOUT)).toThrow("suspended");
    expect(calls).toBe(6);
  });

  const [A, B, C] = ["a", "b", "c"].map((key) => ({ key, team: undefined })) as [
    Holder,
    Holder,
    Holder,
  ];

  it("is open for one key alone where that key alone fails: it chooses its texts", () => {
    const breaker = new GuardBreaker();
    for (let times = 0; times < 4; times++) expect(breaker.fail(0, A)).toBeUndefined();
    expect(breaker.fail(0, A)).toBe("one key");
    for (let times = 0; times < 20; times++) breaker.fail(0, A);
    expect([A, B].map((holder) => breaker.isOpen(1, holder))).toEqual([true, false]);
    breaker.succeed(B);
    expect([A, B].map((holder) => breaker.isOpen(1, holder))).toEqual([true, false]);
    expect(breaker.isOpen(10_000, A)).toBe(false);
    expect(breaker.fail(10_000, A)).toBe("one key");
  });

  it("takes the keys of a team for one", () => {
    const breaker = new GuardBreaker();
    for (const key of ["x", "y", "z", "x", "y", "z"]) breaker.fail(0, { key, team: "t" });
    expect(breaker.isOpen(1, { key: "w", team: "t" })).toBe(true);
    expect(breaker.isOpen(1, B)).toBe(false);
  });

  it("is open for all keys where several fail, and a success of any of them begins anew", () => {
    const breaker = new GuardBreaker();
    for (const holder of [A, A, A, B]) expect(breaker.fail(0, holder)).toBeUndefined();
    breaker.succeed(C);
    for (const holder of [A, B, C, B]) expect(breaker.fail(0, holder)).toBeUndefined();
    expect(breaker.fail(0, C)).toBe("all keys");
    expect(breaker.isOpen(1, { key: "d", team: undefined })).toBe(true);
  });
});
