import { describe, expect, it, vi } from "vitest";
import { TimeLimit, unlessAborted, waitForAnswer } from "./waiting.ts";

const never = new Promise<never>(() => undefined);

describe("a wait", () => {
  it("comes to what the promise comes to", async () => {
    const { signal } = new AbortController();
    expect(await unlessAborted(Promise.resolve(1), signal)).toBe(1);
    await expect(unlessAborted(Promise.reject(new Error("no")), signal)).rejects.toThrow("no");
  });

  it("ends with its signal, before and later", async () => {
    const reason = new Error("over");
    await expect(unlessAborted(Promise.resolve(1), AbortSignal.abort(reason))).rejects.toBe(reason);
    // No caller waits for this promise, so its rejection is not reported.
    await expect(
      unlessAborted(Promise.reject(new Error("late")), AbortSignal.abort(reason)),
    ).rejects.toBe(reason);
    const controller = new AbortController();
    const waiting = unlessAborted(never, controller.signal);
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
  });
});

describe("a time limit", () => {
  it("follows its outer signal, ends after its time, and does nothing once it was ended", () => {
    vi.useFakeTimers();
    try {
      const reason = new Error("over");
      const outer = new AbortController();
      const [followed, timed, ended] = [
        outer.signal,
        new AbortController().signal,
        outer.signal,
      ].map((signal) => new TimeLimit(signal, 50, () => new Error("late")));
      ended?.end();
      outer.abort(reason);
      expect([followed?.signal.reason, ended?.signal.aborted]).toEqual([reason, false]);
      vi.advanceTimersByTime(49);
      expect(timed?.signal.aborted).toBe(false);
      vi.advanceTimersByTime(1);
      expect(timed?.signal.reason).toEqual(new Error("late"));
      expect(ended?.signal.aborted).toBe(false);
      expect(new TimeLimit(outer.signal, 50, () => new Error("late")).signal.reason).toBe(reason);
      vi.runAllTimers();
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("a wait for an answer", () => {
  /** Blocks the event loop. */
  const block = (ms: number): void =>
    void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

  it("ends after its time, once", async () => {
    const late = vi.fn<() => void>();
    waitForAnswer(10, late);
    await vi.waitFor(() => expect(late).toHaveBeenCalledOnce());
  });

  it("is not over while the event loop was blocked: an answer that came meanwhile is received", async () => {
    const late = vi.fn<() => void>();
    const { port1, port2 } = new MessageChannel();
    const answered = new Promise((resolve) =>
      port1.addEventListener("message", resolve, { once: true }),
    );
    port1.start();
    const end = waitForAnswer(100, late);
    port2.postMessage("the answer");
    block(300);
    await answered;
    end();
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(late).not.toHaveBeenCalled();
    port1.close();
  });

  it("gives the lost time back, and ends although the loop is blocked again and again", async () => {
    const late = vi.fn<() => void>();
    waitForAnswer(60, late);
    const calls: number[] = [];
    for (let blocks = 0; blocks < 5; blocks += 1) {
      block(150);
      await new Promise((resolve) => setTimeout(resolve, 0));
      calls.push(late.mock.calls.length);
    }
    // Three times the lost time is added.
    expect(calls.slice(0, 3)).toEqual([0, 0, 0]);
    await vi.waitFor(() => expect(late).toHaveBeenCalledOnce());
  });
});
