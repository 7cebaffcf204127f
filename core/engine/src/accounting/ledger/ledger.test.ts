import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createLedger } from "./ledger.ts";
import type { Ledger } from "./ledger.ts";
import { openOutbox } from "../outbox/outbox.ts";
import type { Outbox } from "../outbox/outbox.ts";
import { makeRow } from "../testing/make-row.ts";
import { createMemoryStore } from "../testing/memory-store.ts";
import type { MemoryStore } from "../testing/memory-store.ts";
import { createRecordingLog, systemClock } from "../testing/recording-log.ts";
import type { RecordingLog } from "../testing/recording-log.ts";

let directory: string;
let outbox: Outbox;
let store: MemoryStore;
let log: RecordingLog;
let ledger: Ledger;

const open = (): void => {
  outbox = openOutbox({ directory });
  ledger = createLedger({ outbox, store, log, clock: systemClock });
};

const restart = async (): Promise<void> => {
  await ledger.stop();
  outbox.close();
  open();
};

/** Lets timers of this many milliseconds pass, with the input and output between them. */
const pass = async (milliseconds: number): Promise<void> => {
  await vi.advanceTimersByTimeAsync(milliseconds);
  for (let index = 0; index < 5; index++) await new Promise(setImmediate);
};

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  directory = mkdtempSync(join(tmpdir(), "sluice-ledger-"));
  store = createMemoryStore();
  log = createRecordingLog();
  open();
});

afterEach(async () => {
  vi.useRealTimers();
  await ledger.stop();
  outbox.close();
  rmSync(directory, { recursive: true });
});

test("moves rows 100 ms after the first, all in one transaction, and empties the outbox", async () => {
  for (let index = 0; index < 20; index++) await ledger.record([makeRow(`r${index}`)]);
  await pass(99);
  expect(store.calls).toBe(0);
  await pass(1);
  expect(store.transactions).toEqual([20]);
  expect(outbox.pendingBatches).toBe(0);
  await ledger.record([makeRow("later")]);
  await pass(100);
  expect(store.transactions).toEqual([20, 1]);
});

test("moves at most 400 rows at a time", async () => {
  for (let index = 0; index < 850; index++) await ledger.record([makeRow(`r${index}`)]);
  await ledger.flush();
  expect(store.transactions).toEqual([400, 400, 50]);
});

test("moves rows that fill a transaction at once", async () => {
  for (let index = 0; index < 399; index++) await ledger.record([makeRow(`r${index}`)]);
  await pass(10);
  expect(store.calls).toBe(0);
  await ledger.record([makeRow("a"), makeRow("b")]);
  await ledger.record([makeRow("c")]);
  await pass(1);
  expect(store.transactions).toEqual([399, 3]);
  await ledger.record([makeRow("d")]);
  await pass(99);
  expect(store.transactions).toEqual([399, 3]);
  await pass(1);
  expect(store.transactions).toEqual([399, 3, 1]);
});

test("moves the rows of callers that follow each other together", async () => {
  const waits: Promise<unknown>[] = [];
  for (let turn = 0; turn < 20; turn++) {
    waits.push(ledger.record([makeRow(`r${turn}`)]), ledger.flush());
    await new Promise(setImmediate);
  }
  await Promise.all(waits);
  expect(store.transactions.reduce((sum, rows) => sum + rows, 0)).toBe(20);
  expect(store.transactions.length).toBeLessThan(10);
});

test("loses nothing and doubles nothing when the store fails five times, and logs each change once", async () => {
  store.failNext(5);
  await ledger.record([makeRow("a")]);
  await ledger.record([makeRow("b")]);
  const flushed = ledger.flush();
  await pass(0);
  expect(ledger.health()).toMatchObject({ pendingBatches: 2, isStoreFailing: true });
  for (let index = 0; index < 5; index++) await pass(5_000);
  await flushed;
  expect([...store.kept.keys()]).toEqual(["a:1", "b:1"]);
  expect(store.calls).toBe(6);
  expect(ledger.health()).toMatchObject({ pendingBatches: 0, isStoreFailing: false, lagMs: 0 });
  expect(log.lines).toEqual([
    "warn spend rows do not reach the store; they wait in the outbox and are tried again",
    "info spend rows reach the store again",
  ]);
});

test("waits longer after each failure, up to five seconds", async () => {
  store.failNext(1_000);
  await ledger.record([makeRow("a")]);
  await pass(100);
  expect(store.calls).toBe(1);
  await pass(49);
  expect(store.calls).toBe(1);
  await pass(51);
  expect(store.calls).toBe(2);
  for (let index = 0; index < 10; index++) await pass(5_000);
  const before = store.calls;
  for (let index = 0; index < 50; index++) await pass(1_000);
  expect(store.calls - before).toBeGreaterThanOrEqual(8);
  expect(store.calls - before).toBeLessThanOrEqual(20);
});

test("keeps one row when the store kept the rows and only its answer was lost", async () => {
  store.failNext(1, true);
  await ledger.record([makeRow("a"), makeRow("a", { attempt: 2 })]);
  await pass(100);
  await pass(200);
  expect([...store.kept.keys()]).toEqual(["a:1", "a:2"]);
  expect(outbox.pendingBatches).toBe(0);
});

test("replays first what an earlier process left", async () => {
  store.failNext(1);
  await ledger.record([makeRow("old")]);
  await pass(100);
  await restart();
  await ledger.record([makeRow("new")]);
  await pass(100);
  expect([...store.kept.keys()]).toEqual(["old:1", "new:1"]);
});

test("a reader sees what was recorded before it asked, even in the same turn", async () => {
  void ledger.record([makeRow("a")]);
  expect((await ledger.rows({ limit: 10 })).map((row) => row.requestId)).toEqual(["a"]);
});

test.each(["days", "tags"] as const)(
  "a reader of %s has the rows that were recorded before it asked",
  async (report) => {
    const kept = vi.spyOn(store, report).mockImplementation(async () => {
      expect([...store.kept.keys()]).toEqual(["a:1"]);
      return [];
    });
    void ledger.record([makeRow("a")]);
    const signal = new AbortController().signal;
    await ledger[report]({ keyId: "k" }, signal);
    expect(kept).toHaveBeenCalledExactlyOnceWith({ keyId: "k" }, signal);
  },
);

test("a reader waits at most half a second for a failing store", async () => {
  await ledger.record([makeRow("a")]);
  await ledger.flush();
  store.failNext(1_000);
  await ledger.record([makeRow("b")]);
  const reading = ledger.rows({ limit: 10 });
  await pass(500);
  expect((await reading).map((row) => row.requestId)).toEqual(["a"]);
});

test("a flush that gives up rejects with the signal's reason", async () => {
  store.failNext(1_000);
  await ledger.record([makeRow("a")]);
  const controller = new AbortController();
  const flushed = ledger.flush(controller.signal);
  controller.abort(new Error("enough"));
  await expect(flushed).rejects.toThrow("enough");
});

test("stop ends the waiting, is safe twice, and recording still works", async () => {
  store.failNext(1_000);
  await ledger.record([makeRow("a")]);
  const flushed = ledger.flush();
  const outcome = flushed.catch((error: unknown) => String(error));
  await ledger.stop();
  await ledger.stop();
  expect(await outcome).toContain("the ledger stopped before all rows were in the store");
  await ledger.record([makeRow("b")]);
  store.failNext(0);
  await restart();
  await ledger.flush();
  expect([...store.kept.keys()]).toEqual(["a:1", "b:1"]);
});

test("passes on that the outbox took nothing", async () => {
  outbox.close();
  await expect(ledger.record([makeRow("a")])).rejects.toThrow("the outbox is closed");
});
