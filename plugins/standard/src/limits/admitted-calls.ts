/** The upstream calls that the gates of one exchange admitted, and the cost of each. */

import type { Admission, Attempt, Exchange } from "@sluice/contract";
import { priceAttempt } from "@sluice/runtime";
import { knownCost } from "./estimate.ts";

/** Sums what admitted calls have cost or may still cost. Amounts are nano-dollars. */
export class AdmittedCalls {
  readonly #exchange: Exchange;
  /** The maximum cost of each call. */
  #maxNanoUsd: Map<Admission, number> | undefined;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  /** Adds a call with its maximum cost. */
  add(admission: Admission, maxNanoUsd: number): void {
    (this.#maxNanoUsd ??= new Map()).set(admission, maxNanoUsd);
  }

  /** Removes a call that was refused after all. */
  dismiss(admission: Admission): void {
    this.#maxNanoUsd?.delete(admission);
  }

  /**
   * The cost of all calls, or of one provider's. The maximum stands for a cost that is not known
   * yet.
   */
  committed(provider?: string): number {
    let sum = 0;
    for (const [admission, maxNanoUsd] of this.#maxNanoUsd ?? []) {
      if (provider !== undefined && admission.target.provider !== provider) continue;
      const attempt = this.attemptOf(admission);
      sum += (attempt === undefined ? undefined : this.#known(attempt)) ?? maxNanoUsd;
    }
    return sum;
  }

  /**
   * The cost of all attempts, or of one provider's. The maximum stands for a cost that stays
   * unknown.
   */
  spent(provider?: string): number {
    let sum = 0;
    for (const attempt of this.#exchange.attempts) {
      if (provider !== undefined && attempt.target.provider !== provider) continue;
      sum += this.#known(attempt) ?? this.#maxOf(attempt);
    }
    return sum;
  }

  /** The attempt of a call; `undefined` where none was dispatched. */
  attemptOf(admission: Admission): Attempt | undefined {
    return this.#exchange.attempts.find((attempt) => attempt.admission === admission);
  }

  #known(attempt: Attempt): number | undefined {
    return knownCost(attempt, () => priceAttempt(this.#exchange, attempt));
  }

  #maxOf({ admission }: Attempt): number {
    return (admission === undefined ? undefined : this.#maxNanoUsd?.get(admission)) ?? 0;
  }
}
