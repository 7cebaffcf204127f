/** Places for what may run at the same time, and a bounded line before them. */

import { GatewayError } from "@sluice/spec";

/** Who may wait. Beyond it the gateway is overloaded. */
const MAX_WAITING = 256;

/** A number of places. */
export class Slots {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Runs when there is a place. Rejects with the signal's reason, and with `overloaded` when too many wait. */
  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#enter(signal);
    try {
      return await work();
    } finally {
      const [next] = this.#waiting;
      if (next === undefined) this.#free++;
      else next();
    }
  }

  #enter(signal: AbortSignal): Promise<void> | undefined {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free--;
      return undefined;
    }
    if (this.#waiting.size >= MAX_WAITING) throw new GatewayError("overloaded", "Too many media wait to be fetched.");
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        this.#waiting.delete(enter);
        signal.removeEventListener("abort", leave);
        resolve();
      };
      const leave = (): void => {
        this.#waiting.delete(enter);
        reject(signal.reason);
      };
      this.#waiting.add(enter);
      signal.addEventListener("abort", leave, { once: true });
    });
  }
}
