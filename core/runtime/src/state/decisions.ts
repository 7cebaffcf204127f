/**
 * Decisions of shared state in this process: plain maps, each decision one synchronous call, and so
 * atomic.
 */

import type {
  Claim,
  ClaimState,
  Clock,
  Reservation,
  StateReading,
  TakeResult,
} from "@sluice/contract";
import { ClaimEntries } from "./claim-entries.ts";
import { add, type Alone, type Budget, type Entry, fits, refusal, stateOf } from "./claims.ts";
import { type Held, Leases } from "./leases.ts";
import { addNow, advance, giveBack, type SlidingWindow } from "./window.ts";

/** The dependencies of decisions. */
export interface DecisionOptions {
  readonly clock: Pick<Clock, "monotonic">;
  /**
   * Windows, slots and budgets kept at most, each; beyond it what is idle goes first, then the
   * oldest. Default 50,000.
   */
  readonly maxKeys?: number;
}

/** The decisions of `SharedState`, without a promise. */
export interface LocalDecisions {
  take(reservation: Reservation, leaseMs: number): TakeResult;
  settle(reservation: Reservation): void;
  renew(reservations: readonly Reservation[], leaseMs: number): void;
  seed(key: string, spentNanoUsd: number): void;
  read(keys: readonly string[]): readonly StateReading[];
  reset(key: string): void;
  /**
   * Holds claims that were granted elsewhere, past limits too. `states` is how their limits stood
   * there.
   */
  adopt(reservation: Reservation, leaseMs: number, states: readonly ClaimState[]): void;
  /** The reservations that are held now, of one key or of all. */
  held(key?: string): readonly HeldReservation[];
  /**
   * Forgets what was spent, of every budget: the next take asks for the ledger. Notes how each
   * stood elsewhere.
   */
  beginAlone(): void;
  /** How a budget stood elsewhere when this process began to decide alone; `undefined`: unknown. */
  alone(key: string): Alone | undefined;
}

/** A reservation that is held, and how long its lease still runs. */
export interface HeldReservation extends Reservation {
  readonly leaseLeftMs: number;
}

/** Decisions over maps of this process. */
export function createDecisions({ clock, maxKeys = 50_000 }: DecisionOptions): LocalDecisions {
  const decisions = new Decisions(clock, maxKeys);
  // Drivers spread the members into an object of their own; methods of a class are not copied.
  return {
    take: (reservation, leaseMs) => decisions.take(reservation, leaseMs),
    settle: (reservation) => decisions.settle(reservation),
    renew: (reservations, leaseMs) => decisions.renew(reservations, leaseMs),
    seed: (key, spentNanoUsd) => decisions.seed(key, spentNanoUsd),
    read: (keys) => decisions.read(keys),
    reset: (key) => decisions.reset(key),
    adopt: (reservation, leaseMs, states) => decisions.adopt(reservation, leaseMs, states),
    held: (key) => decisions.held(key),
    beginAlone: () => decisions.beginAlone(),
    alone: (key) => decisions.alone(key),
  };
}

class Decisions implements LocalDecisions {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #entries: ClaimEntries;
  readonly #leases = new Leases();

  constructor(clock: Pick<Clock, "monotonic">, maxKeys: number) {
    this.#clock = clock;
    this.#entries = new ClaimEntries(maxKeys);
  }

  take({ id, claims }: Reservation, leaseMs: number): TakeResult {
    const nowMs = this.#expire();
    const entries: Entry[] = [];
    let failedIndex = -1;
    let isSeeded = true;
    for (let at = 0; at < claims.length; at += 1) {
      const claim = claims[at]!;
      const entry = this.#entries.of(claim, nowMs);
      entries.push(entry);
      if (claim.kind === "budget" && !(entry as Budget).isSeeded) isSeeded = false;
      else if (failedIndex === -1 && !fits(claim, entry)) failedIndex = at;
    }
    if (this.#leases.find(id) !== undefined)
      return { outcome: "granted", states: statesOf(claims, entries, nowMs) };
    if (!isSeeded) return { outcome: "unseeded", keys: unseededKeys(claims, entries) };
    if (failedIndex !== -1) return refusal(claims, entries, failedIndex, nowMs);
    const parts: number[] = [];
    for (let at = 0; at < claims.length; at += 1) parts.push(add(claims[at]!, entries[at]!));
    this.#leases.hold(id, { claims, entries, parts, leaseUntilMs: nowMs + leaseMs });
    return { outcome: "granted", states: statesOf(claims, entries, nowMs) };
  }

  settle({ id, claims }: Reservation): void {
    const before = this.#leases.end(id);
    if (before === "unknown") return;
    if (before !== "expired") correctWindows(before, claims, this.#clock.monotonic());
    for (const claim of claims) {
      if (claim.kind !== "budget") continue;
      // A budget that is not kept is seeded from the ledger, which has this cost.
      const budget = this.#entries.findBudget(claim.key);
      if (budget !== undefined) budget.spent += claim.amountNanoUsd;
    }
  }

  renew(reservations: readonly Reservation[], leaseMs: number): void {
    const leaseUntilMs = this.#clock.monotonic() + leaseMs;
    for (const { id, claims } of reservations) {
      const held = this.#leases.find(id);
      if (held !== undefined) {
        this.#leases.extend(held, leaseUntilMs);
        continue;
      }
      const entries = claims.map((claim) =>
        claim.kind === "window" ? undefined : this.#entries.of(claim, 0),
      );
      for (const [at, claim] of claims.entries())
        if (entries[at] !== undefined) add(claim, entries[at]);
      this.#leases.hold(id, { claims, entries, parts: [], leaseUntilMs });
    }
  }

  adopt({ id, claims }: Reservation, leaseMs: number, states: readonly ClaimState[]): void {
    const nowMs = this.#expire();
    if (this.#leases.find(id) !== undefined) return;
    const entries: Entry[] = [];
    const parts: number[] = [];
    for (let at = 0; at < claims.length; at += 1) {
      const entry = this.#entries.of(claims[at]!, nowMs);
      if (claims[at]!.kind === "budget") (entry as Budget).left = states[at]?.remaining;
      entries.push(entry);
      parts.push(add(claims[at]!, entry));
    }
    this.#leases.hold(id, { claims, entries, parts, leaseUntilMs: nowMs + leaseMs });
  }

  held(key?: string): readonly HeldReservation[] {
    const nowMs = this.#expire();
    return this.#leases
      .entries()
      .filter(([, { claims }]) => key === undefined || claims.some((claim) => claim.key === key))
      .map(([id, { claims, leaseUntilMs }]) => ({ id, claims, leaseLeftMs: leaseUntilMs - nowMs }));
  }

  beginAlone(): void {
    this.#entries.beginAlone();
  }

  alone(key: string): Alone | undefined {
    return this.#entries.findBudget(key)?.alone;
  }

  seed(key: string, spentNanoUsd: number): void {
    const budget = this.#entries.budgetOf(key);
    if (budget.isSeeded) return;
    budget.isSeeded = true;
    budget.spent += spentNanoUsd;
  }

  read(keys: readonly string[]): readonly StateReading[] {
    const nowMs = this.#expire();
    return keys.map((key) => this.#entries.read(key, nowMs));
  }

  reset(key: string): void {
    this.#entries.reset(key);
  }

  /** Frees what ended leases held. Returns the time. */
  #expire(): number {
    const nowMs = this.#clock.monotonic();
    this.#leases.expire(nowMs);
    return nowMs;
  }
}

function statesOf(
  claims: readonly Claim[],
  entries: readonly Entry[],
  nowMs: number,
): ClaimState[] {
  const states: ClaimState[] = [];
  for (let at = 0; at < claims.length; at += 1)
    states.push(stateOf(claims[at]!, entries[at]!, nowMs));
  return states;
}

function unseededKeys(claims: readonly Claim[], entries: readonly Entry[]): string[] {
  return claims
    .filter((claim, at) => claim.kind === "budget" && !(entries[at] as Budget).isSeeded)
    .map(({ key }) => key);
}

function correctWindows(
  { claims: taken, entries, parts }: Held,
  actual: readonly Claim[],
  nowMs: number,
): void {
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
