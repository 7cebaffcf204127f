import type { Lease, LeaseStore, StoreJob } from "@sluice/contract";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Leader } from "./leader.ts";

const log = { debug() {}, info() {}, warn() {}, error() {} };
const clock = { now: () => Date.now(), monotonic: () => performance.now() };

/** A lease in memory, by the clock of the test. */
function leasesIn(state: { lease?: Lease; isDown: boolean }): LeaseStore {
  const refuse = (): void => {
    if (state.isDown) throw new Error("connection refused");
  };
  return {
    renewEveryMs: 5_000,
    async take(_name, holder, forMs, notes) {
      refuse();
      const now = Date.now();
      const { lease } = state;
      if (lease !== undefined && lease.holder !== holder && lease.untilMs > now) return lease;
      const sinceMs = lease?.holder === holder && lease.untilMs > now ? lease.sinceMs : now;
      return (state.lease = {
        holder,
        sinceMs,
        untilMs: now + forMs,
        notes: notes ?? lease?.notes ?? "",
      });
    },
    async release(_name, holder) {
      refuse();
      if (state.lease?.holder === holder) state.lease = { ...state.lease, holder: "", untilMs: 0 };
    },
  };
}

let leaders: Leader[] = [];
const ran: string[] = [];

function processOf(holder: string, leases: LeaseStore | undefined, jobs?: readonly StoreJob[]) {
  const own: StoreJob = {
    name: "sweep",
    everyMs: 60_000,
    run: async () => {
      ran.push(holder);
      return "swept";
    },
  };
  const store = { jobs: jobs ?? [own], ...(leases !== undefined && { leases }) };
  const leader = new Leader({ store, holder, keepLedgerMs: () => undefined, clock, log });
  leaders.push(leader);
  leader.begin();
  return leader;
}

const passes = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

describe("the leader", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(async () => {
    const stopping = Promise.all(leaders.map((leader) => leader.stop()));
    await passes(10_000);
    await stopping;
    vi.useRealTimers();
    leaders = [];
    ran.length = 0;
  });

  it("is one process, which runs the jobs at their times", async () => {
    const leases = leasesIn({ isDown: false });
    const first = processOf("a", leases);
    await passes(1);
    const second = processOf("b", leases);
    await passes(130_000);
    expect(ran).toEqual(["a", "a", "a"]);
    expect(first.view).toMatchObject({ isLeading: true, holder: "a" });
    expect(second.view).toMatchObject({ isLeading: false, holder: "a" });
    expect(second.view.jobs).toMatchObject({ sweep: { did: "swept", error: null } });
  });

  it("is followed by another process after a stop at once, and keeps the times of jobs", async () => {
    const leases = leasesIn({ isDown: false });
    const first = processOf("a", leases);
    await passes(10_000);
    const second = processOf("b", leases);
    await passes(1);
    await first.stop();
    await passes(7_000);
    expect(second.view).toMatchObject({ isLeading: true, holder: "b" });
    expect(ran).toEqual(["a"]);
    await passes(60_000);
    expect(ran).toEqual(["a", "b"]);
  });

  it("stops its jobs before its lease ends, when the store does not answer", async () => {
    const state = { isDown: false };
    const ended: string[] = [];
    const long: StoreJob = {
      name: "long",
      everyMs: 1_000,
      run: async ({ signal }) =>
        new Promise((_, reject) =>
          signal.addEventListener("abort", () => {
            ended.push((signal.reason as Error).message);
            reject(signal.reason as Error);
          }),
        ),
    };
    const leader = processOf("a", leasesIn(state), [long]);
    await passes(100);
    state.isDown = true;
    await passes(14_000);
    expect(ended).toEqual([]);
    await passes(6_900);
    expect(leader.view.isLeading).toBe(false);
    expect(ended).toEqual(["another process leads"]);
  });

  it("tries a job that failed again in a minute, and shows why", async () => {
    let runs = 0;
    const failing: StoreJob = {
      name: "failing",
      everyMs: 3_600_000,
      run: async () => {
        runs += 1;
        throw new Error("no disk");
      },
    };
    const leader = processOf("a", undefined, [failing]);
    await passes(130_000);
    expect(runs).toBe(3);
    expect(leader.view).toMatchObject({
      isLeading: true,
      jobs: { failing: { did: null, error: "no disk" } },
    });
  });
});
