import { describe, expect, it } from "vitest";
import { fakeClock } from "@sluice/testing";
import { Breaker, type BreakerSettings, type Failed } from "./breaker.ts";
import type { Trial } from "./breaker-trials.ts";

const SETTINGS: BreakerSettings = {
  consecutive: 5,
  ratio: 0.5,
  minRequests: 20,
  ejectionMs: 5_000,
  maxEjectionMs: 60_000,
};

type Parts = Partial<Omit<Failed, "trial">> & { readonly trial?: Trial | undefined };

function setUp() {
  const clock = fakeClock();
  const breaker = new Breaker();
  let number = 0;
  const at = (parts: Parts = {}): Failed => ({
    key: "a",
    body: `body ${(number += 1)}`,
    startedMs: clock.monotonic(),
    trial: undefined,
    isForced: false,
    isAfterHead: false,
    retryAfterMs: undefined,
    ...parts,
  });
  const fail = (times = 1, parts: Parts = {}) =>
    Array.from({ length: times }, () => breaker.fail(at(parts), clock.monotonic(), SETTINGS)).at(
      -1,
    );
  const succeed = (parts: Parts = {}) => breaker.succeed(at(parts), clock.monotonic());
  const state = () => breaker.state(clock.monotonic());
  const mayPass = (key = "a") => breaker.isAdmitting(clock.monotonic(), key);
  const enter = (key = "a") => breaker.enter(clock.monotonic(), key);
  const toTheEnd = () => clock.advance((breaker.openUntilMs ?? 0) - clock.monotonic());
  /** One request as the trial, at the end of the ejection. */
  const tryOnce = (isGood: boolean, key = "a") => {
    toTheEnd();
    const trial = enter(key);
    const change = isGood ? succeed({ trial, key }) : fail(1, { trial, key });
    if (trial !== undefined) breaker.leave(trial);
    return change;
  };
  return { clock, breaker, at, fail, succeed, state, mayPass, enter, toTheEnd, tryOnce };
}

describe("the breaker", () => {
  it("opens with the fifth failure in a row, and not with the fourth", () => {
    const { fail, state, breaker, mayPass } = setUp();
    expect(fail(4)).toBeUndefined();
    expect(state()).toBe("closed");
    expect(fail()).toBe("ejected");
    expect([state(), mayPass(), breaker.openUntilMs]).toEqual(["open", false, 5_000]);
  });

  it("forgets failures in a row with a success", () => {
    const { fail, succeed, state } = setUp();
    fail(4);
    succeed();
    fail(4);
    expect(state()).toBe("closed");
  });

  it("opens at half of twenty within ten seconds, and not when they are older", () => {
    const { clock, succeed, fail, state } = setUp();
    const alternate = (pairs: number) => {
      for (let pair = 0; pair < pairs; pair += 1) {
        succeed();
        fail();
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
    const { clock, breaker, fail, state, mayPass, enter } = setUp();
    fail(5);
    clock.advance(5_000);
    expect([state(), mayPass()]).toEqual(["half_open", true]);
    const trial = enter();
    expect(trial).toBeDefined();
    expect(mayPass()).toBe(false);
    // The trial's client left: the next request is the trial.
    if (trial !== undefined) breaker.leave(trial);
    expect(mayPass()).toBe(true);
  });

  it("doubles the ejection with every failed trial, to a minute, and begins anew after a lasting recovery", () => {
    const { clock, breaker, fail, tryOnce, state } = setUp();
    const lengths: number[] = [];
    const note = () => lengths.push((breaker.openUntilMs ?? 0) - clock.monotonic());
    fail(5);
    note();
    for (let round = 0; round < 5; round += 1) {
      expect(tryOnce(false)).toBeUndefined();
      note();
    }
    expect(lengths).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000]);
    expect(tryOnce(true)).toBe("recovered");
    expect(state()).toBe("closed");
    clock.advance(60_001);
    fail(5);
    expect((breaker.openUntilMs ?? 0) - clock.monotonic()).toBe(5_000);
  });

  it("goes on doubling when it opens again soon after a recovery", () => {
    const { clock, breaker, fail, tryOnce } = setUp();
    fail(5);
    tryOnce(true);
    fail(5);
    expect((breaker.openUntilMs ?? 0) - clock.monotonic()).toBe(10_000);
  });

  it("takes an answer that refuses the request as a sign of life", () => {
    const { clock, breaker, at, fail, enter } = setUp();
    fail(5);
    clock.advance(5_000);
    expect(breaker.answer(at({ trial: enter() }), clock.monotonic())).toBe("recovered");
  });

  it("keeps what the upstream says of its return, within the longest ejection", () => {
    const { breaker, fail } = setUp();
    fail(4);
    fail(1, { retryAfterMs: 30_000 });
    expect(breaker.openUntilMs).toBe(30_000);
  });

  it("takes no word of what was under way when it opened, or before it closed again", () => {
    const { clock, breaker, fail, succeed, tryOnce, state } = setUp();
    const startedMs = clock.monotonic();
    clock.advance(10);
    fail(5);
    fail(50);
    expect(breaker.openUntilMs).toBe(5_010);
    expect(succeed({ startedMs })).toBeUndefined();
    expect(state()).toBe("open");
    tryOnce(true);
    fail(50, { startedMs });
    expect(state()).toBe("closed");
  });
});

describe("a verdict of the breaker (I4)", () => {
  it("needs failures of two keys while another key asks", () => {
    const { fail, succeed, state } = setUp();
    succeed({ key: "b" });
    fail(50);
    fail(1, { key: "b" });
    expect(state()).toBe("closed");
    fail(1, { key: "b" });
    expect(state()).toBe("open");
  });

  it("needs different bodies of a key that is alone", () => {
    const { clock, fail, succeed, state } = setUp();
    succeed({ key: "b" });
    clock.advance(10_001);
    fail(50, { body: "same" });
    expect(state()).toBe("closed");
    fail();
    expect(state()).toBe("open");
  });

  it("by a key that was alone holds for this key: another one tries at once", () => {
    const { clock, breaker, fail, succeed, state, mayPass, enter, tryOnce } = setUp();
    fail(5);
    // A trial of the same key that fails changes nothing but the length.
    tryOnce(false);
    expect([mayPass("a"), mayPass("b")]).toEqual([false, true]);
    expect(breaker.waitMs(clock.monotonic(), "b")).toBe(0);
    const trial = enter("b");
    // One at a time.
    expect([mayPass("b"), mayPass("c")]).toEqual([false, false]);
    expect(succeed({ key: "b", trial })).toBe("recovered");
    expect(state()).toBe("closed");
  });

  it("by a key that was alone holds for all where the trial of another one fails", () => {
    const { breaker, fail, mayPass, enter } = setUp();
    fail(5);
    const trial = enter("b");
    fail(1, { key: "b", trial });
    expect([mayPass("a"), mayPass("b"), mayPass("c")]).toEqual([false, false, false]);
    expect(breaker.openUntilMs).toBe(10_000);
  });

  it("by two keys holds for all", () => {
    const { fail, mayPass } = setUp();
    fail(4);
    fail(2, { key: "b" });
    expect([mayPass("a"), mayPass("b"), mayPass("c")]).toEqual([false, false, false]);
  });

  it("needs neither where no connection could be opened", () => {
    const { fail, succeed, state, mayPass } = setUp();
    succeed({ key: "b" });
    fail(5, { body: "same", isForced: true });
    expect(state()).toBe("open");
    expect(mayPass("c")).toBe(false);
  });

  it("by the share of failures holds without the key that has most of them", () => {
    const { clock, fail, succeed, state } = setUp();
    const round = (key: string, isGood: boolean) => (isGood ? succeed({ key }) : fail(1, { key }));
    for (let n = 0; n < 40; n += 1) {
      round("a", false);
      round("b", n % 4 !== 0);
    }
    expect(state()).toBe("closed");
    clock.advance(11_000);
    for (let n = 0; n < 40; n += 1) {
      round("b", n % 2 === 0);
      round("a", n % 2 === 0);
    }
    expect(state()).toBe("open");
  });

  it("by the share of failures lets every tenth request through", () => {
    const { breaker, fail, succeed, state } = setUp();
    for (let n = 0; n < 10; n += 1) {
      succeed();
      fail();
    }
    expect(state()).toBe("open");
    expect(Array.from({ length: 20 }, () => breaker.letsThrough()).filter(Boolean)).toHaveLength(2);
    expect(succeed()).toBe("recovered");
  });
});

describe("a trial (I5)", () => {
  it("keeps others out for three seconds at most", () => {
    const { clock, breaker, fail, mayPass, enter, toTheEnd } = setUp();
    fail(5);
    toTheEnd();
    enter();
    clock.advance(2_999);
    expect([mayPass("b"), breaker.waitMs(clock.monotonic(), "b")]).toEqual([false, 1]);
    clock.advance(1);
    expect(mayPass("b")).toBe(true);
  });

  it("that another one has followed decides nothing by its failure, and all by its success", () => {
    for (const isGood of [false, true]) {
      const { clock, fail, succeed, state, enter, toTheEnd } = setUp();
      fail(5);
      toTheEnd();
      const first = enter();
      clock.advance(3_000);
      enter("b");
      if (isGood) succeed({ trial: first });
      else fail(1, { trial: first });
      expect(state()).toBe(isGood ? "closed" : "half_open");
    }
  });

  it("goes to another key than the one that failed, if one was refused; after five seconds to any", () => {
    const { clock, breaker, fail, mayPass, toTheEnd } = setUp();
    fail(5);
    breaker.knock(clock.monotonic(), "b");
    toTheEnd();
    expect([mayPass("a"), mayPass("b")]).toEqual([false, true]);
    clock.advance(5_000);
    expect(mayPass("a")).toBe(true);
  });

  it("goes to another key than the one whose trial takes long, or that left, however often that one asks", () => {
    for (const isGone of [false, true]) {
      const { clock, breaker, fail, mayPass, enter, toTheEnd } = setUp();
      fail(5);
      toTheEnd();
      const trial = enter("attacker");
      clock.advance(10);
      breaker.knock(clock.monotonic(), "victim");
      if (isGone && trial !== undefined) breaker.leave(trial);
      else clock.advance(2_990);
      expect([mayPass("attacker"), mayPass("victim")]).toEqual([false, true]);
    }
  });

  it("succeeds with the head of a response, and fails with what follows it", () => {
    const { clock, breaker, at, fail, state, mayPass, enter, toTheEnd } = setUp();
    fail(5);
    toTheEnd();
    const trial = enter();
    expect(breaker.begin(at({ trial }), clock.monotonic())).toBe("recovered");
    clock.advance(10);
    expect(fail(1, { trial, startedMs: clock.monotonic() - 10, isAfterHead: true })).toBe(
      "ejected",
    );
    expect(breaker.openUntilMs).toBe(clock.monotonic() + 10_000);
    // One key failed: another one may try at once.
    expect([mayPass("a"), mayPass("b")]).toEqual([false, true]);
    // From here on a head proves nothing.
    toTheEnd();
    const next = enter();
    expect(breaker.begin(at({ trial: next }), clock.monotonic())).toBeUndefined();
    expect(state()).toBe("half_open");
    expect(breaker.answer(at({ trial: next }), clock.monotonic())).toBe("recovered");
  });
});
