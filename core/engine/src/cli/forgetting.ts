/** Forgetting: workers are told that keys or teams have changed, and it is known when all of them have heard. */

import type { Worker } from "node:cluster";
import { tell } from "./hire.ts";

/** For workers to say that they have: what they believe of a key is good for no longer anyway. */
const FORGET_MS = 1_000;

interface Asked {
  readonly waits: Set<Worker>;
  readonly done: () => void;
}

/** What workers were asked to forget and have not yet said that they did. */
export class Forgetting {
  readonly #asked = new Map<number, Asked>();
  #lastId = 0;

  /** Resolves once these workers believe nothing any more of what they had looked up. */
  ask(workers: readonly Worker[]): Promise<void> {
    if (workers.length === 0) return Promise.resolve();
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#asked.delete(id);
        resolve();
      };
      const timer = setTimeout(done, FORGET_MS);
      this.#asked.set(id, { waits: new Set(workers), done });
      for (const worker of workers) tell(worker, { type: "forget", id });
    });
  }

  /** A worker has forgotten; without an id it is gone, and has forgotten everything. */
  has(worker: Worker, id?: number): void {
    for (const [one, { waits, done }] of this.#asked) {
      if (id !== undefined && one !== id) continue;
      if (waits.delete(worker) && waits.size === 0) done();
    }
  }
}
