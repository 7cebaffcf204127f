import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { collectOnceIdle } from "./collect-once-idle.ts";

const LOOK_MS = 20;
/** More than the function looks. */
const LOOKS = 20;

/** Resolves with the collection of an idle process. */
const idle = (onCollect: () => void = () => undefined): Promise<void> =>
  new Promise((resolve) => {
    collectOnceIdle({
      lookMs: LOOK_MS,
      collect: () => {
        onCollect();
        resolve();
      },
    });
  });

describe("the collection after a start", () => {
  it("runs once in an idle process", async () => {
    let count = 0;
    await idle(() => (count += 1));
    await idle();
    await idle();
    expect(count).toBe(1);
  });

  it("frees what nothing refers to, and leaves no function behind", async () => {
    const held = new WeakRef({ text: "not referred to" });
    collectOnceIdle({ lookMs: LOOK_MS });
    await idle();
    await idle();
    expect(held.deref()).toBeUndefined();
    expect("gc" in globalThis).toBe(false);
  });

  it("leaves a busy process alone", async () => {
    let count = 0;
    collectOnceIdle({ lookMs: LOOK_MS, collect: () => (count += 1) });
    for (let look = 0; look < LOOKS; look += 1) {
      const untilMs = performance.now() + LOOK_MS;
      while (performance.now() < untilMs);
      await nextTurn();
    }
    await idle();
    expect(count).toBe(0);
  });
});
