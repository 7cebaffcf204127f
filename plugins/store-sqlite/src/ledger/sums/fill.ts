/**
 * Fills the sums from the rows of before the tables were made: some hours in each transaction.
 * After a kill, the next start goes on where the last one stopped.
 */

import type { Log } from "@sluice/contract";
import { DAY_MS, HOUR_MS } from "@sluice/store-sql/sums";
import type { DatabaseSync } from "node:sqlite";
import { setImmediate as yieldToLoop } from "node:timers/promises";
import { LEDGER_COLUMNS } from "../columns.ts";
import { AT, type LedgerValues } from "./amounts.ts";
import { SumsOfRows } from "./collect.ts";
import { createSumIds } from "./ids.ts";
import { createSumsWriter } from "./write.ts";

/** A step takes further hours of a day until it has so many rows. */
const MIN_ROWS = 10_000;
/** How often the progress is logged, in milliseconds. */
const PROGRESS_MS = 10_000;

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
 * Fills the sums. Rejects with what `onStep` throws after a step; what is filled by then stays.
 * Resolves at once when they are filled.
 */
export async function fillSums(
  database: DatabaseSync,
  onStep: (untilMs: number) => void,
): Promise<void> {
  if (database.prepare("select 1 from spend_fill").get() === undefined) return;
  const step = createFillStep(database);
  for (;;) {
    const untilMs = step();
    if (untilMs === undefined) return;
    onStep(untilMs);
    await yieldToLoop();
  }
}

/** A line in the log at the first step, and every ten seconds: the gateway does not serve yet. */
export function logProgress(log: Log, path: string): (untilMs: number) => void {
  let nextMs = 0;
  return (untilMs) => {
    if (performance.now() < nextMs) return;
    nextMs = performance.now() + PROGRESS_MS;
    log.info("the spend rows of an earlier version are added up before the store is open", {
      path,
      until: new Date(untilMs).toISOString(),
    });
  };
}

/** Prepares one step. It returns the time up to which rows are added up; `undefined`: all are. */
function createFillStep(database: DatabaseSync): () => number | undefined {
  const left = database.prepare("select next_ms, end_ms from spend_fill");
  const first = database.prepare(
    "select started_at_ms as at from ledger where started_at_ms >= ? and started_at_ms < ? order by started_at_ms limit 1",
  );
  const rows = database.prepare(SELECT_SUMMED);
  rows.setReturnArrays(true);
  const goOn = database.prepare("update spend_fill set next_ms = ?");
  const ids = createSumIds(database);
  const write = createSumsWriter(database);

  const fillNext = (): number | undefined => {
    const span = left.get();
    if (span === undefined) return undefined;
    const endMs = Number(span["end_ms"]);
    const found = first.get(Number(span["next_ms"]), endMs);
    if (found === undefined) {
      database.exec("delete from spend_fill");
      return undefined;
    }
    const sums = new SumsOfRows();
    let nextMs = Number(found["at"]);
    let count = 0;
    do {
      const fromMs = nextMs;
      nextMs = Math.min((Math.floor(fromMs / HOUR_MS) + 1) * HOUR_MS, endMs);
      for (const row of rows.iterate(fromMs, nextMs)) {
        sums.add(row as unknown as LedgerValues);
        count += 1;
      }
    } while (count > 0 && count < MIN_ROWS && nextMs < endMs && nextMs % DAY_MS !== 0);
    write(sums.byTable(ids));
    goOn.run(nextMs);
    return nextMs;
  };
  return () => {
    database.exec("begin immediate");
    try {
      const untilMs = fillNext();
      database.exec("commit");
      return untilMs;
    } catch (error) {
      ids.forget();
      if (database.isTransaction) database.exec("rollback");
      throw error;
    }
  };
}
