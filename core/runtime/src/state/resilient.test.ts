import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Claim, StateDriver } from "@sluice/contract";
import { fakeClock, type FakeClock } from "@sluice/testing";
import { fakeLog, type LogLine } from "@sluice/testing";
import { fakeState } from "@sluice/testing";
import { budget, freshId, slot, window } from "@sluice/testing";
import { createResilientState } from "./resilient.ts";

const LEASE_MS = 600_000;

let clock: FakeClock;
let lines: LogLine[];
let isAway: boolean;
let calls: number;
let server: StateDriver;

/** A driver over state that a test can take away. */
function remoteDriver(): StateDriver {
  const inner = fakeState(clock);
  const guard = <T extends object>(target: T, free: readonly unknown[] = []): T =>
    new Proxy(target, {
      get(from, name) {
        const member: unknown = Reflect.get(from, name);
        if (typeof member === "object" && member !== null) return guard(member);
        if (typeof member !== "function" || free.includes(name)) return member;
        return async (...parts: unknown[]) => {
          calls += 1;
          if (isAway) throw new Error("gone");
          return Reflect.apply(member, from, parts) as unknown;
        };
      },
    });
  return guard({ ...inner, start: async () => {}, stop: async () => {} }, ["start", "stop"]);
}

const comeBack = async (): Promise<void> => {
  isAway = false;
  await vi.advanceTimersByTimeAsync(15_000);
};

beforeEach(() => {
  vi.useFakeTimers();
  clock = fakeClock();
  lines = [];
  isAway = false;
  calls = 0;
  server = remoteDriver();
});

afterEach(() => {
  vi.useRealTimers();
});

const resilient = (instances: number): StateDriver =>
  createResilientState({ driver: server, instances, clock, log: fakeLog(lines) });

describe("shared state that does not fail", () => {
  it("tries often, after five failures rarely, and asks nothing meanwhile", async () => {
    const state = resilient(1);
    isAway = true;
    await state.cache.get("x");
    expect(calls).toBe(1);
    for (let at = 0; at < 100; at += 1) await state.take({ id: freshId(), claims: [] }, LEASE_MS);
    expect(calls).toBe(1);
    await vi.advanceTimersByTimeAsync(1_300);
    expect(calls).toBe(5);
    await vi.advanceTimersByTimeAsync(7_000);
    expect(calls).toBe(5);
    await vi.advanceTimersByTimeAsync(6_000);
    expect(calls).toBe(6);
    await comeBack();
    expect(lines.map(({ level, message }) => [level, message])).toEqual([
      ["warn", "shared state is away: this gateway decides alone"],
      ["info", "shared state is back"],
    ]);
    await state.stop();
  });

  it("admits its share alone: of windows, of slots, of what is left of a budget", async () => {
    const state = resilient(4);
    isAway = true;
    await state.cache.get("x");
    const ask = (...claims: readonly Claim[]) => state.take({ id: freshId(), claims }, LEASE_MS);
    const count = async (claim: Claim): Promise<number> => {
      let granted = 0;
      for (let at = 0; at < 60; at += 1) if ((await ask(claim)).outcome === "granted") granted += 1;
      return granted;
    };
    expect(await count(window("w", 40))).toBe(10);
    expect(await count(slot("s", 9))).toBe(2);
    expect(await ask(budget("b", 1_000, 10))).toMatchObject({ outcome: "unseeded" });
    await state.seed("b", 600);
    expect(await count(budget("b", 1_000, 10))).toBe(10);
    expect(await ask(budget("b", 1_000, 150))).toMatchObject({
      outcome: "refused",
      neverFits: false,
      states: [{ limit: 1_000 }],
    });
    await state.stop();
  });

  it("sends what it settled and what it still holds when the server is back", async () => {
    const state = resilient(1);
    const claim = budget("b", 1_000, 100);
    await state.seed("b", 0);
    const early = { id: freshId(), claims: [claim] };
    await state.take(early, LEASE_MS);
    isAway = true;
    const alone = { id: freshId(), claims: [claim, slot("s", 2)] };
    expect((await state.take(alone, LEASE_MS)).outcome).toBe("unseeded");
    await state.seed("b", 0);
    expect((await state.take(alone, LEASE_MS)).outcome).toBe("granted");
    await state.settle({ id: early.id, claims: [budget("b", 1_000, 70)] });
    await comeBack();
    const [money, slots] = await server.read(["b", "s"]);
    expect(money).toMatchObject({ spentNanoUsd: 70, reservedNanoUsd: 100 });
    expect(slots?.inFlight).toBe(1);
    await state.settle(alone);
    expect((await server.read(["b"]))[0]).toMatchObject({ spentNanoUsd: 170, reservedNanoUsd: 0 });
    await state.stop();
  });

  it("gives back what a call that failed may have taken", async () => {
    const state = resilient(1);
    const id = freshId();
    const claims = [slot("s", 1)];
    // The server grants it and its answer is lost.
    const { take } = server;
    await state.take({ id: freshId(), claims: [slot("s", 1)] }, LEASE_MS);
    server.take = async (...parts) => {
      await take(...parts);
      throw new Error("lost");
    };
    expect((await state.take({ id, claims }, LEASE_MS)).outcome).toBe("refused");
    await comeBack();
    expect((await server.read(["s"]))[0]?.inFlight).toBe(1);
    await state.stop();
  });
});
