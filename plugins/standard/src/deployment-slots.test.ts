import { describe, expect, it, vi } from "vitest";
import { type SlotLimits, Slots } from "./deployment-slots.ts";

const LIMITS: SlotLimits = { maxParallel: 1, queue: 2, queueTimeoutMs: 1_000 };
const never = new AbortController().signal;

/** Slots of which the only one is taken. */
function full(): Slots {
  const slots = new Slots();
  slots.take();
  return slots;
}

describe("the slots of a deployment", () => {
  it("go to those who wait, in the order of their arrival", async () => {
    const slots = full();
    const order: number[] = [];
    const first = slots.wait(LIMITS, never).then(() => order.push(1));
    const second = slots.wait(LIMITS, never).then(() => order.push(2));
    expect([slots.queued, slots.hasQueue(LIMITS), slots.hasRoom(LIMITS)]).toEqual([2, false, false]);
    slots.release();
    await first;
    expect([slots.inFlight, slots.queued]).toEqual([1, 1]);
    slots.release();
    await second;
    slots.release();
    expect([order, slots.inFlight, slots.queued]).toEqual([[1, 2], 0, 0]);
  });

  it("are not waited for longer than the queue allows", async () => {
    vi.useFakeTimers();
    const slots = full();
    const late = slots.wait(LIMITS, never).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await late).toMatchObject({ code: "overloaded", status: 503 });
    vi.useRealTimers();
    slots.release();
    expect([slots.inFlight, slots.queued]).toEqual([0, 0]);
  });

  it("are not waited for by a client that left, before or meanwhile", async () => {
    const slots = full();
    const leaving = new AbortController();
    const waiting = slots.wait(LIMITS, leaving.signal).catch((error: unknown) => error);
    leaving.abort(new Error("left"));
    expect(await waiting).toBe(leaving.signal.reason);
    await expect(slots.wait(LIMITS, leaving.signal)).rejects.toThrow("left");
    slots.release();
    expect([slots.inFlight, slots.queued]).toEqual([0, 0]);
  });
});
