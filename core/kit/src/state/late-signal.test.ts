import { expect, it } from "vitest";
import type { Identity } from "@sluice/contract";
import { endingOf, LateSignal, signalOf } from "./late-signal.ts";
import { holderOf } from "./parts.ts";

const IDENTITY = { keyId: "a", teamId: "t" } as Identity;

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
  const controller = new AbortController();
  const exchange = { signal: controller.signal, identity: IDENTITY };
  const ending = endingOf(exchange);
  expect(signalOf(ending)).toBe(exchange.signal);
  expect([ending.aborted, ending.holder]).toEqual([false, holderOf(IDENTITY)]);
  const heard: string[] = [];
  const removed = (): void => void heard.push("removed");
  ending.addEventListener("abort", removed);
  ending.addEventListener("abort", () => heard.push(String(ending.reason)));
  ending.removeEventListener("abort", removed);
  controller.abort("over");
  expect([heard, ending.aborted]).toEqual([["over"], true]);
  const own = new LateSignal();
  expect(endingOf({ ...exchange, ending: own } as typeof exchange)).toBe(own);
});

it("knows whose work it ends, once the work knows it", () => {
  const work: { identity: Identity | undefined } = { identity: undefined };
  const ending = new LateSignal(work);
  expect(ending.holder).toBe(holderOf(undefined));
  work.identity = IDENTITY;
  expect(ending.holder).toBe(holderOf(IDENTITY));
  expect(new LateSignal().holder).toBeUndefined();
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
