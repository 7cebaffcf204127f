import { array, assert, constantFrom, integer, nat, oneof, property, record } from "fast-check";
import { describe, expect, it } from "vitest";
import type { Claim, Reservation } from "@sluice/contract";
import { fakeClock } from "@sluice/testing";
import { budget, freshId, slot, window } from "@sluice/testing";
import { createDecisions } from "./decisions.ts";

const LIMITS = { window: 20, slot: 3, budget: 500 };
const WINDOW_MS = 600;
const LEASE_MS = 1_000;

const claimsOf = (amount: number): Claim[] => [
  window("w", LIMITS.window, amount % 7, WINDOW_MS),
  slot("s", LIMITS.slot),
  budget("b", LIMITS.budget, amount),
];

const action = oneof(
  record({ do: constantFrom("take" as const), amount: nat(120) }),
  // What was reserved covers what was used: only then can a limit hold whatever comes.
  record({
    do: constantFrom("settle" as const),
    which: nat(20),
    part: integer({ min: 0, max: 4 }),
  }),
  record({ do: constantFrom("wait" as const), ms: nat(400) }),
  record({ do: constantFrom("renew" as const), which: nat(20) }),
);

describe("decisions", () => {
  it("never exceed a limit, whatever the order of takes, settlements and leases; nothing stays reserved", () => {
    assert(
      property(array(action, { maxLength: 80 }), (actions) => {
        const clock = fakeClock();
        const state = createDecisions({ clock });
        state.seed("b", 0);
        const open: (Reservation & { readonly amount: number })[] = [];
        const admitted: { readonly atMs: number; readonly amount: number }[] = [];
        let spent = 0;
        const settle = (which: number, part: number): void => {
          const [reservation] = open.splice(which, 1);
          if (reservation === undefined) return;
          const amount = Math.floor((reservation.amount * part) / 4);
          const claims = reservation.claims.map((claim) =>
            claim.kind === "budget" ? budget("b", LIMITS.budget, amount) : claim,
          );
          state.settle({ id: reservation.id, claims });
          state.settle({ id: reservation.id, claims });
          spent += amount;
        };
        for (const step of actions) {
          if (step.do === "wait") clock.advance(step.ms);
          else if (step.do === "settle") settle(step.which % Math.max(1, open.length), step.part);
          else if (step.do === "renew") {
            const reservation = open[step.which % Math.max(1, open.length)];
            // Only what is still held: a lease that ran out is put back past limits, by contract.
            if (state.held().some(({ id }) => id === reservation?.id))
              state.renew([reservation!], LEASE_MS);
          } else {
            const reservation = {
              id: freshId(),
              claims: claimsOf(step.amount),
              amount: step.amount,
            };
            const result = state.take(reservation, LEASE_MS);
            if (result.outcome !== "granted") continue;
            open.push(reservation);
            admitted.push({ atMs: clock.monotonic(), amount: step.amount % 7 });
          }
          const nowMs = clock.monotonic();
          const inSpan = admitted
            .filter(({ atMs }) => atMs > nowMs - WINDOW_MS)
            .reduce((sum, { amount }) => sum + amount, 0);
          expect(inSpan).toBeLessThanOrEqual(LIMITS.window);
          const [slots, money] = state.read(["s", "b"]);
          expect(slots?.inFlight ?? 0).toBeLessThanOrEqual(LIMITS.slot);
          expect(money?.spentNanoUsd).toBe(spent);
          const held = state.held().flatMap(({ claims }) => claims);
          const reserved = held.reduce(
            (sum, claim) => sum + (claim.kind === "budget" ? claim.amountNanoUsd : 0),
            0,
          );
          expect(money?.reservedNanoUsd).toBe(reserved);
        }
        while (open.length > 0) settle(0, 2);
        const [slots, money] = state.read(["s", "b"]);
        expect(slots?.inFlight ?? 0).toBe(0);
        expect(money).toMatchObject({ spentNanoUsd: spent, reservedNanoUsd: 0 });
        expect(state.held()).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it("say exactly when a window has room: not a moment before", () => {
    const clock = fakeClock();
    const state = createDecisions({ clock });
    const claim = window("exact", 100, 1, 60_000);
    const ask = () => state.take({ id: freshId(), claims: [claim] }, LEASE_MS);
    clock.advance(12_345.6);
    for (let at = 0; at < 100; at += 1) {
      expect(ask().outcome).toBe("granted");
      clock.advance(100);
    }
    const refused = ask();
    const waitMs = refused.outcome === "refused" ? refused.retryAfterMs! : 0;
    clock.advance(waitMs - 1);
    expect(ask().outcome).toBe("refused");
    clock.advance(1);
    expect(ask().outcome).toBe("granted");
  });

  it("keep a bounded number of keys, and let idle ones go first", () => {
    const state = createDecisions({ clock: fakeClock(), maxKeys: 100 });
    state.take({ id: "busy", claims: [slot("busy", 1)] }, LEASE_MS);
    for (let at = 0; at < 1_000; at += 1) {
      state.take({ id: `r${at}`, claims: [slot(`k${at}`, 1)] }, LEASE_MS);
      state.settle({ id: `r${at}`, claims: [slot(`k${at}`, 1)] });
    }
    expect(state.read(["busy"])[0]?.inFlight).toBe(1);
    const keys = Array.from({ length: 1_000 }, (_, at) => `k${at}`);
    expect(state.read(keys).filter(({ inFlight }) => inFlight !== undefined)).toHaveLength(99);
  });

  it("keep counters with a holder apart: a flood of one drops its own, and none of others", () => {
    const clock = fakeClock();
    const state = createDecisions({ clock, maxKeys: 100 });
    const take = (claims: Claim[]) => state.take({ id: freshId(), claims }, LEASE_MS);
    const held = (key: string, holder: string, amount = 1) => ({
      ...window(key, 10, amount, 60_000),
      holder,
    });
    take([window("key", 10, 4, 60_000)]);
    for (let at = 0; at < 20; at += 1) take([held(`calm${at}`, "calm", 3)]);
    for (let at = 0; at < 5_000; at += 1) take([held(`wild${at}`, "wild")]);
    const used = (key: string) => state.read([key])[0]?.windowUsed;
    expect(used("key")).toBe(4);
    expect(Array.from({ length: 20 }, (_, at) => used(`calm${at}`))).toEqual(
      Array.from({ length: 20 }, () => 3),
    );
    const wild = Array.from({ length: 5_000 }, (_, at) => `wild${at}`);
    const left = state.read(wild).filter(({ windowUsed }) => windowUsed !== undefined);
    expect(left).toHaveLength(80);
    expect(left.at(-1)?.key).toBe("wild4999");
  });

  it("drop windows with a holder that were left for their length, when it brings another", () => {
    const clock = fakeClock();
    const state = createDecisions({ clock, maxKeys: 100 });
    const claim = (key: string) => ({ ...window(key, 10, 1, 60_000), holder: "a" });
    state.take({ id: freshId(), claims: [claim("one"), claim("two")] }, LEASE_MS);
    clock.advance(61_001);
    state.take({ id: freshId(), claims: [claim("three")] }, LEASE_MS);
    expect(state.read(["one", "two", "three"]).map(({ windowUsed }) => windowUsed)).toEqual([
      undefined,
      undefined,
      1,
    ]);
  });
});
