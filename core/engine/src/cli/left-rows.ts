/** Rows that workers left behind: outboxes that no process holds, and who moves each to the store. */

import type { Worker } from "node:cluster";
import { tell } from "./hire.ts";

/** The outboxes. Nobody else may open one of them before it is moved. */
export class LeftRows {
  readonly #movers = new Map<string, Worker | undefined>();

  has(outbox: string): boolean {
    return this.#movers.has(outbox);
  }

  /** Gives an outbox to a worker that serves; without one it waits for the next. */
  add(outbox: string, mover: Worker | undefined): void {
    this.#movers.set(outbox, mover);
    if (mover !== undefined) tell(mover, { type: "adopt", outbox });
  }

  /** Gives what waits to a worker. */
  giveTo(mover: Worker): void {
    for (const [outbox, current] of this.#movers) if (current === undefined) this.add(outbox, mover);
  }

  /** What a worker that is gone was to move. */
  takeFrom(gone: Worker): readonly string[] {
    return [...this.#movers].filter(([, mover]) => mover === gone).map(([outbox]) => outbox);
  }

  /** It is moved, or stays where it is until the next start. */
  delete(outbox: string): void {
    this.#movers.delete(outbox);
  }
}
