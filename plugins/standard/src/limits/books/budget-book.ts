/** The budgets of recent requests, and whether their counters agree with the rows. */

import { setTimeout as pause } from "node:timers/promises";
import {
  BUDGET_BOOK_KEY,
  type BudgetBook,
  type BudgetCheck,
  type BudgetDifference,
  type Host,
} from "@sluice/contract";
import { type BudgetRule, UNLIMITED } from "../rules/rule.ts";

/** Beyond so many, the one that came first is dropped. */
const MAX_BUDGETS = 2_000;
const AT_ONCE = 8;
/** The rows of what has been settled are in the ledger after this time. */
const ROWS_MS = 2_000;
/** A budget that differs is compared so often: rows may be late. */
const LOOKS = 2;

type Services = Pick<Host, "state" | "ledger">;

interface Entry extends Services {
  readonly rule: BudgetRule;
}

/** The book of the process. */
export function openBudgetBook(host: Host): RecentBudgets {
  return host.shared(BUDGET_BOOK_KEY, () => new RecentBudgets(host.clock));
}

/** Budgets by their counters. */
export class RecentBudgets implements BudgetBook {
  readonly #clock: Pick<Host["clock"], "now">;
  readonly #entries = new Map<string, Entry>();

  constructor(clock: Pick<Host["clock"], "now">) {
    this.#clock = clock;
  }

  /** Notes the budget of a request. */
  note(rule: BudgetRule, { state, ledger }: Services): void {
    const { key, limitNanoUsd } = rule;
    if (this.#entries.get(key)?.rule === rule || limitNanoUsd >= UNLIMITED) return;
    this.#entries.set(key, { rule, state, ledger });
    if (this.#entries.size <= MAX_BUDGETS) return;
    for (const oldest of this.#entries.keys()) return void this.#entries.delete(oldest);
  }

  async verify(signal: AbortSignal): Promise<BudgetCheck> {
    const nowMs = this.#clock.now();
    const current = [...this.#entries.values()].filter(
      ({ rule: { period } }) => nowMs < (period.endMs ?? Infinity),
    );
    let differences = await differing(current, signal);
    for (let looks = 1; looks < LOOKS && differences.length > 0; looks += 1) {
      const those = current.filter(({ rule }) => differences.some(({ key }) => key === rule.key));
      // oxlint-disable-next-line no-await-in-loop -- a later look.
      differences = await differing(those, signal);
    }
    return { checked: current.length, differences };
  }

  close(): void {
    this.#entries.clear();
  }
}

/**
 * The budgets whose counters cannot be those of the rows. What was settled before the rows were
 * read must be in them, and what is in the rows must be settled or reserved after it.
 */
async function differing(
  entries: readonly Entry[],
  signal: AbortSignal,
): Promise<readonly BudgetDifference[]> {
  if (entries.length === 0) return [];
  const before = await each(entries, signal, read);
  await pause(ROWS_MS, undefined, { signal });
  const rows = await each(entries, signal, rowsOf);
  const after = await each(entries, signal, read);
  return entries.flatMap(({ rule: { key, subject, rows: scope } }, at) => {
    const [early, late, rowsNanoUsd] = [before[at], after[at], rows[at]];
    // The next request reads it from the ledger.
    if (early === undefined || late === undefined || rowsNanoUsd === undefined) return [];
    const { spentNanoUsd, reservedNanoUsd } = late;
    const isMissing = rowsNanoUsd > spentNanoUsd + reservedNanoUsd;
    if (!isMissing && rowsNanoUsd >= early.spentNanoUsd) return [];
    return [{ key, subject, scope, spentNanoUsd, reservedNanoUsd, rowsNanoUsd, isMissing }];
  });
}

async function read({ rule: { key, group }, state }: Entry) {
  const [reading] = await state.read([key], group);
  const { spentNanoUsd, reservedNanoUsd = 0 } = reading ?? {};
  return spentNanoUsd === undefined ? undefined : { spentNanoUsd, reservedNanoUsd };
}

async function rowsOf(
  { rule: { rows, moreRows, importedNanoUsd }, ledger }: Entry,
  signal: AbortSignal,
): Promise<number> {
  const more = moreRows === undefined ? 0 : await ledger.spent(moreRows, signal);
  return importedNanoUsd + more + (await ledger.spent(rows, signal));
}

/** Runs `work` for each entry, a few at once. Answers are in the order of the entries. */
async function each<T>(
  entries: readonly Entry[],
  signal: AbortSignal,
  work: (entry: Entry, signal: AbortSignal) => Promise<T>,
): Promise<readonly T[]> {
  const answers: T[] = [];
  const left = entries.entries();
  const some = async (): Promise<void> => {
    for (const [at, entry] of left) {
      signal.throwIfAborted();
      answers[at] = await work(entry, signal);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, some));
  return answers;
}
