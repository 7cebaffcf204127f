import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Deadlines } from "./deadlines.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

/** Lets the time pass, and the event loop read its sockets once. */
async function advance(ms: number): Promise<void> {
  vi.advanceTimersByTime(ms);
  await new Promise((resolve) => setImmediate(resolve));
}

it("passes each deadline once, at its time, and not those that ended", async () => {
  const deadlines = new Deadlines(1_000);
  const passed: string[] = [];
  const begin = (name: string) => deadlines.begin(() => passed.push(name));
  const first = begin("first");
  await advance(400);
  begin("second");
  first.end();
  first.end();
  await advance(300);
  begin("third");
  await advance(699);
  expect(passed).toEqual([]);
  await advance(1);
  expect(passed).toEqual(["second"]);
  await advance(300);
  expect(passed).toEqual(["second", "third"]);
  expect(vi.getTimerCount()).toBe(0);
  begin("later");
  await advance(1_000);
  expect(passed).toEqual(["second", "third", "later"]);
});

it("has one timer however many deadlines there are", async () => {
  const deadlines = new Deadlines(1_000);
  for (let count = 0; count < 100; count += 1) deadlines.begin(() => undefined).end();
  expect(vi.getTimerCount()).toBe(1);
  await advance(1_000);
  expect(vi.getTimerCount()).toBe(0);
});

it("restarts a deadline behind the others, and only one that is open", async () => {
  const deadlines = new Deadlines(1_000);
  const passed: string[] = [];
  const first = deadlines.begin(() => passed.push("first"));
  const second = deadlines.begin(() => passed.push("second"));
  const third = deadlines.begin(() => passed.push("third"));
  await advance(600);
  first.restart();
  third.end();
  third.restart();
  await advance(999);
  expect(passed).toEqual(["second"]);
  await advance(1);
  expect(passed).toEqual(["second", "first"]);
  second.restart();
  await advance(2_000);
  expect(passed).toEqual(["second", "first"]);
  expect(vi.getTimerCount()).toBe(0);
});

it("goes on with those that are left when one sets another as it passes", async () => {
  const deadlines = new Deadlines(1_000);
  const passed: string[] = [];
  deadlines.begin(() => {
    passed.push("first");
    deadlines.begin(() => passed.push("another"));
  });
  await advance(500);
  deadlines.begin(() => passed.push("second"));
  await advance(500);
  expect(passed).toEqual(["first"]);
  expect(vi.getTimerCount()).toBe(1);
  await advance(500);
  expect(passed).toEqual(["first", "second"]);
  await advance(500);
  expect(passed).toEqual(["first", "second", "another"]);
});

it("passes no deadline whose answer arrived while the event loop was held", async () => {
  const deadlines = new Deadlines(1_000);
  const passed: string[] = [];
  const answered = deadlines.begin(() => passed.push("answered"));
  deadlines.begin(() => passed.push("silent"));
  vi.advanceTimersByTime(5_000);
  answered.end();
  await advance(0);
  expect(passed).toEqual(["silent"]);
  await advance(10_000);
  expect(vi.getTimerCount()).toBe(0);
});

it("passes sixteen deadlines in a turn, and the others in the next ones", async () => {
  const deadlines = new Deadlines(1_000);
  let passed = 0;
  for (let count = 0; count < 40; count += 1) deadlines.begin(() => (passed += 1));
  await advance(1_000);
  expect(passed).toBe(16);
  await advance(0);
  expect(passed).toBe(32);
  deadlines.begin(() => (passed += 100));
  await advance(0);
  expect(passed).toBe(40);
  await advance(999);
  expect(passed).toBe(40);
  await advance(1);
  expect(passed).toBe(140);
  expect(vi.getTimerCount()).toBe(0);
});
