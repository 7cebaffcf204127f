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
  first.end();
  first.end();
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
  for (let count = 0; count < 100; count += 1) deadlines.begin(() => undefined).end();
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(1_000);
  expect(vi.getTimerCount()).toBe(0);
});

it("restarts a deadline behind the others, and only one that is open", () => {
  const deadlines = new Deadlines(1_000);
  const passed: string[] = [];
  const first = deadlines.begin(() => passed.push("first"));
  const second = deadlines.begin(() => passed.push("second"));
  const third = deadlines.begin(() => passed.push("third"));
  vi.advanceTimersByTime(600);
  first.restart();
  third.end();
  third.restart();
  vi.advanceTimersByTime(999);
  expect(passed).toEqual(["second"]);
  vi.advanceTimersByTime(1);
  expect(passed).toEqual(["second", "first"]);
  second.restart();
  vi.advanceTimersByTime(2_000);
  expect(passed).toEqual(["second", "first"]);
  expect(vi.getTimerCount()).toBe(0);
});

it("goes on with those that are left when one sets another as it passes", () => {
  const deadlines = new Deadlines(1_000);
  const passed: string[] = [];
  deadlines.begin(() => {
    passed.push("first");
    deadlines.begin(() => passed.push("another"));
  });
  vi.advanceTimersByTime(500);
  deadlines.begin(() => passed.push("second"));
  vi.advanceTimersByTime(500);
  expect(passed).toEqual(["first"]);
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(500);
  expect(passed).toEqual(["first", "second"]);
  vi.advanceTimersByTime(500);
  expect(passed).toEqual(["first", "second", "another"]);
});
