import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fakeClock, fakeLog, type LogLine } from "@sluice/testing";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { isLedgerRefusal, LedgerGuard } from "./guard.ts";
import { openOutbox, type Outbox } from "../outbox/outbox.ts";
import { makeRow } from "../testing/make-row.ts";

let directory: string;
let outbox: Outbox;
let guard: LedgerGuard;
let lines: LogLine[];
let fault: string | undefined;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  directory = mkdtempSync(join(tmpdir(), "sluice-guard-"));
  outbox = openOutbox({ directory });
  lines = [];
  fault = undefined;
  guard = new LedgerGuard({
    outbox,
    places: { disk: () => fault },
    log: fakeLog(lines),
    clock: fakeClock(),
  });
});
afterEach(() => {
  guard.stop();
  outbox.close();
  vi.useRealTimers();
  rmSync(directory, { recursive: true });
});

const note = (requestId: string): Promise<void> => guard.note(makeRow(requestId), () => undefined);
const look = (): Promise<unknown> => vi.advanceTimersByTimeAsync(1_000);
const refusalOf = (run: () => void): Error | undefined => {
  try {
    run();
    return undefined;
  } catch (error) {
    return error as Error;
  }
};

it("refuses calls while a place has a fault, keeps the rows of those under way, and writes each once when it is over", async () => {
  guard.check();
  fault = "The disk is full.";
  await look();
  const refusal = refusalOf(() => void note("new"));
  expect(refusal).toMatchObject({
    code: "overloaded",
    status: 503,
    retryable: false,
    retryAfterMs: 5_000,
  });
  expect(refusal !== undefined && isLedgerRefusal(refusal)).toBe(true);
  await expect(guard.record([makeRow("under way")])).rejects.toMatchObject({ code: "overloaded" });
  expect([outbox.keptRows, guard.fault?.place]).toEqual([1, "disk"]);
  await look();
  fault = undefined;
  await look();
  expect(guard.fault).toBeUndefined();
  expect([outbox.keptRows, outbox.peek()?.rows.map(({ requestId }) => requestId)]).toEqual([
    0,
    ["under way"],
  ]);
  expect(lines.map(({ level }) => level)).toEqual(["error", "info"]);
  await guard.record([makeRow("later")]);
});

it("notices a write that fails, and says so once however many requests it refuses", async () => {
  guard.stop();
  outbox.close();
  outbox = openOutbox({ directory, maxBytes: 200_000 });
  guard = new LedgerGuard({
    outbox,
    places: { disk: () => fault },
    log: fakeLog(lines),
    clock: fakeClock(),
  });
  // What is left is for the rows of calls under way.
  await guard.record([makeRow("large", { metadata: { text: "x".repeat(175_000) } })]);
  const together = await Promise.allSettled([note("a"), note("b")]);
  for (const result of together) {
    const { reason } = result as PromiseRejectedResult;
    expect(reason).toMatchObject({ code: "overloaded", retryable: false });
    expect(isLedgerRefusal(reason as Error)).toBe(true);
  }
  for (let count = 0; count < 50; count += 1)
    expect(refusalOf(() => void note(`r${count}`))).toBeDefined();
  await look();
  await look();
  expect(guard.fault).toMatchObject({ place: "outbox" });
  expect(guard.fault?.text).toContain("full");
  expect(lines).toHaveLength(1);
  // The store has the row.
  outbox.discard(1);
  await look();
  expect(guard.fault).toBeUndefined();
  await note("now");
});
