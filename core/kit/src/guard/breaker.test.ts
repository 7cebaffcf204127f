import { describe, expect, it } from "vitest";
import { fakeClock } from "../testing/fake-clock.ts";
import { fakeLog } from "../testing/fake-host.ts";
import { GuardBreaker } from "./breaker.ts";
import { CONTEXT, instanceOf } from "./guard.fixture.ts";
import { Judge } from "./judge.ts";

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
    const [before, after] = [1, 2].map(() => new Judge(instanceOf("g", failing), parts, breaker).begin(signal));
    for (let times = 0; times < 5; times++) expect(() => before?.check("x", ABOUT)).toThrow("threw");
    expect(() => after?.check("x", ABOUT)).toThrow("left alone");
    expect(calls).toBe(5);
    clock.advance(10_000);
    expect(() => after?.check("x", ABOUT)).toThrow("threw");
    expect(() => before?.check("x", ABOUT)).toThrow("left alone");
    expect(calls).toBe(6);
  });
});
