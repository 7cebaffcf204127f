import type { AuditStore, Log } from "@sluice/contract";
import { afterEach, expect, it, vi } from "vitest";
import { watchAuditHead } from "./audit-head.ts";

afterEach(() => {
  vi.useRealTimers();
});

it("logs the head once an hour, and goes on after a failure", async () => {
  vi.useFakeTimers();
  const lines: unknown[] = [];
  const note = (message: string, fields?: object): void => void lines.push([message, fields]);
  const log: Log = { debug: note, info: note, warn: note, error: note };
  let isAway = false;
  const audit = {
    head: async () => {
      if (isAway) throw new Error("away");
      return { seq: 7, hash: "abc" };
    },
  } as unknown as AuditStore;
  const end = watchAuditHead(audit, log);
  await vi.advanceTimersByTimeAsync(3_600_000);
  isAway = true;
  await vi.advanceTimersByTimeAsync(3_600_000);
  isAway = false;
  await vi.advanceTimersByTimeAsync(3_600_000);
  end();
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(lines).toEqual([
    ["audit head", { head: "7:abc" }],
    ["the head of the audit cannot be read", { error: expect.any(Error) }],
    ["audit head", { head: "7:abc" }],
  ]);
});
