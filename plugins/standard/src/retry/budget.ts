/**
 * Retry budgets: how many of a deployment's recent requests may be retries, with a part for each
 * key. They outlive generations.
 */

import type { SharedValue } from "@sluice/contract";
import { type Holder, Parts } from "@sluice/kit/internals";

/** Retries that are always allowed, also with few requests. */
const MIN_RETRIES = 3;
/** The window: ten slots of one second. */
const SLOTS = 10;
const SLOT_MS = 1_000;
/** A key is alone at a deployment when no other has asked it for so long. */
const ALONE_MS = SLOTS * SLOT_MS;
/** Maximum of stored deployments: clients choose the models of a wildcard. */
const MAX_DEPLOYMENTS = 1_000;

/** What became of a retry that was asked for: the budget may be spent, or the key's part of it. */
export type TakenRetry = "taken" | "spent" | "part spent";

/** The recent requests and retries of one deployment. */
export class RetryBudget {
  readonly #requests = Array.from({ length: SLOTS }, () => 0);
  readonly #requestsByKey = Array.from({ length: SLOTS }, () => new Map<string, number>());
  readonly #retries = Array.from({ length: SLOTS }, (): Holder[] => []);
  readonly #parts = new Parts();
  #slot = 0;
  #lastKey: string | undefined;
  /** When another key than the last one came. */
  #changedAtMs = -Infinity;

  /** Counts a request. Its retries are not counted here. `nowMs` is monotonic. */
  request(key: string, nowMs: number): void {
    const index = this.#turn(nowMs);
    this.#requests[index] = (this.#requests[index] ?? 0) + 1;
    const byKey = this.#requestsByKey[index];
    byKey?.set(key, (byKey.get(key) ?? 0) + 1);
    if (key === this.#lastKey) return;
    if (this.#lastKey !== undefined) this.#changedAtMs = nowMs;
    this.#lastKey = key;
  }

  /**
   * Takes a retry from the budget: `share` (0 to 1) of the requests, at least 3. A key that is
   * alone may use all of it; of several keys each has a part, and `share` of its own requests in
   * any case, also where other keys have used the budget up. A key that has none of the recent
   * retries gets one beyond the budget, as long as those are fewer than 3.
   */
  takeRetry(holder: Holder, share: number, nowMs: number): TakenRetry {
    const index = this.#turn(nowMs);
    const capacity = Math.max(MIN_RETRIES, Math.floor(sum(this.#requests) * share));
    const free = capacity - this.#parts.held;
    const isAlone = nowMs - this.#changedAtMs > ALONE_MS;
    if (isAlone ? free <= 0 : !this.#mayTake(holder, capacity, share))
      return free > 0 ? "part spent" : "spent";
    this.#parts.take(holder);
    this.#retries[index]?.push(holder);
    return "taken";
  }

  #mayTake(holder: Holder, capacity: number, share: number): boolean {
    if (this.#parts.mayTake(holder, { capacity })) return true;
    const own = this.#parts.heldBy(holder);
    if (own === 0 && this.#parts.held < capacity + MIN_RETRIES) return true;
    const requests = sum(this.#requestsByKey.map((byKey) => byKey.get(holder.key) ?? 0));
    return own < Math.floor(requests * share);
  }

  /** Clears expired slots. Returns the index of the current one. */
  #turn(nowMs: number): number {
    const slot = Math.floor(nowMs / SLOT_MS);
    for (let passed = Math.max(this.#slot + 1, slot - SLOTS + 1); passed <= slot; passed += 1) {
      this.#requests[passed % SLOTS] = 0;
      this.#requestsByKey[passed % SLOTS]?.clear();
      for (const holder of this.#retries[passed % SLOTS]?.splice(0) ?? [])
        this.#parts.giveBack(holder);
    }
    this.#slot = Math.max(this.#slot, slot);
    return this.#slot % SLOTS;
  }
}

/**
 * Budgets by the target's id, in two maps. When the first is full it becomes the second, and the
 * old second is dropped with its unused entries. A single map with a delete and a set for every
 * request leaves outgrown tables to the garbage collector: it cost 15 % of a request's time.
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
