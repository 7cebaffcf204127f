/**
 * The sums that budgets of customers begin with. Customers come by the thousand a second, and a
 * question costs several times such a sum: those that are asked for within a few milliseconds of a
 * question go together, and those that come while enough questions are under way. Sums of other
 * owners may take long, and go alone.
 */

import { isGatewayError, type LedgerSumFilter } from "@sluice/contract";

/** Filters in one question. */
const MAX_TOGETHER = 64;
/** Questions under way. One is answered after the other, or takes a connection from others. */
const MAX_QUESTIONS = 3;
/** Between two questions, unless one is full. The first one after a quiet time goes at once. */
const PAUSE_MS = 10;

/** A sum that is asked for. */
interface Asked extends PromiseWithResolvers<number> {
  readonly filter: LedgerSumFilter;
  /** Whether its caller waits no longer. */
  isOver: boolean;
}

/**
 * After this time no further sum of a question begins, in milliseconds: many together would take
 * longer than an answer may.
 */
export const SUMS_MS = 100;

/** The sums of the first filters, at least of one, in their order. */
type AskTogether = (filters: readonly LedgerSumFilter[]) => Promise<readonly number[]>;

/** Gathers questions. */
export class CustomerSums {
  readonly #ask: AskTogether;
  readonly #pauseMs: number;
  #waiting: Asked[] = [];
  /** When the last question went, in milliseconds of the monotonic clock. */
  #askedMs = -Infinity;
  #isScheduled = false;
  /** Questions under way. */
  #questions = 0;
  #isStopped = false;

  constructor(ask: AskTogether, pauseMs = PAUSE_MS) {
    this.#ask = ask;
    this.#pauseMs = pauseMs;
  }

  /** One sum, in nano-dollars. Rejects with the signal's reason, and as `ask` does. */
  async of(filter: LedgerSumFilter, signal: AbortSignal | undefined): Promise<number> {
    signal?.throwIfAborted();
    const asked: Asked = { filter, isOver: false, ...Promise.withResolvers<number>() };
    const giveUp = (): void => {
      asked.isOver = true;
      asked.reject(signal?.reason);
    };
    signal?.addEventListener("abort", giveUp, { once: true });
    if (this.#waiting.push(asked) >= MAX_TOGETHER) this.#send();
    else this.#schedule();
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

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const send = (): void => {
      this.#isScheduled = false;
      this.#send();
    };
    const leftMs = this.#askedMs + this.#pauseMs - performance.now();
    if (leftMs > 0) setTimeout(send, leftMs);
    else setImmediate(send);
  }

  #send(): void {
    while (this.#waiting.length > 0 && this.#questions < MAX_QUESTIONS) {
      this.#questions += 1;
      this.#askedMs = performance.now();
      void this.#answer(this.#waiting.splice(0, MAX_TOGETHER)).finally(() => this.#ended());
    }
  }

  #ended(): void {
    const wasFull = this.#questions === MAX_QUESTIONS;
    this.#questions -= 1;
    if (wasFull) this.#send();
  }

  /**
   * Asks until each sum is there: a question that takes long is answered in part. Two late answers
   * in a row refuse all: the store is slow, and not one sum.
   */
  async #answer(together: readonly Asked[]): Promise<void> {
    let left = together;
    let isSlow = false;
    while ((left = left.filter(({ isOver }) => !isOver)).length > 0) {
      // oxlint-disable-next-line no-await-in-loop -- the rest of the question before.
      const { count, isLate } = await this.#answerFirst(left, isSlow);
      left = left.slice(count);
      isSlow = isLate;
    }
  }

  /** Resolves or rejects the first ones. Returns how many, and whether the answer was late. */
  async #answerFirst(
    together: readonly Asked[],
    isSlow: boolean,
  ): Promise<{ readonly count: number; readonly isLate: boolean }> {
    try {
      if (this.#isStopped) throw new Error("the store is closed");
      const sums = await this.#ask(together.map(({ filter }) => filter));
      if (sums.length === 0) throw new Error("the ledger answered without a sum");
      for (const [index, sum] of sums.entries()) together[index]?.resolve(sum);
      return { count: sums.length, isLate: false };
    } catch (error) {
      // The first sum alone may take so long: others are left out of an answer that is late.
      const isLate = isGatewayError(error) && error.code === "deadline_exceeded";
      const refused = isLate && !isSlow ? together.slice(0, 1) : together;
      for (const { reject } of refused) reject(error);
      return { count: refused.length, isLate };
    }
  }
}
