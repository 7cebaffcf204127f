/** Turns: work that must not overlap, one after the other in the order in which it was asked for. */

import { GatewayError } from "@sluice/spec";

/** How long somebody waits for a turn before they are told to come again. */
const WAIT_MS = 10_000;

/** A queue of one desk. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs after the work before it, however long that takes. */
  take<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** The same, but whoever waits too long is refused with `overloaded`, and their work is never begun. `why` is for a person. */
  takeSoon<T>(work: () => Promise<T>, why: string, waitMs = WAIT_MS): Promise<T> {
    const late = new GatewayError("overloaded", why, { retryAfterMs: 5_000 });
    return new Promise((resolve, reject) => {
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        reject(late);
      }, waitMs);
      const turn = this.take(async () => {
        clearTimeout(timer);
        if (isLate) throw late;
        return work();
      });
      turn.then(resolve, reject);
    });
  }
}
