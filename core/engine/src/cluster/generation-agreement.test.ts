import type { Worker } from "node:cluster";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { fakeLog } from "@sluice/testing";
import { GenerationAgreement } from "./generation-agreement.ts";

const SETTLE_MS = 1_000;

function workerOf(pid: number): Worker {
  return { process: { pid } } as Worker;
}

function agreementOf(...pids: readonly number[]) {
  const workers = pids.map(workerOf);
  const sent: string[] = [];
  let isPaused = false;
  const agreement = new GenerationAgreement({
    log: fakeLog([]),
    serving: () => workers,
    send: (worker, message) =>
      sent.push(
        `${worker.process.pid}: ${message.type === "follow" ? `follow ${message.target.generation}` : message.type}`,
      ),
    isPaused: () => isPaused,
    settleMs: SETTLE_MS,
  });
  const [first, second] = workers as [Worker, Worker];
  return { agreement, workers, first, second, sent, pause: (value: boolean) => (isPaused = value) };
}

describe("the agreement of workers", () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  it("leaves an edit the time to reach every worker", () => {
    const { agreement, first, second, sent } = agreementOf(1, 2);
    for (const worker of [first, second]) agreement.runs(worker, { generation: 4, digest: "a" });
    agreement.runs(first, { generation: 5, digest: "b" });
    vi.advanceTimersByTime(SETTLE_MS - 1);
    agreement.runs(second, { generation: 5, digest: "b" });
    vi.advanceTimersByTime(60_000);
    expect(sent).toEqual([]);
  });

  it("tells one that runs an older generation to follow, again and again and not for ever", () => {
    const { agreement, first, second, sent } = agreementOf(1, 2);
    agreement.runs(second, { generation: 4, digest: "a" });
    agreement.runs(first, { generation: 5, digest: "b" });
    vi.advanceTimersByTime(SETTLE_MS);
    expect(sent).toEqual(["2: follow 5"]);
    vi.advanceTimersByTime(10 * 60_000);
    expect(new Set(sent)).toEqual(new Set(["2: follow 5"]));
    expect(sent).toHaveLength(5);
    agreement.runs(second, { generation: 5, digest: "b" });
    agreement.runs(first, { generation: 6, digest: "c" });
    vi.advanceTimersByTime(SETTLE_MS);
    expect(sent.at(-1)).toBe("2: follow 6");
  });

  it("counts a number for other contents, and another number for the same, as a difference", () => {
    const { agreement, first, second, sent } = agreementOf(1, 2);
    agreement.runs(second, { generation: 15, digest: "a" });
    agreement.runs(first, { generation: 15, digest: "b" });
    vi.advanceTimersByTime(SETTLE_MS);
    expect(sent).toEqual(["1: reload", "2: reload"]);
    agreement.runs(second, { generation: 16, digest: "b" });
    vi.advanceTimersByTime(4 * SETTLE_MS);
    expect(sent.at(-1)).toBe("1: follow 16");
  });

  it("tells one that begins to serve at once", () => {
    const { agreement, first, second, sent } = agreementOf(1, 2);
    agreement.runs(first, { generation: 5, digest: "b" });
    agreement.runs(second, { generation: 4, digest: "a" });
    agreement.look(true);
    expect(sent).toEqual(["2: follow 5"]);
  });

  it("says nothing while workers are replaced, and afterwards what is left", () => {
    const { agreement, first, second, sent, pause } = agreementOf(1, 2);
    pause(true);
    agreement.runs(second, { generation: 4, digest: "a" });
    agreement.runs(first, { generation: 5, digest: "b" });
    vi.advanceTimersByTime(60_000);
    expect(sent).toEqual([]);
    pause(false);
    vi.advanceTimersByTime(SETTLE_MS);
    expect(sent).toEqual(["2: follow 5"]);
  });

  it("knows why one does not follow, until it runs something else", () => {
    const { agreement, second } = agreementOf(1, 2);
    agreement.refused(second, { generation: 5, digest: "b" }, ["not here"]);
    expect(agreement.whyNot(second)).toBe("generation 5 is refused there: not here");
    agreement.runs(second, { generation: 5, digest: "b" });
    expect(agreement.whyNot(second)).toBeUndefined();
  });

  it("goes by the workers that live", () => {
    const { agreement, workers, first, second, sent } = agreementOf(1, 2);
    agreement.runs(second, { generation: 4, digest: "a" });
    agreement.runs(first, { generation: 5, digest: "b" });
    workers.shift();
    agreement.forget(first);
    vi.advanceTimersByTime(60_000);
    expect(sent).toEqual([]);
    expect(agreement.newest).toEqual({ generation: 4, digest: "a" });
  });
});
