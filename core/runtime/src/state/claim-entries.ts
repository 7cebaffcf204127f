/** The windows, slots and budgets that claims are decided by, in maps with a bound. */

import type { Claim, StateReading } from "@sluice/contract";
import { type Budget, emptyBudget, type Entry, type Slots } from "./claims.ts";
import { Crowd } from "./crowd.ts";
import { advance, createWindow, isPast, type SlidingWindow } from "./window.ts";

/** How many of the oldest entries of a full map are searched for an idle one. */
const MAX_SEARCHED = 16;

/** Entries by key. A full map drops an idle entry among the oldest, else the oldest. */
export class ClaimEntries {
  readonly #maxKeys: number;
  readonly #crowds: Crowds;
  readonly #windows = new Map<string, SlidingWindow>();
  readonly #slots = new Map<string, Slots>();
  readonly #budgets = new Map<string, Budget>();

  /** `maxKeys`: the bound of each of the three maps. */
  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys;
    this.#crowds = createCrowds(maxKeys);
  }

  /** The entry of a claim, made when it is missing. A window is advanced to `nowMs`. */
  of(claim: Claim, nowMs: number): Entry {
    if (claim.holder !== undefined) return ofCrowd(this.#crowds, claim, claim.holder, nowMs);
    if (claim.kind === "window") return this.#windowOf(claim.key, claim.windowMs, nowMs);
    return claim.kind === "concurrent" ? this.#slotsOf(claim.key) : this.budgetOf(claim.key);
  }

  /** A budget, made when it is missing. */
  budgetOf(key: string): Budget {
    let entry = this.findBudget(key);
    if (entry === undefined) {
      dropOne(this.#budgets, this.#maxKeys, ({ reserved }) => reserved === 0);
      this.#budgets.set(key, (entry = emptyBudget()));
    }
    return entry;
  }

  /** A budget; `undefined` where none is kept. */
  findBudget(key: string): Budget | undefined {
    return this.#budgets.get(key) ?? this.#crowds.budget.find(key);
  }

  /** Everything that is kept under a key, for people. */
  read(key: string, nowMs: number): StateReading {
    const window = this.#windows.get(key) ?? this.#crowds.window.find(key);
    if (window !== undefined) advance(window, nowMs);
    const budget = this.findBudget(key);
    return {
      key,
      windowUsed: window?.used,
      inFlight: (this.#slots.get(key) ?? this.#crowds.concurrent.find(key))?.inFlight,
      spentNanoUsd: budget?.isSeeded === true ? budget.spent : undefined,
      reservedNanoUsd: budget?.reserved,
    };
  }

  /**
   * Drops a window and slots, and the spent money of a budget. A reservation keeps the slots that
   * it was taken from.
   */
  reset(key: string): void {
    this.#windows.delete(key);
    this.#slots.delete(key);
    this.#crowds.window.delete(key);
    this.#crowds.concurrent.delete(key);
    const budget = this.findBudget(key);
    if (budget !== undefined) forgetSpent(budget);
  }

  /** Drops the spent money of every budget, and notes what was known of it. */
  beginAlone(): void {
    for (const budget of this.#budgets.values()) beginAlone(budget);
    for (const budget of this.#crowds.budget.values()) beginAlone(budget);
  }

  #windowOf(key: string, windowMs: number, nowMs: number): SlidingWindow {
    let window = this.#windows.get(key);
    if (window === undefined || window.windowMs !== windowMs) {
      dropOne(this.#windows, this.#maxKeys, (other) => (advance(other, nowMs), other.used === 0));
      this.#windows.set(key, (window = createWindow(windowMs)));
    }
    advance(window, nowMs);
    return window;
  }

  #slotsOf(key: string): Slots {
    let entry = this.#slots.get(key);
    if (entry === undefined) {
      dropOne(this.#slots, this.#maxKeys, ({ inFlight }) => inFlight === 0);
      this.#slots.set(key, (entry = { inFlight: 0 }));
    }
    return entry;
  }
}

/** The entries of claims that have a holder, by their kinds. */
interface Crowds {
  readonly window: Crowd<SlidingWindow>;
  readonly concurrent: Crowd<Slots>;
  readonly budget: Crowd<Budget>;
}

function createCrowds(maxEntries: number): Crowds {
  return {
    window: new Crowd({ maxEntries, isIdle: isPast, isLeft: isPast }),
    concurrent: new Crowd({
      maxEntries,
      isIdle: ({ inFlight }) => inFlight === 0,
      isLeft: () => false,
    }),
    // What was spent is in the ledger, and seeds a budget that was dropped.
    budget: new Crowd({
      maxEntries,
      isIdle: ({ reserved }) => reserved === 0,
      isLeft: () => false,
    }),
  };
}

function ofCrowd(crowds: Crowds, claim: Claim, holder: string, nowMs: number): Entry {
  const { key } = claim;
  if (claim.kind === "window") {
    let window = crowds.window.use(key, nowMs);
    if (window === undefined) {
      crowds.window.add(key, holder, (window = createWindow(claim.windowMs)), nowMs);
    }
    advance(window, nowMs);
    return window;
  }
  if (claim.kind === "concurrent") {
    let slots = crowds.concurrent.use(key, nowMs);
    if (slots === undefined) crowds.concurrent.add(key, holder, (slots = { inFlight: 0 }), nowMs);
    return slots;
  }
  let budget = crowds.budget.use(key, nowMs);
  if (budget === undefined) crowds.budget.add(key, holder, (budget = emptyBudget()), nowMs);
  return budget;
}

/** Drops the oldest key of a map or set. */
export function dropOldest(entries: Map<string, unknown> | Set<string>): void {
  for (const key of entries.keys()) return void entries.delete(key);
}

function beginAlone(budget: Budget): void {
  const { left, reserved } = budget;
  budget.alone = left === undefined ? undefined : { reserved, left };
  budget.left = undefined;
  forgetSpent(budget);
}

function forgetSpent(budget: Budget): void {
  budget.spent = 0;
  budget.isSeeded = false;
}

function dropOne<T>(entries: Map<string, T>, maxKeys: number, isIdle: (entry: T) => boolean): void {
  if (entries.size < maxKeys) return;
  let searched = 0;
  for (const [key, entry] of entries) {
    if (isIdle(entry)) return void entries.delete(key);
    searched += 1;
    if (searched === MAX_SEARCHED) break;
  }
  dropOldest(entries);
}
