import { describe, expect, it } from "vitest";
import { HeldTime, type MainThread, readMainThread } from "./main-thread.ts";

/** The held time after looks of 100 ms at a thread in these states. */
function heldAfter(...states: readonly (MainThread | undefined)[]): HeldTime {
  let look = 0;
  const held = new HeldTime(() => states[Math.min(look++, states.length - 1)]);
  for (let pass = 1; pass < states.length; pass++) held.pass(100);
  return held;
}

const runnable = (cpuMs: number): MainThread => ({ cpuMs, isRunnable: true });
const asleep = (cpuMs: number): MainThread => ({ cpuMs, isRunnable: false });

describe("the time in which the main thread is held", () => {
  it.each<[string, readonly (MainThread | undefined)[], number]>([
    ["is that of a thread that computes alone", [runnable(0), runnable(100), runnable(200)], 200],
    [
      "is that of one with a quarter of a processor",
      [runnable(0), runnable(25), runnable(50)],
      200,
    ],
    ["is nothing while it waits for a processor", [runnable(7), runnable(7), runnable(7)], 0],
    ["is that of one that sleeps in a system call", [runnable(7), asleep(7), asleep(7)], 200],
    ["is the clock's where the system shows nothing", [undefined, undefined, undefined], 200],
  ])("%s", (_what, states, ms) => {
    expect(heldAfter(...states).ms).toBe(ms);
  });

  it("begins anew", () => {
    const held = heldAfter(runnable(0), runnable(100));
    held.reset();
    expect(held).toMatchObject({ ms: 0, cpuMs: 0 });
  });

  it("is read from the system", () => {
    const before = readMainThread()?.cpuMs ?? Number.NaN;
    for (let sum = 0; (readMainThread()?.cpuMs ?? Number.NaN) < before + 20;)
      sum += Math.sqrt(sum + 1);
    expect(before).toBeGreaterThan(0);
  });
});
