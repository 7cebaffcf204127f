/**
 * Fills the sums from the rows of before the tables were made: an hour of rows in each transaction.
 * After a kill, the next start goes on where the last one stopped.
 */

import type { DatabaseSync } from "node:sqlite";
import { setImmediate as yieldToLoop } from "node:timers/promises";
import { LEDGER_COLUMNS } from "../columns.ts";
import { AT, type LedgerValues } from "./amounts.ts";
import { HOUR_MS, SumsOfRows } from "./collect.ts";
import { createSumIds } from "./ids.ts";
import { createSumsWriter } from "./write.ts";

/** Columns that sums are not made of. Their texts would be read for nothing. */
const UNREAD: ReadonlySet<string> = new Set(["metadata", "client_address", "request_id"]);
const NUMBERS: ReadonlySet<string> = new Set([
  "prompt_tokens",
  "completion_tokens",
  "total_tokens",
  "cached_tokens",
  "reasoning_tokens",
  "cost_nano_usd",
]);

/**
 * Selects rows of a span of time by `LEDGER_COLUMNS`, for sums. A number that no double holds
 * exactly is 0, as in a sum, and not null.
 */
export const SELECT_SUMMED = `select ${LEDGER_COLUMNS.map(summedColumn).join(", ")} from ledger
  where started_at_ms >= ? and started_at_ms < ?`;

function summedColumn(name: string): string {
  if (UNREAD.has(name)) return "null";
  if (!NUMBERS.has(name)) return name;
  const limit = Number.MAX_SAFE_INTEGER;
  return `case when ${name} is null or ${name} between -${limit} and ${limit} then ${name} else 0 end`;
}

/** Whether rows of a time are not in the sums yet, and will be counted by the fill. */
export type IsLeftToFill = (row: LedgerValues) => boolean;

const NONE_LEFT: IsLeftToFill = () => false;

/**
 * Prepares the question which rows an insert must leave to the fill. It is asked in the transaction
 * of the insert.
 */
export function createFillGuard(database: DatabaseSync): () => IsLeftToFill {
  const read = database.prepare("select next_ms, end_ms from spend_fill");
  let isFilled = false;
  return () => {
    const left = isFilled ? undefined : read.get();
    isFilled = left === undefined;
    if (left === undefined) return NONE_LEFT;
    const [nextMs, endMs] = [Number(left["next_ms"]), Number(left["end_ms"])];
    return (row) => {
      const atMs = row[AT.started_at_ms];
      return typeof atMs === "number" && atMs >= nextMs && atMs < endMs;
    };
  };
}

/**
 * Fills the sums. Rejects with the signal's reason; what is filled by then stays. Resolves at once
 * when they are filled.
 */
export async function fillSums(database: DatabaseSync, signal: AbortSignal): Promise<void> {
  if (database.prepare("select 1 from spend_fill").get() === undefined) return;
  const step = createFillStep(database);
  while (step()) {
    await yieldToLoop();
    signal.throwIfAborted();
  }
}

/** Prepares one step. It returns whether there may be another one. */
function createFillStep(database: DatabaseSync): () => boolean {
  const left = database.prepare("select next_ms, end_ms from spend_fill");
  const first = database.prepare(
    "select started_at_ms as at from ledger where started_at_ms >= ? and started_at_ms < ? order by started_at_ms limit 1",
  );
  const rows = database.prepare(SELECT_SUMMED);
  rows.setReturnArrays(true);
  const goOn = database.prepare("update spend_fill set next_ms = ?");
  const ids = createSumIds(database);
  const write = createSumsWriter(database);

  const fillNext = (): boolean => {
    const span = left.get();
    if (span === undefined) return false;
    const endMs = Number(span["end_ms"]);
    const found = first.get(Number(span["next_ms"]), endMs);
    if (found === undefined) {
      database.exec("delete from spend_fill");
      return false;
    }
    const atMs = Number(found["at"]);
    const nextMs = Math.min((Math.floor(atMs / HOUR_MS) + 1) * HOUR_MS, endMs);
    const sums = new SumsOfRows(ids);
    for (const row of rows.iterate(atMs, nextMs)) sums.add(row as unknown as LedgerValues);
    write(sums);
    goOn.run(nextMs);
    return true;
  };
  return () => {
    database.exec("begin immediate");
    try {
      const isMore = fillNext();
      database.exec("commit");
      return isMore;
    } catch (error) {
      ids.forget();
      if (database.isTransaction) database.exec("rollback");
      throw error;
    }
  };
}
