/** Budgets that are nearly spent, and those whose counters do not agree with the rows. */

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

/** The key under which the book is shared. */
export const BUDGET_BOOK_KEY = "limits-book";

/** A budget whose counter cannot be that of its rows. */
export interface BudgetDifference {
  /** The counter. */
  readonly key: string;
  /** Whose budget it is, in the words of messages. */
  readonly subject: string;
  /** The rows that count: they name whose it is. */
  readonly scope: LedgerSumFilter;
  /** By the counter. */
  readonly spentNanoUsd: number;
  readonly reservedNanoUsd: number;
  /** By the rows. */
  readonly rowsNanoUsd: number;
  /**
   * Whether the counter lacks rows: more may be spent than the limit. Otherwise it has more than
   * its rows, as after a gateway was killed between a reservation and its call.
   */
  readonly isMissing: boolean;
}

/** The comparison of counters with rows. */
export interface BudgetCheck {
  /** The budgets that were compared. */
  readonly checked: number;
  readonly differences: readonly BudgetDifference[];
}

/** The budgets that this process has used lately. */
export interface BudgetBook extends SharedValue {
  /** Compares their counters with the rows. It takes some seconds: rows are on their way. */
  verify(signal: AbortSignal): Promise<BudgetCheck>;
  close(): void;
}
