import type { Worker } from "node:cluster";
import { describe, expect, it } from "vitest";
import { BEAT_MS, HeartbeatMonitor } from "./heartbeat.ts";

function monitorOf(limitMs: number) {
  let nowMs = 0;
  const reported: number[] = [];
  const worker = {} as Worker;
  const monitor = new HeartbeatMonitor(
    (_worker, silentMs) => reported.push(silentMs),
    () => nowMs,
  );
  monitor.follow(worker, limitMs);
  return {
    monitor,
    worker,
    reported,
    /** Time passes in looks of the usual distance. */
    pass(ms: number) {
      for (const end = nowMs + ms; nowMs < end;) {
        nowMs += BEAT_MS;
        monitor.look();
      }
    },
    /** This process itself is blocked. */
    stall(ms: number) {
      nowMs += ms;
      monitor.look();
    },
  };
}

describe("the heartbeats of a worker", () => {
  it("reports one that is silent for longer than its limit, once", () => {
    const { monitor, worker, reported, pass } = monitorOf(10_000);
    pass(9_000);
    expect([reported.length, monitor.silentMs(worker)]).toEqual([0, 9_000]);
    pass(20_000);
    expect(reported).toEqual([10_500]);
  });

  it("reports none whose beats arrive", () => {
    const { monitor, worker, reported, pass } = monitorOf(1_000);
    for (let round = 0; round < 20; round++) {
      pass(1_000);
      monitor.heard(worker);
    }
    expect(reported).toEqual([]);
  });

  it("counts no time in which the supervising process stood still itself", () => {
    const { monitor, worker, reported, pass, stall } = monitorOf(10_000);
    pass(2_000);
    stall(3_600_000);
    expect(reported).toEqual([]);
    expect(monitor.silentMs(worker)).toBeLessThanOrEqual(2_500);
    pass(9_000);
    expect(reported).toHaveLength(1);
  });

  it("reports none with a limit of 0, and with a shorter one than 1 s after 1 s", () => {
    const never = monitorOf(0);
    never.pass(600_000);
    expect(never.reported).toEqual([]);
    const soon = monitorOf(1);
    soon.pass(1_000);
    expect(soon.reported).toEqual([]);
    soon.pass(500);
    expect(soon.reported).toHaveLength(1);
  });
});
