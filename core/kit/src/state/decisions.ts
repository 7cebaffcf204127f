/** Decisions of shared state in this process: plain maps, each decision one synchronous call, and so atomic. */

import type { Claim, ClaimState, Clock, Reservation, StateReading, TakeResult } from "@sluice/spec";
import { add, type Budget, type Entry, fits, refusal, type Slots, stateOf } from "./claims.ts";
import { TransientMap } from "./transient-map.ts";
import { addNow, advance, createWindow, giveBack, type SlidingWindow } from "./window.ts";

/** What decisions are made with. */
export interface DecisionOptions {
  readonly clock: Pick<Clock, "monotonic">;
  /** Windows, slots and budgets kept at most, each; beyond it what is idle goes first, then the oldest. Default 50,000. */
  readonly maxKeys?: number;
}

/** The decisions of `SharedState`, answered at once. */
export interface LocalDecisions {
  take(reservation: Reservation, leaseMs: number): TakeResult;
  settle(reservation: Reservation): void;
  renew(reservations: readonly Reservation[], leaseMs: number): void;
  seed(key: string, spentNanoUsd: number): void;
  read(keys: readonly string[]): readonly StateReading[];
  reset(key: string): void;
  /** Holds claims that were granted elsewhere, past limits too. */
  adopt(reservation: Reservation, leaseMs: number): void;
  /** What is held now, of one key or of all. */
  held(key?: string): readonly HeldReservation[];
  /** Forgets what was spent, of every budget: the next take asks for the ledger. */
  forgetSpent(): void;
}

/** A reservation that is held, and how long its lease still runs. */
export interface HeldReservation extends Reservation {
  readonly leaseLeftMs: number;
}

/** A reservation that is held: what it took and from where. */
interface Held {
  readonly claims: readonly Claim[];
  /** In the order of the claims; `undefined`: nothing of this claim is held. */
  readonly entries: readonly (Entry | undefined)[];
  /** The part of each window. */
  readonly parts: readonly number[];
  leaseUntilMs: number;
}

/** Ids of reservations that ran out are remembered up to so many: their cost is booked when they are settled after all. */
const MAX_EXPIRED = 50_000;

/** Decisions over maps of this process. */
export function createDecisions({ clock, maxKeys = 50_000 }: DecisionOptions): LocalDecisions {
  const windows = new Map<string, SlidingWindow>();
  const slots = new Map<string, Slots>();
  const budgets = new Map<string, Budget>();
  const held = new TransientMap<Held>();
  const expired = new Set<string>();
  /** No lease ends before. A lower bound: sweeping finds the true one. */
  let earliestEndMs = Infinity;

  const windowOf = (key: string, windowMs: number, nowMs: number): SlidingWindow => {
    let window = windows.get(key);
    if (window === undefined || window.windowMs !== windowMs) {
      makeRoom(windows, maxKeys, (other) => (advance(other, nowMs), other.used === 0));
      windows.set(key, (window = createWindow(windowMs)));
    }
    advance(window, nowMs);
    return window;
  };
  const slotsOf = (key: string): Slots => {
    let entry = slots.get(key);
    if (entry === undefined) {
      makeRoom(slots, maxKeys, ({ inFlight }) => inFlight === 0);
      slots.set(key, (entry = { inFlight: 0 }));
    }
    return entry;
  };
  const budgetOf = (key: string): Budget => {
    let entry = budgets.get(key);
    if (entry === undefined) {
      makeRoom(budgets, maxKeys, ({ reserved }) => reserved === 0);
      budgets.set(key, (entry = { spent: 0, reserved: 0, isSeeded: false }));
    }
    return entry;
  };
  const entryOf = (claim: Claim, nowMs: number): Entry =>
    claim.kind === "window"
      ? windowOf(claim.key, claim.windowMs, nowMs)
      : claim.kind === "concurrent"
        ? slotsOf(claim.key)
        : budgetOf(claim.key);

  const hold = (id: string, holding: Held): void => {
    held.set(id, holding);
    if (holding.leaseUntilMs < earliestEndMs) earliestEndMs = holding.leaseUntilMs;
  };
  const sweep = (nowMs: number): void => {
    if (nowMs < earliestEndMs) return;
    earliestEndMs = Infinity;
    for (const [id, holding] of held.entries()) {
      if (holding.leaseUntilMs > nowMs) {
        earliestEndMs = Math.min(earliestEndMs, holding.leaseUntilMs);
        continue;
      }
      held.delete(id);
      letGo(holding);
      expired.add(id);
      if (expired.size > MAX_EXPIRED) dropOldest(expired);
    }
  };

  return {
    take({ id, claims }, leaseMs) {
      const nowMs = clock.monotonic();
      sweep(nowMs);
      const entries: Entry[] = [];
      let short = -1;
      let isSeeded = true;
      for (let at = 0; at < claims.length; at += 1) {
        const claim = claims[at]!;
        const entry = entryOf(claim, nowMs);
        entries.push(entry);
        if (claim.kind === "budget" && !(entry as Budget).isSeeded) isSeeded = false;
        else if (short === -1 && !fits(claim, entry)) short = at;
      }
      if (held.get(id) !== undefined) return { outcome: "granted", states: statesOf(claims, entries, nowMs) };
      if (!isSeeded) return { outcome: "unseeded", keys: unseededKeys(claims, entries) };
      if (short !== -1) return refusal(claims, entries, short, nowMs);
      const parts: number[] = [];
      for (let at = 0; at < claims.length; at += 1) parts.push(add(claims[at]!, entries[at]!));
      hold(id, { claims, entries, parts, leaseUntilMs: nowMs + leaseMs });
      return { outcome: "granted", states: statesOf(claims, entries, nowMs) };
    },
    settle({ id, claims }) {
      const nowMs = clock.monotonic();
      const holding = held.get(id);
      if (holding === undefined) {
        if (!expired.delete(id)) return;
      } else {
        held.delete(id);
        letGo(holding);
        correctWindows(holding, claims, nowMs);
      }
      for (const claim of claims) {
        // A budget that is not kept is seeded from the ledger, which has this cost.
        const budget = claim.kind === "budget" ? budgets.get(claim.key) : undefined;
        if (claim.kind === "budget" && budget !== undefined) budget.spent += claim.amountNanoUsd;
      }
    },
    renew(reservations, leaseMs) {
      const leaseUntilMs = clock.monotonic() + leaseMs;
      for (const { id, claims } of reservations) {
        const holding = held.get(id);
        if (holding !== undefined) {
          holding.leaseUntilMs = leaseUntilMs;
          earliestEndMs = Math.min(earliestEndMs, leaseUntilMs);
          continue;
        }
        expired.delete(id);
        const entries = claims.map((claim) => (claim.kind === "window" ? undefined : entryOf(claim, 0)));
        for (const [at, claim] of claims.entries()) if (entries[at] !== undefined) add(claim, entries[at]);
        hold(id, { claims, entries, parts: [], leaseUntilMs });
      }
    },
    adopt({ id, claims }, leaseMs) {
      const nowMs = clock.monotonic();
      sweep(nowMs);
      if (held.get(id) !== undefined) return;
      const entries = claims.map((claim) => entryOf(claim, nowMs));
      const parts = claims.map((claim, at) => add(claim, entries[at]!));
      hold(id, { claims, entries, parts, leaseUntilMs: nowMs + leaseMs });
    },
    held(key) {
      const nowMs = clock.monotonic();
      sweep(nowMs);
      return held
        .entries()
        .filter(([, { claims }]) => key === undefined || claims.some((claim) => claim.key === key))
        .map(([id, { claims, leaseUntilMs }]) => ({ id, claims, leaseLeftMs: leaseUntilMs - nowMs }));
    },
    forgetSpent() {
      for (const budget of budgets.values()) Object.assign(budget, { spent: 0, isSeeded: false });
    },
    seed(key, spentNanoUsd) {
      const budget = budgetOf(key);
      if (budget.isSeeded) return;
      budget.isSeeded = true;
      budget.spent += spentNanoUsd;
    },
    read(keys) {
      const nowMs = clock.monotonic();
      sweep(nowMs);
      return keys.map((key) => {
        const window = windows.get(key);
        if (window !== undefined) advance(window, nowMs);
        const budget = budgets.get(key);
        return {
          key,
          windowUsed: window?.used,
          inFlight: slots.get(key)?.inFlight,
          spentNanoUsd: budget?.isSeeded === true ? budget.spent : undefined,
          reservedNanoUsd: budget?.reserved,
        };
      });
    },
    reset(key) {
      windows.delete(key);
      // Those who hold a slot keep the entry that they took it from.
      slots.delete(key);
      const budget = budgets.get(key);
      if (budget !== undefined) Object.assign(budget, { spent: 0, isSeeded: false });
    },
  };
}

function statesOf(claims: readonly Claim[], entries: readonly Entry[], nowMs: number): ClaimState[] {
  const states: ClaimState[] = [];
  for (let at = 0; at < claims.length; at += 1) states.push(stateOf(claims[at]!, entries[at]!, nowMs));
  return states;
}

function unseededKeys(claims: readonly Claim[], entries: readonly Entry[]): string[] {
  return claims.filter((claim, at) => claim.kind === "budget" && !(entries[at] as Budget).isSeeded).map(({ key }) => key);
}

/** Frees slots and reserved money. Windows slide by themselves. */
function letGo({ claims, entries }: Held): void {
  for (let at = 0; at < claims.length; at += 1) {
    const claim = claims[at]!;
    const entry = entries[at];
    if (entry === undefined) continue;
    if (claim.kind === "concurrent") (entry as Slots).inFlight -= 1;
    else if (claim.kind === "budget") (entry as Budget).reserved -= claim.amountNanoUsd;
  }
}

function correctWindows({ claims: taken, entries, parts }: Held, actual: readonly Claim[], nowMs: number): void {
  for (let at = 0; at < taken.length; at += 1) {
    const claim = taken[at]!;
    const settled = actual[at];
    const window = entries[at];
    if (claim.kind !== "window" || settled?.kind !== "window" || window === undefined) continue;
    const difference = settled.amount - claim.amount;
    if (difference === 0) continue;
    advance(window as SlidingWindow, nowMs);
    if (difference > 0) addNow(window as SlidingWindow, difference);
    else giveBack(window as SlidingWindow, parts[at]!, -difference);
  }
}

/** Looks at so many of the oldest entries for idle ones when a map is full. */
const LOOKED_AT = 16;

/** Keeps a map below its bound: what is idle among the oldest goes, and the oldest when none of them is idle. */
function makeRoom<T>(entries: Map<string, T>, maxKeys: number, isIdle: (entry: T) => boolean): void {
  if (entries.size < maxKeys) return;
  let looked = 0;
  for (const [key, entry] of entries) {
    if (isIdle(entry)) return void entries.delete(key);
    looked += 1;
    if (looked === LOOKED_AT) break;
  }
  dropOldest(entries);
}

function dropOldest(entries: Map<string, unknown> | Set<string>): void {
  for (const key of entries.keys()) return void entries.delete(key);
}
