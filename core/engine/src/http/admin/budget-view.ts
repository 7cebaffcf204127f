/** The state of budgets, read from the ledger. */

import { anchoredPeriod, budgetPeriod, importedSince } from "@sluice/runtime";
import {
  type BudgetAnchor,
  type Clock,
  type JsonObject,
  type LedgerReader,
  type LedgerSumFilter,
  madeTag,
  type RecordLimits,
} from "@sluice/contract";
import { budgetDollars } from "./dollars.ts";

/** The parts of a view. */
export interface BudgetParts {
  readonly ledger: Pick<LedgerReader, "spent">;
  /** The zone in which days begin. */
  readonly timeZone: string;
  readonly clock: Clock;
}

/** The budget of a key. The keys that were made with it spend of it too. */
export function keyBudgetView(
  budgeted: Budgeted,
  keyId: string,
  parts: BudgetParts,
): Promise<JsonObject> {
  return budgetView(budgeted, { keyId }, parts, { tag: madeTag(keyId) });
}

/** A record with a budget. */
export interface Budgeted extends Pick<
  RecordLimits,
  "maxBudgetNanoUsd" | "budgetDuration" | "importedSpend"
> {
  /** Absent: `calendar`. */
  readonly budgetAnchor?: BudgetAnchor;
  /** Absent: 0. */
  readonly createdAtMs?: number;
}

/**
 * The spend of a budget's current period, the rest, and the start of the next period. Without a
 * budget: the total spend. `more` are further rows that count.
 */
export async function budgetView(
  budgeted: Budgeted,
  rows: LedgerSumFilter,
  { ledger, timeZone, clock }: BudgetParts,
  more?: LedgerSumFilter,
): Promise<JsonObject> {
  const { maxBudgetNanoUsd: max, budgetDuration: duration, importedSpend } = budgeted;
  const { startMs, endMs } =
    budgeted.budgetAnchor === "creation"
      ? anchoredPeriod(duration, clock.now(), timeZone, budgeted.createdAtMs ?? 0)
      : budgetPeriod(duration, clock.now(), timeZone);
  const recorded = await ledger.spent({ ...rows, fromMs: startMs });
  const further = more === undefined ? 0 : await ledger.spent({ ...more, fromMs: startMs });
  const spent = recorded + further + importedSince(importedSpend, startMs);
  return {
    spend: budgetDollars(spent),
    budget_remaining: max === null ? null : budgetDollars(Math.max(0, max - spent)),
    budget_reset_at: endMs === null ? null : new Date(endMs).toISOString(),
  };
}
