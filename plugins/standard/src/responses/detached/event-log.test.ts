import { describe, expect, it } from "vitest";
import type { StoreResult } from "../store.ts";
import { EventLog } from "./event-log.ts";

const CHUNK = 49_152;
const event = (at: number, size = CHUNK): string => `data: ${at} ${"x".repeat(size)}\n\n`;

/** A log whose chunks are stored as a test says. */
function logOf(result: (index: number) => StoreResult | Promise<StoreResult>, maxBytes = 1e9) {
  const stored: number[] = [];
  const log = new EventLog((index) => {
    stored.push(index);
    return result(index);
  }, maxBytes);
  return { log, stored };
}

/** Chunks in memory, of the first so many. */
const heldOf = (log: EventLog, count: number): number[] =>
  Array.from({ length: count }, (_, index) => index).filter((at) => log.read(at, 0) !== undefined);

describe("the events of a response", () => {
  it("are in memory until they are stored, one chunk after the other", async () => {
    const gates: (() => void)[] = [];
    const { log, stored } = logOf(
      () => new Promise((resolve) => gates.push(() => resolve("stored"))),
    );
    for (let at = 0; at < 3; at++) await log.append(event(at));
    expect([stored, heldOf(log, 5)]).toEqual([[0], [0, 1, 2, 3]]);
    for (const index of [0, 1, 2]) {
      gates[index]?.();
      await log.changed;
      expect(stored.at(-1)).toBe(Math.min(index + 1, 2));
    }
    expect(heldOf(log, 5)).toEqual([3]);
    await log.append("data: last\n\n");
    const ended = log.end();
    expect(log.read(3, 0)).toEqual({ text: "data: last\n\n", end: "end" });
    gates[3]?.();
    await ended;
    expect(heldOf(log, 5)).toEqual([]);
    await log.append("data: too late\n\n");
    expect(heldOf(log, 9)).toEqual([]);
  });

  it("make their writer wait where too many are not stored", async () => {
    const { promise, resolve } = Promise.withResolvers<StoreResult>();
    const { log } = logOf(() => promise);
    let waiting: Promise<void> | void = undefined;
    let written = 0;
    while (waiting === undefined && written < 100) waiting = log.append(event(written++)) as never;
    expect(written * CHUNK).toBeLessThan(1_200_000);
    resolve("stored");
    await waiting;
    expect(heldOf(log, 100)).toEqual([written]);
  });

  it.each([
    ["the shared state takes none", () => "refused by the shared state" as const, 1e9],
    ["they are too many", () => "stored" as const, 200],
  ])("stay within bounds of memory where %s", async (_why, result, maxBytes) => {
    const { log, stored } = logOf(result, maxBytes);
    for (let at = 0; at < 40; at++) {
      await log.append(crypto.randomUUID().repeat(2_000));
      expect(heldOf(log, 60).length).toBeLessThanOrEqual(4);
    }
    // The mark of what is lost stands at the first chunk that was.
    expect(new Set(stored).size).toBeLessThanOrEqual(2);
    await log.end();
  });

  it("notify those that wait for more", async () => {
    const { log } = logOf(() => "stored");
    const { changed } = log;
    await log.append("data: 1\n\n");
    await changed;
    expect(log.read(0, 0)).toEqual({ text: "data: 1\n\n", end: undefined });
    expect(log.read(0, 9)?.text).toBe("");
    await log.end();
  });
});
