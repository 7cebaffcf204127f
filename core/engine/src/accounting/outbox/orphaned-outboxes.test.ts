import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { fakeClock, fakeLog, type LogLine } from "@sluice/testing";
import { moveLeftOutbox, outboxNames } from "./orphaned-outboxes.ts";
import { openOutbox } from "./outbox.ts";
import { outboxName } from "./lock-file.ts";
import { makeRow } from "../testing/make-row.ts";
import { createMemoryStore } from "../testing/memory-store.ts";

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "sluice-left-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

it("moves the rows that a worker left, once, and leaves alone what another process holds", async () => {
  const lines: LogLine[] = [];
  const store = createMemoryStore();
  const parts = { directory, store, log: fakeLog(lines), clock: fakeClock() };
  const left = openOutbox({ directory, name: outboxName(2) });
  await left.append([makeRow("a"), makeRow("b")]);
  left.close();
  expect(outboxNames(directory)).toEqual(["outbox-2.db"]);
  await moveLeftOutbox("outbox-2.db", parts, AbortSignal.timeout(5_000));
  await moveLeftOutbox("outbox-2.db", parts, AbortSignal.timeout(5_000));
  expect(store.kept.size).toBe(2);
  expect(lines.filter(({ level }) => level === "info")).toHaveLength(1);
});
