/** Orphaned outboxes: no process holds them, and a worker moves the rows of each to the store. */

import type { Worker } from "node:cluster";
import { send } from "./spawn-worker.ts";

/** The orphaned outboxes. No other process may open one of them before its rows are moved. */
export class OrphanedOutboxes {
  readonly #movers = new Map<string, Worker | undefined>();
  readonly #oldest: () => Worker | undefined;

  /** `oldest`: the worker that has served for the longest time. */
  constructor(oldest: () => Worker | undefined) {
    this.#oldest = oldest;
  }

  has(outbox: string): boolean {
    return this.#movers.has(outbox);
  }

  /** Gives an outbox to the oldest serving worker; without one it waits for the next. */
  add(outbox: string): void {
    const mover = this.#oldest();
    if (mover === undefined) this.#movers.set(outbox, undefined);
    else this.#give(outbox, mover);
  }

  /** Gives the waiting outboxes to a worker. */
  giveTo(mover: Worker): void {
    for (const [outbox, current] of this.#movers)
      if (current === undefined) this.#give(outbox, mover);
  }

  /** The outboxes of a worker that has ended. */
  takeFrom(gone: Worker): readonly string[] {
    return [...this.#movers].filter(([, mover]) => mover === gone).map(([outbox]) => outbox);
  }

  /** Ends the handling of an outbox: its rows are in the store, or stay until the next start. */
  delete(outbox: string): void {
    this.#movers.delete(outbox);
  }

  #give(outbox: string, mover: Worker): void {
    this.#movers.set(outbox, mover);
    send(mover, { type: "adopt", outbox });
  }
}
