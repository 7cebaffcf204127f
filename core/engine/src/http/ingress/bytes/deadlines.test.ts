import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Deadlines } from "./deadlines.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("passes each deadline once, at its time, and not those that ended", () => {
  const deadlines = new Deadlines(1_000);
  const passed: string[] = [];
  const begin = (name: string) => deadlines.begin(() => passed.push(name));
  const first = begin("first");
  vi.advanceTimersByTime(400);
  begin("second");
  deadlines.end(first);
  deadlines.end(first);
  vi.advanceTimersByTime(300);
  begin("third");
  vi.advanceTimersByTime(699);
  expect(passed).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(passed).toEqual(["second"]);
  vi.advanceTimersByTime(300);
  expect(passed).toEqual(["second", "third"]);
  expect(vi.getTimerCount()).toBe(0);
  begin("later");
  vi.advanceTimersByTime(1_000);
  expect(passed).toEqual(["second", "third", "later"]);
});

it("has one timer however many deadlines there are", () => {
  const deadlines = new Deadlines(1_000);
  for (let count = 0; count < 100; count += 1) deadlines.end(deadlines.begin(() => undefined));
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(1_000);
  expect(vi.getTimerCount()).toBe(0);
});
