/** Questions to the store of a fleet: each has a deadline, and none rejects. */

import type { Log } from "@sluice/contract";
import { within } from "@sluice/kit";

/** The wait for an answer. */
const STORE_MS = 2_000;

/** Asks the store, and knows since when it does not answer. */
export class StoreAnswers {
  readonly #log: Log;
  readonly #what: string;
  #isFailing = false;
  #answeredMs = performance.now();

  /** `what` names the questions in the log. */
  constructor(log: Log, what: string) {
    this.#log = log;
    this.#what = what;
  }

  /** The time since the last answer, in milliseconds. */
  get silentMs(): number {
    return performance.now() - this.#answeredMs;
  }

  /** What the store answers; `undefined` where it does not, or not in time. */
  async ask<T>(asked: Promise<T>): Promise<T | undefined> {
    try {
      const answer = await within(STORE_MS, asked, () => {
        throw new Error(`no answer within ${STORE_MS} ms`);
      });
      if (this.#isFailing) this.#log.info(`the store answers again`, { about: this.#what });
      this.#isFailing = false;
      this.#answeredMs = performance.now();
      return answer;
    } catch (error) {
      if (!this.#isFailing)
        this.#log.warn("the store does not answer", { about: this.#what, error });
      this.#isFailing = true;
      return undefined;
    }
  }
}
