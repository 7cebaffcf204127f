import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Authority, GatewayError, type Attempt } from "@sluice/contract";
import { fakeAttempt, fakeClock, fakeIdentity, fakeLog } from "@sluice/testing";
import { RouteTable } from "../../../pipeline/routes.ts";
import { snapshotOf } from "../../../pipeline/snapshot.fixture.ts";
import { readPlan } from "./canary-plan.ts";
import { endOf, startCanary } from "./canary.ts";
import { Generation } from "../../generation.ts";
import { ClosingScope } from "../../scope.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function generation(number: number): Generation {
  const snapshot = snapshotOf({ digest: `digest-${number}`, contents: `contents-${number}` });
  const guardrails = { find: () => undefined, list: () => [] };
  const authority = {} as Authority;
  const parts = {
    routes: new RouteTable<never>(),
    guardrails,
    authority,
    scope: new ClosingScope(fakeLog([])),
    shadows: [],
  };
  return new Generation(number, snapshot, parts, fakeClock());
}

function start(words: Partial<Parameters<typeof readPlan>[0]> = {}) {
  const ends: string[] = [];
  const live = generation(1);
  const plan = readPlan({ share: "25%", for: "10m", minRequests: 4, ...words });
  const canary = startCanary(
    generation(2),
    live,
    plan,
    0,
    (verdict) => void ends.push(endOf([verdict]).join(": ")),
  );
  const serve = (
    count: number,
    failed = 0,
    attempts: readonly Attempt[] = [],
    keys = ["a", "b", "c"],
  ): void => {
    for (let index = 0; index < count; index += 1) {
      const failure = index < failed ? new GatewayError("upstream_unreachable", "No.") : undefined;
      const identity = fakeIdentity({ keyId: keys[index % keys.length] ?? "" });
      canary.tally.add({
        startedAtMs: Date.UTC(2026, 0, 1),
        failure,
        reply: undefined,
        attempts,
        identity,
      });
    }
  };
  return { canary, live, ends, serve };
}

describe("the keys of a canary", () => {
  it("are a share of all keys: the same ones every time, and others for another candidate", () => {
    const { canary } = start();
    const keys = Array.from({ length: 2_000 }, (_none, index) => `sk-${index}`);
    const chosen = keys.filter((key) => canary.has(key));
    expect(chosen.length / keys.length).toBeGreaterThan(0.2);
    expect(chosen.length / keys.length).toBeLessThan(0.3);
    expect(keys.filter((key) => canary.has(key))).toEqual(chosen);
    const other = startCanary(generation(3), generation(1), canary.plan, 0, () => undefined);
    expect(keys.filter((key) => other.has(key))).not.toEqual(chosen);
  });
});

describe("a canary ends with", () => {
  it("a promotion when its time is over", () => {
    const { ends, serve, canary, live } = start();
    serve(4);
    vi.advanceTimersByTime(600_000);
    expect(ends).toEqual(["promoted: its time is over"]);
    expect([canary.generation.tally, live.tally]).toEqual([undefined, undefined]);
  });

  it("a rollback when it had fewer requests than it needs", () => {
    const { ends, serve } = start();
    serve(3);
    vi.advanceTimersByTime(600_000);
    expect(ends).toEqual([
      "returned: its time is over, and it had 3 of the 4 requests that it is judged by",
    ]);
    const enough = start({ minRequests: 0 });
    vi.advanceTimersByTime(600_000);
    expect(enough.ends).toEqual(["promoted: its time is over"]);
  });

  it("one rollback, at the request that shows the fault", () => {
    const { ends, serve } = start({ abortIf: "error_rate>25%" });
    serve(3, 3);
    expect(ends).toEqual([]);
    serve(3);
    vi.advanceTimersByTime(600_000);
    expect(ends).toEqual(["returned: 3 of its 4 requests failed, more than 25%"]);
  });

  it("a rollback when requests wait too long for content", () => {
    const { ends, serve } = start({ abortIf: "p99>2s", minRequests: 16 });
    serve(16, 0, [fakeAttempt({ firstContentAtMs: Date.UTC(2026, 0, 1) + 3_000 })]);
    expect(ends).toEqual([
      "returned: one in a hundred of its requests waited more than 2000 ms for content",
    ]);
  });

  it("no rollback while failures and waits come from a single key (I9)", () => {
    const { ends, serve } = start({ abortIf: "error_rate>25% or p99>2s", minRequests: 16 });
    serve(16, 0, [], ["victim"]);
    serve(48, 48, [fakeAttempt({ firstContentAtMs: Date.UTC(2026, 0, 1) + 3_000 })], ["attacker"]);
    expect(ends).toEqual([]);
    serve(16, 16, [], ["victim"]);
    expect(ends).toHaveLength(1);
  });

  it("no rollback for the errors of clients", () => {
    const { canary, ends } = start();
    const failure = new GatewayError("model_not_found", "No.");
    for (let index = 0; index < 10; index += 1) {
      canary.tally.add({ startedAtMs: 0, failure, reply: undefined, attempts: [] });
    }
    expect([canary.tally.errors, ends]).toEqual([0, []]);
  });
});

describe("a plan", () => {
  it.each<[string, Parameters<typeof readPlan>[0]]>([
    ["no percent", { share: "5" }],
    ["no keys", { share: "0%" }],
    ["more than all", { share: "101%" }],
    ["no time", { share: "5%", for: "soon" }],
    ["too little time", { share: "5%", for: "10ms" }],
    ["no condition", { share: "5%", abortIf: "it is bad" }],
    ["half a condition", { share: "5%", abortIf: "error_rate>5% or p99" }],
    ["less than no requests", { share: "5%", minRequests: -1 }],
  ])("is refused: %s", (_what, words) => {
    expect(() => readPlan(words)).toThrow(expect.objectContaining({ code: "invalid_field" }));
  });

  it("has defaults, and takes two conditions", () => {
    expect(readPlan({ share: "5%" })).toEqual({
      share: 0.05,
      forMs: 600_000,
      minRequests: 20,
      abortIf: { errorRate: 0.05, p99Ms: undefined },
    });
    expect(readPlan({ share: "12.5%", abortIf: "error_rate>1% or p99>20s" }).abortIf).toEqual({
      errorRate: 0.01,
      p99Ms: 20_000,
    });
  });
});
