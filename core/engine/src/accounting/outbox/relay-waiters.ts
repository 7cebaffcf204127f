/** The callers that wait for the relay, each with its batch. */

interface Waiter {
  readonly sequence: number;
  readonly settled: PromiseWithResolvers<void>;
  release(): void;
}

/** Callers that wait for a batch to reach the store. An aborted wait is removed. */
export class RelayWaiters {
  readonly #waiters = new Set<Waiter>();

  /** Whether no caller waits. */
  get isEmpty(): boolean {
    return this.#waiters.size === 0;
  }

  /** The newest batch that a caller waits for; 0 when none waits. */
  get target(): number {
    let target = 0;
    for (const { sequence } of this.#waiters) target = Math.max(target, sequence);
    return target;
  }

  /**
   * Resolves when the batch has arrived. Rejects with the signal's reason when it is aborted
   * before.
   */
  add(sequence: number, signal: AbortSignal | undefined): Promise<void> {
    const settled = Promise.withResolvers<void>();
    const giveUp = (): void => {
      this.#waiters.delete(waiter);
      settled.reject(signal?.reason);
    };
    const waiter: Waiter = {
      sequence,
      settled,
      release: () => signal?.removeEventListener("abort", giveUp),
    };
    this.#waiters.add(waiter);
    signal?.addEventListener("abort", giveUp, { once: true });
    return settled.promise;
  }

  /** Resolves the waits for batches that have arrived. */
  resolveThrough(sequence: number): void {
    for (const waiter of this.#waiters) {
      if (waiter.sequence > sequence) continue;
      this.#waiters.delete(waiter);
      waiter.release();
      waiter.settled.resolve();
    }
  }

  /** Rejects all waits: their batches will not arrive. */
  rejectAll(error: Error): void {
    for (const waiter of this.#waiters) {
      waiter.release();
      waiter.settled.reject(error);
    }
    this.#waiters.clear();
  }
}
