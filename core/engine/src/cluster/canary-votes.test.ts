import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CanaryVerdict } from "../generation/rollout/canary/canary.ts";
import { CanaryVotes } from "./canary-votes.ts";
import type { ToWorker } from "./worker-messages.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const DIGEST = "d1";
const time = (requests: number): CanaryVerdict => ({
  digest: DIGEST,
  kind: "time",
  reason: "its time is over",
  requests,
  minRequests: 20,
});

function open(...voters: readonly string[]) {
  const sent: ToWorker[] = [];
  const desk = new CanaryVotes(
    () => voters,
    (message) => void sent.push(message),
  );
  return { desk, sent };
}

describe("a canary of several workers", () => {
  it("is promoted by the requests of all together", () => {
    const { desk, sent } = open("one", "two");
    desk.take("one", time(12));
    expect(sent).toEqual([]);
    desk.take("two", time(8));
    expect(sent).toEqual([
      { type: "end-canary", digest: DIGEST, end: "promoted", reason: "its time is over" },
    ]);
  });

  it("is returned when all of them together had too few", () => {
    const { desk, sent } = open("one", "two");
    desk.take("one", time(12));
    desk.take("two", time(7));
    expect(sent).toMatchObject([
      { end: "returned", reason: expect.stringContaining("it had 19 of the 20 requests") },
    ]);
  });

  it("is returned at once by a fault that one of them saw, whatever others have said", () => {
    const { desk, sent } = open("one", "two");
    desk.take("one", time(100));
    desk.take("two", { ...time(20), kind: "fault", reason: "too many failed" });
    expect(sent).toMatchObject([{ end: "returned", reason: "too many failed" }]);
    vi.advanceTimersByTime(10_000);
    expect(sent).toHaveLength(1);
  });

  it("does not wait for ever for one that is gone", () => {
    const { desk, sent } = open("one", "two");
    desk.take("one", time(20));
    vi.advanceTimersByTime(3_000);
    expect(sent).toMatchObject([{ end: "promoted" }]);
  });
});
