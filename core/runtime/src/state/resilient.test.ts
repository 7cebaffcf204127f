import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Claim, Reservation, StateDriver } from "@sluice/contract";
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
  it("says that it cannot say what a needed entry is, and that one may not be deleted", async () => {
    const state = resilient(2);
    await state.cache.set("x", Uint8Array.of(1), 60_000);
    isAway = true;
    for (let call = 0; call < 2; call += 1) {
      const refused = { code: "overloaded", retryAfterMs: 1_000 };
      await expect(async () => state.cache.get("x", "needed")).rejects.toMatchObject(refused);
      await expect(async () => state.cache.delete("x")).rejects.toMatchObject(refused);
      expect(await state.cache.get("x")).toBeUndefined();
    }
    await comeBack();
    expect(await state.cache.get("x", "needed")).toEqual(Uint8Array.of(1));
  });

  it("tries often, after five failures rarely, and asks nothing meanwhile", async () => {
    const state = resilient(1);
    // Pauses of exactly 250 ms, then of a second.
    vi.spyOn(Math, "random").mockReturnValue(0.5);
    isAway = true;
    await state.cache.get("x");
    expect(calls).toBe(1);
    for (let at = 0; at < 100; at += 1) await state.take({ id: freshId(), claims: [] }, LEASE_MS);
    expect(calls).toBe(1);
    await vi.advanceTimersByTimeAsync(1_300);
    expect(calls).toBe(5);
    await vi.advanceTimersByTimeAsync(600);
    expect(calls).toBe(5);
    await vi.advanceTimersByTimeAsync(200);
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
    // A quarter of what is left above the last twentieth.
    expect(await count(budget("b", 1_000, 10))).toBe(8);
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

  it("admits alone no more than its part of what was left at its last look", async () => {
    const state = resilient(4);
    await server.seed("b", 700);
    const own = { id: freshId(), claims: [budget("b", 1_000, 60)] };
    expect((await state.take(own, LEASE_MS)).outcome).toBe("granted");
    isAway = true;
    await state.cache.get("x");
    const ask = (amount: number) =>
      state.take({ id: freshId(), claims: [budget("b", 1_000, amount)] }, LEASE_MS);
    await ask(1);
    // The rows of the others are not in the ledger yet.
    await state.seed("b", 0);
    // 240 were left, and 190 of them are above the last twentieth.
    expect((await ask(48)).outcome).toBe("refused");
    expect((await ask(47)).outcome).toBe("granted");
    await state.stop();
  });

  it("leaves a server in a new life alone until rows have reached the ledger", async () => {
    const life = { name: "first" };
    server = Object.defineProperty(server, "life", { get: () => life.name });
    const state = resilient(2);
    await state.start(new AbortController().signal);
    isAway = true;
    await state.cache.get("x");
    [isAway, life.name] = [false, "second"];
    for (let waitedMs = 0; waitedMs < 1_900; waitedMs += 100) {
      clock.advance(100);
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(state.isAway).toBe(true);
    clock.advance(500);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(state.isAway).toBe(false);
    await state.stop();
  });

  it("says of each kept settlement how long the ledger has had its row", async () => {
    const lag = { ms: 0 };
    const sent: (number | undefined)[] = [];
    const settle = async (_: Reservation, storedMs?: number) => void sent.push(storedMs);
    server = new Proxy(server, {
      get: (target, name) => (name === "settle" ? settle : (Reflect.get(target, name) as unknown)),
    });
    const state = createResilientState({
      driver: server,
      instances: 1,
      clock,
      log: fakeLog(lines),
      ledgerLagMs: () => lag.ms,
    });
    isAway = true;
    await state.cache.get("x");
    const settleOne = () => state.settle({ id: freshId(), claims: [budget("b", 1_000, 1)] });
    await settleOne();
    clock.advance(1_000);
    // Everything has been in the ledger since now. From here on nothing reaches it.
    await settleOne();
    lag.ms = 500;
    clock.advance(500);
    await settleOne();
    lag.ms = 1_000;
    clock.advance(500);
    await comeBack();
    expect(sent).toEqual([1_000, -1, -1]);
    await state.stop();
  });

  it("reports to the other gateways while the server decides, and is alone when that fails", async () => {
    const beats: number[] = [];
    server = Object.assign(server, {
      beat: async (instances: number) => {
        if (isAway) throw new Error("gone");
        beats.push(instances);
      },
    });
    const state = resilient(3);
    await state.start(new AbortController().signal);
    await vi.advanceTimersByTimeAsync(2_100);
    expect(beats).toEqual([3, 3, 3, 3, 3]);
    isAway = true;
    await vi.advanceTimersByTimeAsync(600);
    expect(state.isAway).toBe(true);
    await comeBack();
    expect(state.isAway).toBe(false);
    await state.stop();
  });

  it("decides about no budget until the others have noticed that it is alone", async () => {
    server = Object.assign(server, {
      beat: async () => {
        if (isAway) throw new Error("gone");
      },
    });
    const state = resilient(2);
    await state.start(new AbortController().signal);
    await server.seed("b", 0);
    const outcomes: string[] = [];
    const ask = async (claim: Claim) => {
      const { outcome } = await state.take({ id: freshId(), claims: [claim] }, LEASE_MS);
      outcomes.push(`${claim.key} ${outcome}`);
    };
    isAway = true;
    const uncertain = ask(budget("b", 1_000, 100));
    await vi.advanceTimersByTimeAsync(100);
    const late = ask(budget("b", 1_000, 100));
    await ask(window("w", 10));
    await ask(budget("counted", Number.MAX_SAFE_INTEGER, 1));
    expect(outcomes).toEqual(["w granted", "counted unseeded"]);
    // The server is back before the others have noticed: it decides.
    isAway = false;
    await vi.advanceTimersByTimeAsync(1_000);
    await Promise.all([uncertain, late]);
    expect(outcomes.slice(2)).toEqual(["b granted", "b granted"]);
    expect((await server.read(["b"]))[0]).toMatchObject({ reservedNanoUsd: 200 });
    isAway = true;
    const alone = ask(budget("b", 1_000, 100));
    await vi.advanceTimersByTimeAsync(2_900);
    expect(outcomes).toHaveLength(4);
    await vi.advanceTimersByTimeAsync(200);
    await alone;
    expect(outcomes.at(-1)).toBe("b unseeded");
    await state.stop();
  });

  it("says since when it refuses budgets that the ledger does not tell", async () => {
    for (const instances of [1, 2]) {
      isAway = false;
      const state = resilient(instances);
      await state.start(new AbortController().signal);
      await server.seed("b", 0);
      const ask = () => state.take({ id: freshId(), claims: [budget("b", 1_000, 100)] }, LEASE_MS);
      expect((await ask()).outcome).toBe("granted");
      isAway = true;
      expect((await ask()).outcome).toBe("unseeded");
      expect(state.refusesBudgetsSinceMs).toBeUndefined();
      const askedMs = clock.monotonic();
      clock.advance(1_500);
      expect(state.refusesBudgetsSinceMs).toBe(instances === 1 ? undefined : askedMs);
      await state.seed("b", 0);
      expect(state.refusesBudgetsSinceMs).toBeUndefined();
      expect((await ask()).outcome).toBe("granted");
      await state.stop();
    }
  });

  it("refuses budgets where the others have never heard of this gateway", async () => {
    server = Object.assign(server, {
      beat: async () => {
        if (isAway) throw new Error("gone");
      },
    });
    isAway = true;
    const state = resilient(2);
    await state.start(new AbortController().signal);
    const ask = async (claim: Claim) =>
      (await state.take({ id: freshId(), claims: [claim] }, LEASE_MS)).outcome;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(state.refusesBudgetsSinceMs).toBe(clock.monotonic());
    await expect(ask(budget("b", 1_000, 100))).rejects.toMatchObject({ code: "overloaded" });
    expect(await ask(window("w", 10))).toBe("granted");
    await comeBack();
    expect(state.refusesBudgetsSinceMs).toBeUndefined();
    await server.seed("b", 0);
    expect(await ask(budget("b", 1_000, 100))).toBe("granted");
    isAway = true;
    const alone = ask(budget("b", 1_000, 100));
    await vi.advanceTimersByTimeAsync(3_100);
    expect(await alone).toBe("unseeded");
    await state.stop();
  });
});
