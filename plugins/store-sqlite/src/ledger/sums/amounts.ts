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

/** The place of an amount in sums. */
export const AMOUNT_AT = Object.fromEntries(
  AMOUNT_COLUMNS.map((name, index) => [name, index]),
) as Record<(typeof AMOUNT_COLUMNS)[number], number>;

/** Sums of no rows. */
export function noAmounts(): Amounts {
  return AMOUNT_COLUMNS.map(() => 0);
}

/** Adds a row to sums. A number that is no safe integer adds nothing. */
export function addRow(sums: Amounts, row: LedgerValues): void {
  // Most rows stand for one request.
  const count = Math.max(1, integer(row[AT.requests]));
  const status = row[AT.status];
  const cost = integer(row[AT.cost_nano_usd]);
  if (integer(row[AT.attempt]) <= 1) add(sums, AMOUNT_AT.requests, count);
  add(sums, AMOUNT_AT.row_count, count);
  if (status === "failure") add(sums, AMOUNT_AT.failed_rows, count);
  if (status === "partial") add(sums, AMOUNT_AT.partial_rows, count);
  if (row[AT.cost_nano_usd] === null) add(sums, AMOUNT_AT.unpriced_rows, count);
  if (row[AT.usage_source] === "estimated") add(sums, AMOUNT_AT.estimated_rows, count);
  if (row[AT.cache_hit] === 1) add(sums, AMOUNT_AT.cache_hits, count);
  add(sums, AMOUNT_AT.prompt_tokens, integer(row[AT.prompt_tokens]));
  add(sums, AMOUNT_AT.completion_tokens, integer(row[AT.completion_tokens]));
  add(sums, AMOUNT_AT.total_tokens, integer(row[AT.total_tokens]));
  add(sums, AMOUNT_AT.cached_tokens, integer(row[AT.cached_tokens]));
  add(sums, AMOUNT_AT.reasoning_tokens, integer(row[AT.reasoning_tokens]));
  add(sums, AMOUNT_AT.nano_usd, cost);
  if (status !== "success") add(sums, AMOUNT_AT.lost_nano_usd, cost);
}

/** Adds sums to sums. */
export function addAmounts(sums: Amounts, amounts: Amounts): void {
  for (let index = 0; index < amounts.length; index++) add(sums, index, amounts[index]!);
}

/** An exact sum, whatever its size. */
export function plus(sum: number | bigint, amount: number | bigint): number | bigint {
  if (typeof sum === "bigint" || typeof amount === "bigint") return BigInt(sum) + BigInt(amount);
  const next = sum + amount;
  return Number.isSafeInteger(next) ? next : BigInt(sum) + BigInt(amount);
}

function add(sums: Amounts, index: number, amount: number | bigint): void {
  if (amount !== 0) sums[index] = plus(sums[index]!, amount);
}

function integer(value: SQLInputValue | undefined): number {
  return typeof value === "number" && Number.isSafeInteger(value) ? value : 0;
}
