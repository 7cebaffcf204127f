/** Deletes old rows, some in each transaction. Sums stay. */

import type { StoreJob } from "@sluice/contract";
import { DAY_MS } from "@sluice/store-sql/sums";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import type { RunTransaction } from "../statements.ts";

/** Rows of one transaction: others wait for it some ten milliseconds. */
const ROWS_AT_ONCE = 500;
const PAUSE_MS = 20;
const EVERY_MS = 3_600_000;

/** Prepares the question before which time rows may be gone; `-Infinity`: none are. */
export function createPrunedBefore(database: DatabaseSync): () => number {
  let read: StatementSync | undefined;
  return () => {
    read ??= database.prepare("select before_ms from ledger_pruned");
    return Number(read.get()?.["before_ms"] ?? -Infinity);
  };
}

/**
 * The job that deletes rows. `run` runs each transaction away from the event loop. The time is
 * noted before the first row goes: a row that comes again later is not counted twice.
 */
export function retentionJob(run: RunTransaction, now: () => number): StoreJob {
  return {
    name: "retention",
    everyMs: EVERY_MS,
    async run({ keepLedgerMs, signal }) {
      if (keepLedgerMs === undefined) return undefined;
      const beforeMs = Math.floor((now() - keepLedgerMs) / DAY_MS) * DAY_MS;
      await run([
        {
          sql: `insert into ledger_pruned (only_row, before_ms) values (1, ?)
            on conflict (only_row) do update set before_ms = max(before_ms, excluded.before_ms)`,
          parameters: [beforeMs],
        },
      ]);
      const deleteAll = async (sql: string): Promise<number> => {
        for (let deleted = 0; ; await pause(PAUSE_MS, undefined, { signal })) {
          signal.throwIfAborted();
          const [result] = await run([{ sql, parameters: [beforeMs] }]);
          const changes = result?.changes ?? 0;
          deleted += changes;
          if (changes < ROWS_AT_ONCE) return deleted;
        }
      };
      const deleted = await deleteAll(DELETE);
      await deleteAll(DELETE_BLOCKS);
      const day = new Date(beforeMs).toISOString().slice(0, 10);
      return deleted === 0 ? undefined : `deleted ${deleted} spend rows from before ${day}`;
    },
  };
}

const DELETE = `delete from ledger where (request_id, attempt) in (
  select request_id, attempt from ledger where started_at_ms < ? order by started_at_ms limit ${ROWS_AT_ONCE})`;

/** Blocks are about in the order of their times: the search ends at the first that stays. */
const DELETE_BLOCKS = `delete from completion_block where id in (
  select id from completion_block where id < ifnull(
    (select id from completion_block where last_ms >= ? order by id limit 1), ${Number.MAX_SAFE_INTEGER})
  order by id limit ${ROWS_AT_ONCE})`;
