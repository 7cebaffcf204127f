/** Budgets that are nearly spent, as the step `limits` sees them. */

import type { SharedValue } from "../host.ts";
import type { LedgerSumFilter } from "../ledger/ledger.ts";

/** The key under which the watch is shared. */
export const BUDGET_WATCH_KEY = "limits-watch";

/** A budget of which four fifths or more are used. Reserved money counts as used. */
export interface WatchedBudget {
  /** The counter. */
  readonly key: string;
  /** Whose budget it is, in the words of messages: `key`, `team`, `provider openai`. */
  readonly subject: string;
  /** The rows that are spent of it: they name whose it is. */
  readonly scope: LedgerSumFilter;
  readonly usedNanoUsd: number;
  readonly limitNanoUsd: number;
  /** The end of its period, milliseconds since 1970; `null`: it has none. */
  readonly resetsAtMs: number | null;
  /** When it was seen last, milliseconds since 1970. */
  readonly seenAtMs: number;
}

/** The budgets that requests of this process have found nearly spent. */
export interface BudgetWatch extends SharedValue {
  /** The most used first. */
  list(): readonly WatchedBudget[];
  close(): void;
}
