/** Retry budgets: how many of a deployment's recent requests may be retries. They outlive generations. */

import type { SharedValue } from "@sluice/contract";

/** Retries that are always allowed, also with few requests. */
const MIN_RETRIES = 3;
/** The window: ten slots of one second. */
const SLOTS = 10;
const SLOT_MS = 1_000;
/** Maximum of stored deployments: clients choose the models of a wildcard. */
const MAX_DEPLOYMENTS = 1_000;

/** The recent requests and retries of one deployment. */
export class RetryBudget {
  readonly #requests = Array.from({ length: SLOTS }, () => 0);
  readonly #retries = Array.from({ length: SLOTS }, () => 0);
  #slot = 0;

  /** Counts a request. Its retries are not counted here. `nowMs` is monotonic. */
  request(nowMs: number): void {
    const index = this.#turn(nowMs);
    this.#requests[index] = (this.#requests[index] ?? 0) + 1;
  }

  /** Takes a retry from the budget: `share` (0 to 1) of the requests, at least 3. Returns false when it is spent. */
  takeRetry(share: number, nowMs: number): boolean {
    const index = this.#turn(nowMs);
    const allowed = Math.max(MIN_RETRIES, Math.floor(sum(this.#requests) * share));
    if (sum(this.#retries) >= allowed) return false;
    this.#retries[index] = (this.#retries[index] ?? 0) + 1;
    return true;
  }

  /** Clears expired slots. Returns the index of the current one. */
  #turn(nowMs: number): number {
    const slot = Math.floor(nowMs / SLOT_MS);
    for (let passed = Math.max(this.#slot + 1, slot - SLOTS + 1); passed <= slot; passed += 1) {
      this.#requests[passed % SLOTS] = 0;
      this.#retries[passed % SLOTS] = 0;
    }
    this.#slot = Math.max(this.#slot, slot);
    return this.#slot % SLOTS;
  }
}

/**
 * Budgets by the target's id, in two maps. When the first is full it becomes the second, and the old second is dropped with its
 * unused entries. A single map with a delete and a set for every request leaves outgrown tables to the garbage collector: it cost
 * 15 % of a request's time.
 */
export class RetryBudgets implements SharedValue {
  #recent = new Map<string, RetryBudget>();
  #older = new Map<string, RetryBudget>();

  of(targetId: string): RetryBudget {
    const known = this.#recent.get(targetId);
    if (known !== undefined) return known;
    const budget = this.#older.get(targetId) ?? new RetryBudget();
    if (this.#recent.size >= MAX_DEPLOYMENTS / 2) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(targetId, budget);
    return budget;
  }

  close(): void {
    this.#recent.clear();
    this.#older.clear();
  }
}

function sum(counts: readonly number[]): number {
  let total = 0;
  for (const count of counts) total += count;
  return total;
}
