/** The tally of a generation that is being watched: how many of its requests failed, and how long they waited. */

import type { Attempt, GatewayError, Reply } from "@sluice/spec";

/** What a tally reads of an exchange that is over. */
export interface Counted {
  readonly startedAtMs: number;
  readonly failure: GatewayError | undefined;
  readonly reply: Reply | undefined;
  readonly attempts: readonly Attempt[];
}

/** Whoever counts the requests of a generation as they end. */
export interface Counter {
  add(counted: Counted): void;
}

/** Whether a request ended with a status from 500 on; a stream that broke did. */
export function hasFailed({ failure, reply }: Counted): boolean {
  return (failure?.status ?? reply?.status ?? 0) >= 500;
}

/** Waits that are kept: the newest ones. */
const MAX_WAITS = 1_000;

/** Counts requests. */
export class Tally implements Counter {
  requests = 0;
  /** Requests that ended with a status from 500 on, streams that broke included. */
  errors = 0;
  readonly #waits: number[] = [];
  readonly #onCounted: () => void;

  constructor(onCounted: () => void = () => undefined) {
    this.#onCounted = onCounted;
  }

  /** Between 0 and 1; 0 without requests. */
  get errorRate(): number {
    return this.requests === 0 ? 0 : this.errors / this.requests;
  }

  add(counted: Counted): void {
    const { startedAtMs, attempts } = counted;
    const last = attempts.at(-1);
    const contentAtMs = last?.firstContentAtMs ?? last?.endedAtMs;
    if (contentAtMs !== undefined) this.#waits[this.requests % MAX_WAITS] = contentAtMs - startedAtMs;
    this.requests += 1;
    if (hasFailed(counted)) this.errors += 1;
    this.#onCounted();
  }

  /** The wait for the first content, in milliseconds, that one in a hundred exceeds; `undefined` without any. */
  p99Ms(): number | undefined {
    const sorted = this.#waits.filter((wait) => wait !== undefined).sort((left, right) => left - right);
    return sorted[Math.max(0, Math.ceil(sorted.length * 0.99) - 1)];
  }
}
