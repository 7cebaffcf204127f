import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LogLine, fakeLog } from "@sluice/kit/testing";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { watchDataFolder } from "./data-folder.ts";

let folder: string;
beforeEach(() => {
  vi.useFakeTimers();
  folder = mkdtempSync(join(tmpdir(), "sluice-data-"));
  writeFileSync(join(folder, "outbox.db"), "");
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true, force: true });
});

it.each<[string, () => void]>([
  ["is removed", () => rmSync(folder, { recursive: true })],
  [
    "is replaced",
    () => {
      writeFileSync(join(folder, "other"), "");
      renameSync(join(folder, "other"), join(folder, "outbox.db"));
    },
  ],
])("says once, and at once, that the folder %s", (_how, pull) => {
  const lines: LogLine[] = [];
  const watch = watchDataFolder(folder, "outbox.db", fakeLog(lines));
  vi.advanceTimersByTime(3_000);
  expect([watch.isIntact, lines]).toEqual([true, []]);
  pull();
  vi.advanceTimersByTime(3_000);
  expect(watch.isIntact).toBe(false);
  expect(lines.map(({ level }) => level)).toEqual(["error"]);
  watch.close();
});
