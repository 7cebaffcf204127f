import { receiveBody } from "@sluice/runtime";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { GatewayRequest } from "@sluice/contract";
import { fakeClient, fakeRequest } from "@sluice/testing";
import { LiveExchange } from "./exchange.ts";

// Once, and of a length that no other test has: exchanges of one deadline share a timer.
beforeAll(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterAll(() => void vi.useRealTimers());

/** Lets the time pass, and the event loop read its sockets once. */
async function advance(ms: number): Promise<void> {
  vi.advanceTimersByTime(ms);
  await new Promise((resolve) => setImmediate(resolve));
}

const clock = { now: () => Date.now(), monotonic: () => performance.now() };

function open(request: GatewayRequest, readMs = 0): LiveExchange {
  return new LiveExchange({
    id: "x",
    operation: "embeddings",
    client: fakeClient(),
    generation: 1,
    deadlineMs: 10_007,
    clock,
    read: async () => {
      await advance(readMs);
      return request;
    },
  });
}

describe("the deadline of an exchange", () => {
  const waiting = (timeoutMs?: number) =>
    fakeRequest({ model: "m" }, timeoutMs === undefined ? {} : { timeoutMs });

  it.each([
    ["the route's, without a timeout", undefined, 10_007],
    ["the client's timeout, counted from the start", 3_000, 3_000],
    ["the route's, when the client would wait longer", 60_000, 10_007],
  ])("is %s", async (_name, timeoutMs, expectedMs) => {
    const exchange = open(waiting(timeoutMs), 1_000);
    await receiveBody(exchange);
    expect(exchange.lifetime.deadlineMs - exchange.startedMs).toBe(expectedMs);
    await advance(expectedMs - 1_001);
    expect(exchange.signal.aborted).toBe(false);
    await advance(1);
    expect(exchange.signal.reason).toMatchObject({ code: "deadline_exceeded", status: 504 });
  });

  it("is past at once when the body alone took longer than the client waits", async () => {
    const exchange = open(waiting(500), 1_000);
    await receiveBody(exchange);
    await advance(0);
    expect(exchange.signal.aborted).toBe(true);
  });

  it("no longer matters after the end", async () => {
    const exchange = open(waiting(3_000));
    await receiveBody(exchange);
    exchange.end();
    await advance(20_000);
    expect(exchange.signal.aborted).toBe(false);
  });
});

describe("the end of an exchange", () => {
  it("runs each registered callback once", () => {
    const exchange = open(fakeRequest({}));
    const calls: string[] = [];
    exchange.lifetime.onSettle(() => calls.push("first"));
    exchange.lifetime.onSettle(() => calls.push("second"));
    expect(calls).toEqual([]);
    exchange.end();
    exchange.end();
    expect(calls).toEqual(["first", "second"]);
  });

  it("runs a callback immediately that is registered later", () => {
    const exchange = open(fakeRequest({}));
    exchange.end();
    const calls: string[] = [];
    exchange.lifetime.onSettle(() => calls.push("late"));
    expect(calls).toEqual(["late"]);
  });
});
