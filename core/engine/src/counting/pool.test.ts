import type { Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { fakeLog, type LogLine } from "@sluice/testing";
import { CountingPool, type PoolOptions } from "./pool.ts";

const MISBEHAVING = new URL("./misbehaving-worker.fixture.ts", import.meta.url).href;
const clock = { now: Date.now, monotonic: () => performance.now() };

let pool: CountingPool | undefined;
let lines: LogLine[];

function open(options: Partial<PoolOptions> = {}): CountingPool {
  lines = [];
  pool = new CountingPool({
    log: fakeLog(lines),
    clock,
    filename: MISBEHAVING,
    baseDeadlineMs: 5_000,
    ...options,
  });
  return pool;
}

/**
 * Counts until there is a count: a pool that lost its worker is back as soon as another one has
 * started.
 */
const recovered = (of: CountingPool): Promise<number | undefined> =>
  vi.waitUntil(() => of.count(["abc"]), { timeout: 15_000, interval: 20 });

afterEach(() => pool?.close());

describe("a pool of counting workers", () => {
  it("starts with its first job", async () => {
    const started = open();
    expect(await started.count(["four"])).toBe(4);
    expect(lines).toMatchObject([{ level: "debug", message: "token counting started" }]);
  });

  it.each([
    ["throws", "throw"],
    ["dies", "die"],
    ["runs out of memory", "fill"],
  ])("outlives a worker that %s, and does not try that text again", async (_how, text) => {
    const broken = open({ baseDeadlineMs: 50_000 });
    expect(await broken.count([text])).toBeUndefined();
    expect(lines.filter(({ level }) => level === "warn")).toMatchObject([
      { fields: { why: "crash", characters: text.length } },
    ]);
    expect(JSON.stringify(lines)).not.toContain(`"${text}"`);
    expect(await recovered(broken)).toBe(3);
    expect(await broken.count([text])).toBeUndefined();
    expect(lines.filter(({ level }) => level === "warn")).toHaveLength(1);
  });

  it("ends a worker that does not end, and does not try that text again", async () => {
    const looping = open({ baseDeadlineMs: 100 });
    await recovered(looping);
    expect(await looping.count(["loop"])).toBeUndefined();
    expect(await recovered(looping)).toBe(3);
    expect(lines.filter(({ level }) => level === "warn")).toMatchObject([
      { fields: { why: "deadline" } },
    ]);
    expect(await looping.count(["loop"])).toBeUndefined();
    expect(lines.filter(({ level }) => level === "warn")).toHaveLength(1);
  });

  it("takes no more jobs than its queue has room for", async () => {
    const full = open({ maxQueue: 1 });
    await recovered(full);
    const counts = await Promise.all(
      ["hold 1", "hold 2", "hold 3", "hold 4"].map((text) => full.count([text])),
    );
    expect(counts).toEqual([6, 6, undefined, undefined]);
    expect(await full.count(["hold 3"])).toBe(6);
  });

  it("holds nothing against a job that never began before its deadline", async () => {
    const busy = open({ baseDeadlineMs: 60 });
    await recovered(busy);
    const first = busy.count(["hold"]);
    expect(await busy.count(["waits"])).toBeUndefined();
    await first;
    await recovered(busy);
    expect(await busy.count(["waits"])).toBe(5);
  });

  it("waits no longer than it is asked to", async () => {
    const slow = open();
    await recovered(slow);
    expect(await slow.count(["hold"], 10)).toBeUndefined();
    expect(await recovered(slow)).toBe(3);
  });

  it("is without counts, not without end, when its worker cannot start", async () => {
    const absent = open({ filename: "file:///nowhere/worker.ts" });
    expect(await absent.count(["abc"])).toBeUndefined();
    expect(lines).toMatchObject([{ level: "warn", fields: { why: "start" } }]);
  });

  it("ends with its jobs unanswered and takes no more", async () => {
    const closing = open();
    await recovered(closing);
    const held = closing.count(["hold"]);
    await closing.close();
    expect(await held).toBeUndefined();
    expect(await closing.count(["abc"])).toBeUndefined();
    expect(lines.filter(({ level }) => level === "warn")).toEqual([]);
  });
});

describe("a closed pool", () => {
  const threads = new Set<Worker>();
  const note = (thread: Worker): void => {
    threads.add(thread);
    thread.once("exit", () => threads.delete(thread));
  };
  beforeEach(() => void process.on("worker", note));
  afterEach(() => void process.off("worker", note));

  it("leaves no thread when it is closed while they start", async () => {
    const starting = open();
    const count = starting.count(["abc"]);
    await starting.close();
    expect(await count).toBeUndefined();
    expect(threads.size).toBe(0);
  });

  it("leaves no thread when it is closed while they load the vocabulary", async () => {
    const loading = open();
    const count = loading.count(["abc"]);
    await vi.waitUntil(() => threads.size > 0, { timeout: 15_000, interval: 1 });
    await loading.close();
    expect(await count).toBeUndefined();
    expect(threads.size).toBe(0);
  });

  it("leaves no thread when its worker could not start", async () => {
    const absent = open({ filename: "file:///nowhere/worker.ts" });
    await absent.count(["abc"]);
    await absent.close();
    expect(threads.size).toBe(0);
  });
});
