import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { fakeLog, type LogLine } from "@sluice/testing";
import { startInstance, stopInstance } from "./lifecycle.ts";
import { ClosingScope } from "./scope.ts";

const never = (): Promise<void> => new Promise(() => undefined);

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("an instance", () => {
  it("that does not stop within five seconds is left, and those before it are stopped", async () => {
    const stopped: string[] = [];
    const lines: LogLine[] = [];
    const scope = new ClosingScope(fakeLog(lines));
    scope.defer(() => stopInstance({ stop: async () => void stopped.push("outer") }, "outer"));
    scope.defer(() => stopInstance({ stop: never }, "inner of pipeline chat"));
    const closed = scope.close();
    await vi.advanceTimersByTimeAsync(4_999);
    expect(stopped).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    await closed;
    expect(stopped).toEqual(["outer"]);
    expect(lines.map(({ fields }) => String(fields?.error))).toEqual([
      "Error: inner of pipeline chat did not stop within 5000 ms.",
    ]);
  });

  it("that does not start within ten seconds is refused, and its signal is aborted", async () => {
    let given: AbortSignal | undefined;
    const start = (signal: AbortSignal): Promise<void> => {
      given = signal;
      return never();
    };
    const failed = startInstance({ start }, "retry of pipeline chat").catch((error: unknown) =>
      String(error),
    );
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await failed).toBe("Error: retry of pipeline chat did not start within 10000 ms.");
    expect(given?.aborted).toBe(true);
  });

  it("leaves no timer behind, whether it stops or fails", async () => {
    await stopInstance({ stop: () => Promise.resolve() }, "one");
    await expect(
      stopInstance({ stop: () => Promise.reject(new Error("no")) }, "two"),
    ).rejects.toThrow("no");
    await stopInstance({}, "three");
    expect(vi.getTimerCount()).toBe(0);
  });
});
