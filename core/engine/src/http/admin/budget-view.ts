/** The state of budgets, read from the ledger. */

import { budgetPeriod, importedSince } from "@sluice/runtime";
import type { Clock, JsonObject, LedgerFilter, LedgerReader, RecordLimits } from "@sluice/contract";
import { budgetDollars } from "./dollars.ts";

/** The parts of a view. */
export interface BudgetParts {
  readonly ledger: Pick<LedgerReader, "spent">;
  /** The zone in which days begin. */
  readonly timeZone: string;
  readonly clock: Clock;
}

/**
 * The spend of a budget's current period, the rest, and the start of the next period. Without a
 * budget: the total spend.
 */
export async function budgetView(
  {
    maxBudgetNanoUsd: max,
    budgetDuration: duration,
    importedSpend,
  }: Pick<RecordLimits, "maxBudgetNanoUsd" | "budgetDuration" | "importedSpend">,
  rows: LedgerFilter,
  { ledger, timeZone, clock }: BudgetParts,
): Promise<JsonObject> {
  const { startMs, endMs } = budgetPeriod(duration, clock.now(), timeZone);
  const recorded = await ledger.spent({ ...rows, fromMs: startMs });
  const spent = recorded + importedSince(importedSpend, startMs);
  return {
    spend: budgetDollars(spent),
    budget_remaining: max === null ? null : budgetDollars(Math.max(0, max - spent)),
    budget_reset_at: endMs === null ? null : new Date(endMs).toISOString(),
  };
}
