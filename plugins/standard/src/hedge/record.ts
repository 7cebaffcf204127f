/** The recent times and the hedge budget of each model. They outlive generations. */

import { type Holder, holderOf } from "@sluice/kit/internals";
import type { Host, SharedValue } from "@sluice/contract";
import { partName, RecentTimes } from "./recent-times.ts";

/** The budget's unit is a hundredth of a hedge, so that percentages add up exactly. */
const ONE_HEDGE = 100;
/** Maximum of unused budget: five hedges. */
const MAX_SAVED = 5 * ONE_HEDGE;
/** Maximum of stored keys and teams. A dropped one begins with one hedge, like a new one. */
const MAX_HOLDERS = 1_000;
const NO_HOLDER = holderOf(undefined);

/**
 * The budget: hedges are at most a share of all requests, plus one. Each key or team earns hedges
 * by its own requests, so that one key's slow requests use no budget of others.
 */
export class HedgeBudget {
  readonly #all = { saved: ONE_HEDGE };
  /** Recent holders, the least recently used first. */
  readonly #byHolder = new Map<string, { saved: number }>();

  /** Counts a request. `percent` is the share, from 0 to 100. */
  request(percent: number, holder = NO_HOLDER): void {
    for (const account of [this.#all, this.#of(holder)])
      account.saved = Math.min(MAX_SAVED, account.saved + percent);
  }

  /**
   * Takes a hedge from the budget. Returns false when the budget is spent, and for a share of 0.
   */
  take(percent: number, holder = NO_HOLDER): boolean {
    const own = this.#of(holder);
    if (percent === 0 || this.#all.saved < ONE_HEDGE || own.saved < ONE_HEDGE) return false;
    this.#all.saved -= ONE_HEDGE;
    own.saved -= ONE_HEDGE;
    return true;
  }

  #of(holder: Holder): { saved: number } {
    const name = partName(holder);
    const known = this.#byHolder.get(name);
    const account = known ?? { saved: ONE_HEDGE };
    this.#byHolder.delete(name);
    this.#byHolder.set(name, account);
    const [oldest] = this.#byHolder.keys();
    if (this.#byHolder.size > MAX_HOLDERS && oldest !== undefined) this.#byHolder.delete(oldest);
    return account;
  }
}

/**
 * The record of one model. Whole replies take longer than first contents, so each kind has its own
 * times.
 */
export class HedgeRecord implements SharedValue {
  readonly budget = new HedgeBudget();
  readonly whole = new RecentTimes();
  readonly stream = new RecentTimes();
  /** A record holds no resource. */
  close?(): void;
}

/**
 * The records of all models, by their entries, each held by the generations that have the entry.
 */
export function openRecords(host: Host): ReadonlyMap<string, HedgeRecord> {
  const make = (): HedgeRecord => new HedgeRecord();
  return new Map(
    host.models.list().map(({ entry }) => [entry, host.shared(`hedge:${entry}`, make)]),
  );
}
