/** Metrics of budgets: what is left, for the scopes that the operator names. */

import type { Gauge, Host, MetricDescription } from "@sluice/contract";
import type { BudgetScope } from "./config.ts";

/** What is left of a budget. */
export const BUDGET_LEFT: MetricDescription = Object.freeze({
  name: "budget_remaining_usd",
  help: "US dollars that are left of a budget, less what requests under way have reserved, as of its last admitted request.",
  labels: Object.freeze(["scope", "id", "period"]),
});

/** What a budget has. */
export const BUDGET_MAX: MetricDescription = Object.freeze({
  name: "budget_max_usd",
  help: "US dollars of a budget, as of its last admitted request.",
  labels: Object.freeze(["scope", "id", "period"]),
});

/** The gauges of one budget. */
export interface BudgetGauge {
  set(limitNanoUsd: number, leftNanoUsd: number): void;
}

const NANO = 1e9;

/** Makes the gauges of budgets. */
export class BudgetGauges {
  readonly #metrics: Host["metrics"];
  readonly #scopes: ReadonlySet<string>;

  constructor(scopes: readonly BudgetScope[], { metrics }: Pick<Host, "metrics">) {
    this.#scopes = new Set(scopes);
    this.#metrics = metrics;
  }

  /** The gauges of a budget; `undefined` for a scope that the operator does not name. */
  of(scope: string, id: string, duration: string | null): BudgetGauge | undefined {
    if (!this.#scopes.has(scope)) return undefined;
    const labels = [scope, labelOf(scope, id), duration ?? "ever"];
    let [left, max]: (Gauge | undefined)[] = [];
    return {
      // A budget that no request uses is no series.
      set: (limitNanoUsd, leftNanoUsd) => {
        left ??= this.#metrics.gauge(BUDGET_LEFT).with(...labels);
        max ??= this.#metrics.gauge(BUDGET_MAX).with(...labels);
        left.set(leftNanoUsd / NANO);
        max.set(limitNanoUsd / NANO);
      },
    };
  }
}

/** A membership's id begins with the length of its team's: it is shown as `team:user`. */
function labelOf(scope: string, id: string): string {
  return scope === "membership" ? id.slice(id.indexOf(":") + 1) : id;
}
