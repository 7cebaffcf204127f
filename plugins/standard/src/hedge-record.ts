/** What hedges go by: how fast a model was of late, and how many hedges it may have. It outlives generations. */

import type { Host, SharedValue } from "@sluice/spec";

/** Times that are remembered for each kind of request. */
const SAMPLES = 128;
/** New times after which percentiles are computed again: a sort for each request would be wasted. */
const REFRESH = 8;
/** Hundredths of a hedge, so that percentages add up exactly. */
const ONE_HEDGE = 100;
/** What a time without slow requests saves up: five hedges. */
const MAX_SAVED = 5 * ONE_HEDGE;

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

/** Allows hedges as a share of requests: never more than one, and that share of all requests so far. */
export class HedgeBudget {
  #saved = ONE_HEDGE;

  /** Counts a request. `percent` is the share, from 0 to 100. */
  request(percent: number): void {
    this.#saved = Math.min(MAX_SAVED, this.#saved + percent);
  }

  /** Takes a hedge out of the budget. False when it is spent, and with a share of 0. */
  take(percent: number): boolean {
    if (percent === 0 || this.#saved < ONE_HEDGE) return false;
    this.#saved -= ONE_HEDGE;
    return true;
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
