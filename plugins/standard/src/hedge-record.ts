/** What hedges go by: how fast a model was of late, and how many hedges it may have. It outlives generations. */

import { type Holder, holderOf } from "@sluice/kit/state";
import type { Host, SharedValue } from "@sluice/spec";

/** Times that are remembered for each kind of request. */
const SAMPLES = 128;
/** New times after which percentiles are computed again: a sort for each request would be wasted. */
const REFRESH = 8;
/** Hundredths of a hedge, so that percentages add up exactly. */
const ONE_HEDGE = 100;
/** What a time without slow requests saves up: five hedges. */
const MAX_SAVED = 5 * ONE_HEDGE;
/** Keys and teams that are remembered. One that is forgotten begins with a hedge, as a new one does. */
const MAX_HOLDERS = 1_000;
const NO_HOLDER = holderOf(undefined);

/** The last times to the first content, in milliseconds. */
export class RecentTimes {
  readonly #times = new Float64Array(SAMPLES);
  #seen = 0;
  #sorted: Float64Array = new Float64Array(0);
  #sortedAt = 0;

  /** Times that are remembered. */
  get count(): number {
    return Math.min(this.#seen, SAMPLES);
  }

  add(ms: number): void {
    this.#times[this.#seen % SAMPLES] = ms;
    this.#seen += 1;
  }

  /** The time that this share of requests, from 0 to 1, did not exceed; `undefined` before the first. */
  percentile(share: number): number | undefined {
    if (this.#sorted.length === 0 || this.#seen - this.#sortedAt >= REFRESH) {
      this.#sorted = this.#times.slice(0, this.count).sort();
      this.#sortedAt = this.#seen;
    }
    return this.#sorted[Math.min(this.#sorted.length - 1, Math.ceil(this.#sorted.length * share) - 1)];
  }
}

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

  #of({ key, team }: Holder): { saved: number } {
    const name = team === undefined ? `key:${key}` : `team:${team}`;
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
