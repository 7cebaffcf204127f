/** Generations that drain: their last leases end, or the deadline comes; then they close. */

import type { Log } from "@sluice/contract";
import type { Generation } from "../generation.ts";

/** The generations of a process that drain. */
export class Draining {
  readonly #closing = new Map<Generation, Promise<void>>();
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  get size(): number {
    return this.#closing.size;
  }

  /** Drains a generation. `onClosed` is called when it has closed. */
  add(generation: Generation, deadlineMs: number, onClosed: () => void): void {
    const closed = generation.drain(deadlineMs).then(() => {
      this.#closing.delete(generation);
      onClosed();
      this.#log.info("generation closed", { generation: generation.number });
    });
    this.#closing.set(generation, closed);
  }

  /** Resolves when one of them has closed. */
  async next(): Promise<void> {
    await Promise.race(this.#closing.values());
  }

  /** Resolves when all of them have closed. */
  async all(): Promise<void> {
    await Promise.all(this.#closing.values());
  }
}
