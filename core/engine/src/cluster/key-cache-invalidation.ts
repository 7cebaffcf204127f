/**
 * Key cache invalidation: workers drop cached keys and teams, and the supervisor waits until all of
 * them have.
 */

import type { Worker } from "node:cluster";
import { send } from "./spawn-worker.ts";

/** The wait for the workers' answers: cached keys expire after this time anyway. */
const FORGET_MS = 1_000;

interface Asked {
  readonly waits: Set<Worker>;
  readonly done: () => void;
}

/** The invalidations that workers have not confirmed yet. */
export class KeyCacheInvalidation {
  readonly #asked = new Map<number, Asked>();
  #lastId = 0;

  /** Resolves once these workers have dropped their cached keys, or after a second. */
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
      for (const worker of workers) send(worker, { type: "forget", id });
    });
  }

  /** A worker has dropped its cache. Without an id: the worker has ended, and its cache with it. */
  has(worker: Worker, id?: number): void {
    for (const [one, { waits, done }] of this.#asked) {
      if (id !== undefined && one !== id) continue;
      if (waits.delete(worker) && waits.size === 0) done();
    }
  }
}
