/** Places for fetches of media, with a part for each key. */

import type { Holder } from "../state/parts.ts";
import { type PlaceLimits, Places } from "../state/places.ts";

/** Fetches that wait at most. */
const MAX_WAITING = 256;

/** A number of places. */
export class Slots {
  readonly #places = new Places();
  readonly #limits: PlaceLimits;

  /** `waitMs` is more than any caller's own deadline: that ends the wait. */
  constructor(count: number, waitMs: number) {
    const what = "The gateway's fetching of media";
    this.#limits = { places: count, queue: MAX_WAITING, waitMs, what, mayHaveAll: true };
  }

  /** Runs when there is a place. Rejects with the signal's reason, and with `overloaded` when too many wait. */
  async run<T>(holder: Holder, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    if (this.#places.hasRoom(holder, this.#limits)) this.#places.take(holder);
    else await this.#places.wait(holder, this.#limits, signal);
    try {
      return await work();
    } finally {
      this.#places.release(holder);
    }
  }
}
