/** Orphaned outboxes: no process holds them, and a worker moves the rows of each to the store. */

import type { Worker } from "node:cluster";
import { send } from "./spawn-worker.ts";

/** The orphaned outboxes. No other process may open one of them before its rows are moved. */
export class OrphanedOutboxes {
  readonly #movers = new Map<string, Worker | undefined>();

  has(outbox: string): boolean {
    return this.#movers.has(outbox);
  }

  /** Gives an outbox to a worker that serves; without one it waits for the next. */
  add(outbox: string, mover: Worker | undefined): void {
    this.#movers.set(outbox, mover);
    if (mover !== undefined) send(mover, { type: "adopt", outbox });
  }

  /** Gives the waiting outboxes to a worker. */
  giveTo(mover: Worker): void {
    for (const [outbox, current] of this.#movers) if (current === undefined) this.add(outbox, mover);
  }

  /** The outboxes of a worker that has ended. */
  takeFrom(gone: Worker): readonly string[] {
    return [...this.#movers].filter(([, mover]) => mover === gone).map(([outbox]) => outbox);
  }

  /** Its rows are moved, or stay until the next start. */
  delete(outbox: string): void {
    this.#movers.delete(outbox);
  }
}
