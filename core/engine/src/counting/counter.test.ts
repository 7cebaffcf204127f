import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { afterEach, describe, expect, it, vi } from "vitest";
import { fakeLog } from "@sluice/testing";
import type { TokenCount } from "@sluice/contract";
import { createCounter, type ProcessCounter } from "./counter.ts";

const MISBEHAVING = new URL("./misbehaving-worker.fixture.ts", import.meta.url).href;
const clock = { now: Date.now, monotonic: () => performance.now() };
const LONG = "The gateway counts missing usage.  ".repeat(2_000);

let counter: ProcessCounter | undefined;

function open(options: { filename?: string; maxQueue?: number } = {}): ProcessCounter {
  counter = createCounter({ log: fakeLog([]), clock, baseDeadlineMs: 10_000, ...options });
  return counter;
}

afterEach(() => counter?.close());

describe("the counter", () => {
  it("counts short texts at once as soon as the tables are there, and by a worker before", async () => {
    const counting = open();
    const first = counting.count("Hello, world");
    expect(first).toBeInstanceOf(Promise);
    expect(await first).toEqual({ tokens: 3, exact: true });
    const later = await vi.waitUntil(
      () => {
        const count = counting.count("Hello, world");
        return !(count instanceof Promise) && count;
      },
      { timeout: 20_000 },
    );
    expect(later).toEqual({ tokens: 3, exact: true });
  });

  it("counts long texts in a worker, and several texts as the sum of each", async () => {
    const counting = open();
    const count = counting.count([LONG, "a", "b"]);
    expect(count).toBeInstanceOf(Promise);
    expect(await count).toEqual({ tokens: countTokens(LONG) + 2, exact: true });
  });

  it("takes special tokens for text", async () => {
    const special = "<|endoftext|>";
    const expected = countTokens(special, { disallowedSpecial: new Set() });
    expect(await open().count(special)).toEqual({ tokens: expected, exact: true });
    expect((await counter?.count(special.repeat(1_000)))?.tokens).toBeGreaterThan(3_000);
  });

  it("knows without any worker that nothing is nothing", () => {
    expect(open({ filename: "file:///nowhere" }).count("")).toEqual({ tokens: 0, exact: true });
  });

  it.each([
    ["cannot start", "file:///nowhere/worker.ts", "xyz"],
    ["dies", MISBEHAVING, "die"],
  ])(
    "estimates a fourth of the bytes where the worker %s, and says so",
    async (_what, filename, text) => {
      const count: TokenCount = await open({ filename }).count(`${text}${"é".repeat(5_000)}`);
      expect(count).toEqual({ tokens: Math.ceil(10_003 / 4), exact: false });
    },
  );

  it("estimates when the queue is full or the time is up", async () => {
    const counting = open({ filename: MISBEHAVING, maxQueue: 1 });
    await counting.count("abc");
    const long = `hold${" ".repeat(4_996)}`;
    const exact = (await Promise.all([0, 1, 2].map(() => counting.count(long)))).map(
      (count) => count.exact,
    );
    expect(exact).toEqual([true, true, false]);
    expect(await counting.count(long, { maxWaitMs: 5 })).toEqual({ tokens: 1_250, exact: false });
  });
});
