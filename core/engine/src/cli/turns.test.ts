import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Turns } from "./turns.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("turns", () => {
  it("follow one another, also after one that failed", async () => {
    const turns = new Turns();
    const begun: string[] = [];
    const first = Promise.withResolvers<void>();
    const a = turns.take(async () => {
      begun.push("a");
      await first.promise;
      throw new Error("it failed");
    });
    const b = turns.take(async () => begun.push("b"));
    await vi.advanceTimersByTimeAsync(0);
    expect(begun).toEqual(["a"]);
    first.resolve();
    await expect(a).rejects.toThrow("it failed");
    await b;
    expect(begun).toEqual(["a", "b"]);
  });

  it("are refused to who waited too long, and what they wanted is never begun", async () => {
    const turns = new Turns();
    const first = Promise.withResolvers<void>();
    const begun: string[] = [];
    void turns.take(() => first.promise);
    const late = turns.takeSoon(async () => begun.push("late"), "ask again").catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await late).toMatchObject({ code: "overloaded", message: "ask again", status: 503 });
    first.resolve();
    expect(await turns.takeSoon(async () => "next", "ask again")).toBe("next");
    expect(begun).toEqual([]);
  });
});
