/**
 * The sums that budgets of customers begin with. Customers come by the thousand a second, and a
 * message to the thread costs several times such a sum: those that one turn of the event loop asks
 * for go together. Sums of other owners may take long, and go alone.
 */

import type { LedgerSumFilter } from "@sluice/contract";

/** Filters in one question. */
const MAX_TOGETHER = 64;

/** A sum that is asked for. */
interface Asked extends PromiseWithResolvers<number> {
  readonly filter: LedgerSumFilter;
}

/** Gathers the questions of a turn. */
export class CustomerSums {
  readonly #ask: (filters: readonly LedgerSumFilter[]) => Promise<readonly number[]>;
  #waiting: Asked[] = [];
  #isStopped = false;

  /** `ask`: one sum for each filter, in their order. */
  constructor(ask: (filters: readonly LedgerSumFilter[]) => Promise<readonly number[]>) {
    this.#ask = ask;
  }

  /** One sum, in nano-dollars. Rejects with the signal's reason, and as `ask` does. */
  async of(filter: LedgerSumFilter, signal: AbortSignal | undefined): Promise<number> {
    signal?.throwIfAborted();
    const asked: Asked = { filter, ...Promise.withResolvers<number>() };
    const giveUp = (): void => asked.reject(signal?.reason);
    signal?.addEventListener("abort", giveUp, { once: true });
    if (this.#waiting.push(asked) === 1) setImmediate(() => this.#send());
    try {
      return await asked.promise;
    } finally {
      signal?.removeEventListener("abort", giveUp);
    }
  }

  /** Sums that wait are rejected. */
  stop(): void {
    this.#isStopped = true;
  }

  #send(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (let at = 0; at < waiting.length; at += MAX_TOGETHER)
      void this.#answer(waiting.slice(at, at + MAX_TOGETHER));
  }

  async #answer(together: readonly Asked[]): Promise<void> {
    try {
      if (this.#isStopped) throw new Error("the store is closed");
      const sums = await this.#ask(together.map(({ filter }) => filter));
      for (const [index, { resolve }] of together.entries()) resolve(sums[index] ?? 0);
    } catch (error) {
      for (const { reject } of together) reject(error);
    }
  }
}
