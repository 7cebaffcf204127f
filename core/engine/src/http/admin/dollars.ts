/** Budgets at the administration interface. */

import { dollarsOf } from "@sluice/runtime";

/** Nano-dollars as the nearest number of dollars; `null`: no budget. */
export function budgetDollars(nanoUsd: number | null): number | null {
  return nanoUsd === null ? null : dollarsOf(nanoUsd);
}
