/** What hedges go by: how fast a model was of late, and how many hedges it may have. It outlives generations. */

import { type Holder, holderOf } from "@sluice/kit/internals";
import type { Host, SharedValue } from "@sluice/contract";
import { partName, RecentTimes } from "./recent-times.ts";

/** Hundredths of a hedge, so that percentages add up exactly. */
const ONE_HEDGE = 100;
/** What a time without slow requests saves up: five hedges. */
const MAX_SAVED = 5 * ONE_HEDGE;
/** Keys and teams that are remembered. One that is forgotten begins with a hedge, as a new one does. */
const MAX_HOLDERS = 1_000;
const NO_HOLDER = holderOf(undefined);

/**
 * Allows hedges as a share of requests: never more than one, and that share of all requests so far. A key, or a team, gets hedges
 * by its own requests alone, so that the slow requests of one key take none that others have saved.
 */
export class HedgeBudget {
  readonly #all = { saved: ONE_HEDGE };
  /** The holders of late, the longest unseen one first. */
  readonly #byHolder = new Map<string, { saved: number }>();

  /** Counts a request. `percent` is the share, from 0 to 100. */
  request(percent: number, holder = NO_HOLDER): void {
    for (const account of [this.#all, this.#of(holder)]) account.saved = Math.min(MAX_SAVED, account.saved + percent);
  }

  /** Takes a hedge out of the budget. False when it is spent, and with a share of 0. */
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

/** What is known of one model. Whole replies come later than first contents: each kind has times of its own. */
export class HedgeRecord implements SharedValue {
  readonly budget = new HedgeBudget();
  readonly whole = new RecentTimes();
  readonly stream = new RecentTimes();
  /** Nothing is open. */
  close?(): void;
}

/** The records of all models, by their entries, each held by the generations that have the entry. */
export function openRecords(host: Host): ReadonlyMap<string, HedgeRecord> {
  const make = (): HedgeRecord => new HedgeRecord();
  return new Map(host.models.list().map(({ entry }) => [entry, host.shared(`hedge:${entry}`, make)]));
}
