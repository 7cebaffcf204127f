/** Remembers the budgets that are nearly spent, for the operator's overview. */

import {
  BUDGET_WATCH_KEY,
  type BudgetWatch,
  type ClaimState,
  type Host,
  type WatchedBudget,
} from "@sluice/contract";
import { type BudgetRule, UNLIMITED } from "../rules/rule.ts";

/** The used part from which a budget is watched. */
const WATCHED_PART = 0.8;
/** Beyond so many, the least used ones are dropped. */
const MAX_WATCHED = 500;

/** The watch of the process. */
export function openBudgetWatch(host: Host): NearBudgets {
  return host.shared(BUDGET_WATCH_KEY, () => new NearBudgets(host.clock));
}

/** Budgets of which four fifths or more are used. */
export class NearBudgets implements BudgetWatch {
  readonly #clock: Pick<Host["clock"], "now">;
  readonly #budgets = new Map<string, WatchedBudget>();

  constructor(clock: Pick<Host["clock"], "now">) {
    this.#clock = clock;
  }

  /** Looks at a budget after a reservation was taken of it. */
  see(rule: BudgetRule, { limit, remaining }: ClaimState): void {
    const used = limit - remaining;
    if (limit >= UNLIMITED || used < limit * WATCHED_PART) {
      if (this.#budgets.size > 0) this.#budgets.delete(rule.key);
      return;
    }
    const { key, subject, rows: scope, period } = rule;
    this.#budgets.set(key, {
      key,
      subject,
      scope,
      usedNanoUsd: used,
      limitNanoUsd: limit,
      resetsAtMs: period.endMs ?? null,
      seenAtMs: this.#clock.now(),
    });
    if (this.#budgets.size > MAX_WATCHED) this.#drop();
  }

  list(): readonly WatchedBudget[] {
    const nowMs = this.#clock.now();
    return [...this.#budgets.values()]
      .filter(({ resetsAtMs }) => resetsAtMs === null || nowMs < resetsAtMs)
      .sort((a, b) => partOf(b) - partOf(a));
  }

  close(): void {
    this.#budgets.clear();
  }

  /** Drops the ended ones, and a tenth of the rest. */
  #drop(): void {
    const kept = this.list().slice(0, Math.floor(MAX_WATCHED * 0.9));
    this.#budgets.clear();
    for (const budget of kept) this.#budgets.set(budget.key, budget);
  }
}

function partOf({ usedNanoUsd, limitNanoUsd }: WatchedBudget): number {
  return limitNanoUsd === 0 ? 1 : usedNanoUsd / limitNanoUsd;
}
