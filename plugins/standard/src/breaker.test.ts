import { describe, expect, it } from "vitest";
import { fakeClock } from "@sluice/kit/testing";
import { Breaker, type BreakerSettings } from "./breaker.ts";

const SETTINGS: BreakerSettings = { consecutive: 5, ratio: 0.5, minRequests: 20, ejectionMs: 5_000, maxEjectionMs: 60_000 };

function setUp() {
  const clock = fakeClock();
  const breaker = new Breaker();
  const count = (verdict: Parameters<Breaker["count"]>[0], isProbe = false, retryAfterMs = 0) =>
    breaker.count(verdict, clock.monotonic(), SETTINGS, isProbe, retryAfterMs);
  const fail = (times: number) => Array.from({ length: times }, () => count("failure")).at(-1);
  const state = () => breaker.state(clock.monotonic());
  /** One request as the probe, at the end of the ejection. */
  const probe = (verdict: "success" | "failure") => {
    clock.advance((breaker.openUntilMs ?? 0) - clock.monotonic());
    const isProbe = breaker.enter(clock.monotonic());
    const change = count(verdict, isProbe);
    breaker.endProbe();
    return change;
  };
  return { clock, breaker, count, fail, state, probe };
}

describe("the breaker", () => {
  it("opens with the fifth failure in a row, and not with the fourth", () => {
    const { fail, state, breaker, clock } = setUp();
    expect(fail(4)).toBeUndefined();
    expect(state()).toBe("closed");
    expect(fail(1)).toBe("ejected");
    expect(state()).toBe("open");
    expect(breaker.isAdmitting(clock.monotonic())).toBe(false);
    expect(breaker.openUntilMs).toBe(5_000);
  });

  it("forgets failures in a row with a success", () => {
    const { fail, count, state } = setUp();
    fail(4);
    count("success");
    fail(4);
    expect(state()).toBe("closed");
  });

  it("opens at half of twenty within ten seconds, and not when they are older", () => {
    const { clock, count, state } = setUp();
    const alternate = (pairs: number) => {
      for (let pair = 0; pair < pairs; pair += 1) {
        count("success");
        count("failure");
      }
    };
    alternate(9);
    clock.advance(11_000);
    alternate(9);
    expect(state()).toBe("closed");
    alternate(1);
    expect(state()).toBe("open");
  });

  it("lets one request through when the ejection ends", () => {
    const { clock, breaker, fail, state } = setUp();
    fail(5);
    clock.advance(5_000);
    expect(state()).toBe("half_open");
    expect(breaker.isAdmitting(clock.monotonic())).toBe(true);
    expect(breaker.enter(clock.monotonic())).toBe(true);
    expect(breaker.isAdmitting(clock.monotonic())).toBe(false);
    // The probe's client left: the next request is the probe.
    breaker.endProbe();
    expect(breaker.isAdmitting(clock.monotonic())).toBe(true);
  });

  it("doubles the ejection with every failed probe, to a minute, and begins anew after a lasting recovery", () => {
    const { clock, breaker, fail, probe, state } = setUp();
    const lengths: number[] = [];
    const note = () => lengths.push((breaker.openUntilMs ?? 0) - clock.monotonic());
    fail(5);
    note();
    for (let round = 0; round < 5; round += 1) {
      expect(probe("failure")).toBeUndefined();
      note();
    }
    expect(lengths).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000]);
    expect(probe("success")).toBe("recovered");
    expect(state()).toBe("closed");
    clock.advance(60_001);
    fail(5);
    expect((breaker.openUntilMs ?? 0) - clock.monotonic()).toBe(5_000);
    expect(breaker.ejections).toBe(2);
  });

  it("goes on doubling when it opens again soon after a recovery", () => {
    const { clock, breaker, fail, probe } = setUp();
    fail(5);
    probe("success");
    fail(5);
    expect((breaker.openUntilMs ?? 0) - clock.monotonic()).toBe(10_000);
  });

  it("never counts clients that leave and requests that are refused", () => {
    const { count, state } = setUp();
    for (let index = 0; index < 100; index += 1) {
      count("nothing");
      count("refused");
    }
    expect(state()).toBe("closed");
  });

  it("takes a refused request as a sign of life of a probe", () => {
    const { clock, breaker, count, fail } = setUp();
    fail(5);
    clock.advance(5_000);
    expect(count("refused", breaker.enter(clock.monotonic()))).toBe("recovered");
  });

  it("keeps what the upstream says of its return, within the longest ejection", () => {
    const { breaker, fail, count } = setUp();
    fail(4);
    count("failure", false, 30_000);
    expect(breaker.openUntilMs).toBe(30_000);
  });

  it("ejects for five minutes when the credential is refused, or until a new configuration comes", () => {
    const { clock, breaker, count, state } = setUp();
    expect(count("credential")).toBe("ejected");
    expect(breaker.openUntilMs).toBe(300_000);
    clock.advance(299_999);
    expect(state()).toBe("open");
    breaker.renew(clock.monotonic());
    expect(state()).toBe("half_open");
  });

  it("is not prolonged by what was under way when it opened", () => {
    const { breaker, fail } = setUp();
    fail(5);
    fail(50);
    expect([breaker.openUntilMs, breaker.ejections]).toEqual([5_000, 1]);
  });
});
