import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Mutex } from "./mutex.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("mutex", () => {
  it("follow one another, also after one that failed", async () => {
    const mutex = new Mutex();
    const begun: string[] = [];
    const first = Promise.withResolvers<void>();
    const a = mutex.take(async () => {
      begun.push("a");
      await first.promise;
      throw new Error("it failed");
    });
    const b = mutex.take(async () => begun.push("b"));
    await vi.advanceTimersByTimeAsync(0);
    expect(begun).toEqual(["a"]);
    first.resolve();
    await expect(a).rejects.toThrow("it failed");
    await b;
    expect(begun).toEqual(["a", "b"]);
  });

  it("are refused to who waited too long, and what they wanted is never begun", async () => {
    const mutex = new Mutex();
    const first = Promise.withResolvers<void>();
    const begun: string[] = [];
    void mutex.take(() => first.promise);
    const late = mutex
      .takeSoon(async () => begun.push("late"), "ask again")
      .catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await late).toMatchObject({ code: "overloaded", message: "ask again", status: 503 });
    first.resolve();
    expect(await mutex.takeSoon(async () => "next", "ask again")).toBe("next");
    expect(begun).toEqual([]);
  });
});
