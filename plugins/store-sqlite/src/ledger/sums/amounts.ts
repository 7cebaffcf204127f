/** The amounts that the sums keep, and what one row adds to each of them. */

import type { SQLInputValue } from "node:sqlite";
import { LEDGER_COLUMNS } from "../columns.ts";

/** A row as its columns have it, in the order of `LEDGER_COLUMNS`. */
export type LedgerValues = readonly SQLInputValue[];

/** The columns of amounts, in the order in which they are written and read. */
export const AMOUNT_COLUMNS = [
  "requests",
  "row_count",
  "failed_rows",
  "partial_rows",
  "unpriced_rows",
  "estimated_rows",
  "cache_hits",
  "prompt_tokens",
  "completion_tokens",
  "total_tokens",
  "cached_tokens",
  "reasoning_tokens",
  "nano_usd",
  "lost_nano_usd",
] as const;

/** The place of a column in the values of a row. */
export const AT = Object.fromEntries(LEDGER_COLUMNS.map((name, index) => [name, index])) as Record<
  (typeof LEDGER_COLUMNS)[number],
  number
>;

/** Sums by the places of `AMOUNT_COLUMNS`. A bigint where a double would not be exact. */
export type Amounts = (number | bigint)[];

/** What one row adds. A number that is no safe integer adds nothing. */
export function amountsOf(row: LedgerValues): readonly number[] {
  // Most rows stand for one request.
  const count = Math.max(1, integer(row[AT.requests]));
  const status = row[AT.status];
  const cost = integer(row[AT.cost_nano_usd]);
  return [
    integer(row[AT.attempt]) <= 1 ? count : 0,
    count,
    status === "failure" ? count : 0,
    status === "partial" ? count : 0,
    row[AT.cost_nano_usd] === null ? count : 0,
    row[AT.usage_source] === "estimated" ? count : 0,
    row[AT.cache_hit] === 1 ? count : 0,
    integer(row[AT.prompt_tokens]),
    integer(row[AT.completion_tokens]),
    integer(row[AT.total_tokens]),
    integer(row[AT.cached_tokens]),
    integer(row[AT.reasoning_tokens]),
    cost,
    status === "success" ? 0 : cost,
  ];
}

/** The cost of a row in nano-dollars; 0 when it is unknown. */
export function costOf(row: LedgerValues): number {
  return integer(row[AT.cost_nano_usd]);
}

/** Adds the amounts of a row to sums. */
export function addAmounts(sums: Amounts, amounts: readonly number[]): void {
  for (let index = 0; index < amounts.length; index++) {
    const amount = amounts[index] as number;
    if (amount !== 0) sums[index] = plus(sums[index] as number | bigint, amount);
  }
}

/** An exact sum, whatever its size. */
export function plus(sum: number | bigint, amount: number): number | bigint {
  if (typeof sum === "bigint") return sum + BigInt(amount);
  const next = sum + amount;
  return Number.isSafeInteger(next) ? next : BigInt(sum) + BigInt(amount);
}

function integer(value: SQLInputValue | undefined): number {
  return typeof value === "number" && Number.isSafeInteger(value) ? value : 0;
}
