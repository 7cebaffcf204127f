/** A mutex: work that must not overlap runs in the order in which it was requested. */

import { GatewayError } from "@sluice/contract";

/** The longest wait for the mutex before the request is refused. */
const WAIT_MS = 10_000;

/** Runs one piece of work at a time. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs after the work before it, however long that takes. */
  take<T>(work: () => Promise<T>): Promise<T> {
    const run = this.#last.then(work);
    this.#last = run.catch(() => undefined);
    return run;
  }

  /**
   * The same, but after `waitMs` the work is refused with `overloaded` and never starts. `why` is
   * the message.
   */
  takeSoon<T>(work: () => Promise<T>, why: string, waitMs = WAIT_MS): Promise<T> {
    const late = new GatewayError("overloaded", why, { retryAfterMs: 5_000 });
    return new Promise((resolve, reject) => {
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        reject(late);
      }, waitMs);
      const run = this.take(async () => {
        clearTimeout(timer);
        if (isLate) throw late;
        return work();
      });
      run.then(resolve, reject);
    });
  }
}
