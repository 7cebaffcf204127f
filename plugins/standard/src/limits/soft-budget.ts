/**
 * Soft budgets: a warning, once for each period, and a header as long as it holds. Budgets that are
 * nearly spent are noted for the overview.
 */

import type { ClaimState, Exchange, Host, SharedValue } from "@sluice/contract";
import { dollarText } from "@sluice/runtime";
import { openBudgetBook, type RecentBudgets } from "./books/budget-book.ts";
import { type NearBudgets, openBudgetWatch } from "./books/budget-watch.ts";
import type { Rule } from "./rules/rule.ts";

const HEADER = "x-sluice-soft-budget";
/** Beyond so many the oldest warnings are given again. */
const MAX_WARNED = 10_000;

class Warned implements SharedValue {
  readonly keys = new Set<string>();

  close(): void {
    this.keys.clear();
  }
}

/** Watches the budgets of admitted requests. */
export class SoftBudgets {
  readonly #log: Host["log"];
  readonly #warned: Warned;
  readonly #watch: NearBudgets;
  readonly #book: RecentBudgets;
  readonly #host: Host;

  constructor(host: Host) {
    this.#log = host.log;
    this.#warned = host.shared("limits-soft", () => new Warned());
    this.#watch = openBudgetWatch(host);
    this.#book = openBudgetBook(host);
    this.#host = host;
  }

  /** Warns of budgets that are beyond their soft limit, with what is reserved. */
  check(exchange: Exchange, rules: readonly Rule[], states: readonly ClaimState[]): void {
    for (let index = 0; index < rules.length; index += 1) {
      const rule = rules[index];
      const state = states[index];
      if (rule?.kind !== "budget" || state === undefined) continue;
      this.#watch.see(rule, state);
      this.#book.note(rule, this.#host);
      rule.gauge?.set(state.limit, state.remaining);
      if (rule.softNanoUsd === undefined) continue;
      const usedNanoUsd = state.limit - state.remaining;
      if (usedNanoUsd < rule.softNanoUsd) continue;
      const before = exchange.headers.get(HEADER);
      exchange.headers.set(
        HEADER,
        before === undefined ? rule.subject : `${before}, ${rule.subject}`,
      );
      this.#warn(`${rule.key}:${rule.softNanoUsd}`, {
        budget: rule.subject,
        used_usd: dollarText(usedNanoUsd),
        soft_usd: dollarText(rule.softNanoUsd),
        key_id: exchange.identity?.keyId,
      });
    }
  }

  /** Once for each period and soft limit: one that was raised warns again. */
  #warn(key: string, fields: Readonly<Record<string, unknown>>): void {
    const { keys } = this.#warned;
    if (keys.has(key)) return;
    if (keys.size >= MAX_WARNED) keys.clear();
    keys.add(key);
    this.#log.warn("a soft budget is reached", fields);
  }
}
