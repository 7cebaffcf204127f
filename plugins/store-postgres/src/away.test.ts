import { fakeLog, type LogLine } from "@sluice/testing";
import { DatabaseError } from "pg";
import { expect, it, vi } from "vitest";
import { prepareNowOrLater } from "./away.ts";

function refusal(code: string, message: string): DatabaseError {
  return Object.assign(new DatabaseError(message, 0, "error"), { code });
}

it("opens a store that was away when what its server refuses has passed", async () => {
  const answers: Error[] = [
    new Error("connect ECONNREFUSED"),
    refusal("25006", "cannot execute CREATE TABLE in a read-only transaction"),
  ];
  const lines: LogLine[] = [];
  const onLateOpen = vi.fn<() => void>();
  await prepareNowOrLater({
    prepare: async () => {
      const error = answers.shift();
      if (error !== undefined) throw error;
    },
    signal: new AbortController().signal,
    stopping: new AbortController().signal,
    log: fakeLog(lines),
    onLateOpen,
  });
  await vi.waitFor(() => expect(onLateOpen).toHaveBeenCalledTimes(1), 20_000);
  expect(lines.map(({ level }) => level)).toEqual(["warn", "error", "info"]);
});
