/** Places for fetches of media, with a share for each key. */

import type { Holder } from "@sluice/kit/internals";
import { type PlaceLimits, Places } from "@sluice/kit/internals";

/** Maximum waiting fetches. */
const MAX_WAITING = 256;

/** A number of places. */
export class Slots {
  readonly #places = new Places();
  readonly #limits: PlaceLimits;

  /** `waitMs` exceeds every caller's deadline, which ends the wait. */
  constructor(count: number, waitMs: number) {
    const what = "The gateway's media fetcher";
    this.#limits = { places: count, queue: MAX_WAITING, waitMs, what, mayHaveAll: true };
  }

  /**
   * Runs a task when a place is free. Rejects with the signal's reason, and with `overloaded` when
   * the queue is full.
   */
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
