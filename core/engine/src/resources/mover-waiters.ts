/** Who waits for the mover, and for which batch. */

interface Waiter {
  readonly sequence: number;
  readonly settled: PromiseWithResolvers<void>;
  release(): void;
}

/** Those who wait, each for a batch to arrive in the store. Who gives up leaves nothing behind. */
export class MoverWaiters {
  readonly #waiters = new Set<Waiter>();

  /** Whether nobody waits. */
  get isEmpty(): boolean {
    return this.#waiters.size === 0;
  }

  /** The newest batch that somebody waits for, 0 when nobody does. */
  get target(): number {
    let target = 0;
    for (const { sequence } of this.#waiters) target = Math.max(target, sequence);
    return target;
  }

  /** Resolves when the batch has arrived. Rejects with the signal's reason when it is aborted before. */
  add(sequence: number, signal: AbortSignal | undefined): Promise<void> {
    const settled = Promise.withResolvers<void>();
    const giveUp = (): void => {
      this.#waiters.delete(waiter);
      settled.reject(signal?.reason);
    };
    const waiter: Waiter = { sequence, settled, release: () => signal?.removeEventListener("abort", giveUp) };
    this.#waiters.add(waiter);
    signal?.addEventListener("abort", giveUp, { once: true });
    return settled.promise;
  }

  /** Tells those whose batch has arrived. */
  resolveThrough(sequence: number): void {
    for (const waiter of this.#waiters) {
      if (waiter.sequence > sequence) continue;
      this.#waiters.delete(waiter);
      waiter.release();
      waiter.settled.resolve();
    }
  }

  /** Tells all that their batch will not arrive. */
  rejectAll(error: Error): void {
    for (const waiter of this.#waiters) {
      waiter.release();
      waiter.settled.reject(error);
    }
    this.#waiters.clear();
  }
}
