import { expect, it } from "vitest";
import { endingOf, LateSignal, signalOf } from "./late-signal.ts";

it("calls its listeners and aborts its signal once, with the first reason", () => {
  const ending = new LateSignal();
  const heard: string[] = [];
  const dropped = (): void => void heard.push("dropped");
  ending.addEventListener("abort", dropped);
  ending.addEventListener("abort", () => heard.push(`listener: ${String(ending.reason)}`));
  ending.signal.addEventListener("abort", () => heard.push("signal"));
  ending.removeEventListener("abort", dropped);
  ending.abort("first");
  ending.abort("second");
  expect(heard).toEqual(["listener: first", "signal"]);
  expect([ending.aborted, ending.reason, ending.signal.reason]).toEqual([true, "first", "first"]);
});

it("has an aborted signal also where the signal is made afterwards", () => {
  const ending = new LateSignal();
  ending.abort("over");
  expect([ending.signal.aborted, ending.signal.reason]).toEqual([true, "over"]);
  expect(signalOf(ending)).toBe(ending.signal);
});

it("stands for the signal of an exchange that has no ending", () => {
  const { signal } = new AbortController();
  const ending = new LateSignal();
  expect(endingOf({ signal })).toBe(signal);
  expect(signalOf(endingOf({ signal }))).toBe(signal);
  expect(endingOf({ signal, ending } as { signal: AbortSignal })).toBe(ending);
});

it("calls its listeners as an AbortSignal does: all, once, but for those that are removed", () => {
  const ending = new LateSignal();
  const heard: string[] = [];
  const removed = (): void => void heard.push("removed");
  const twice = (): void => void heard.push("twice");
  ending.addEventListener("abort", () => ending.removeEventListener("abort", removed));
  ending.addEventListener("abort", removed);
  ending.addEventListener("abort", () => {
    throw new Error("a listener failed");
  });
  ending.addEventListener("abort", twice);
  ending.addEventListener("abort", twice);
  const { signal } = ending;
  signal.addEventListener("abort", () => heard.push("signal"));
  expect(() => ending.abort("over")).toThrow("a listener failed");
  ending.addEventListener("abort", () => heard.push("late"));
  ending.abort("again");
  expect([heard, signal.reason]).toEqual([["twice", "signal"], "over"]);
});
