/**
 * Drops the partitions of old rows. Sums stay. A row begins within a day of its id: all rows of the
 * partition before the last day that is kept are older than it.
 */

import type { StoreJob } from "@sluice/contract";
import type { Pool } from "pg";
import { DAY_MS } from "./days-of-ids.ts";
import { dropPartitions } from "./partitions.ts";

const EVERY_MS = 3_600_000;

/** Rows that started before the returned time may be gone; `-Infinity`: none are. */
export async function prunedBefore(pool: Pick<Pool, "query">): Promise<number> {
  const { rows } = await pool.query<{ readonly before: number }>(
    "select before_ms as before from ledger_pruned",
  );
  return rows[0]?.before ?? -Infinity;
}

/** The first day of ids whose partition is kept. */
export function firstKeptDay(beforeMs: number): number {
  return Math.floor(beforeMs / DAY_MS) - 1;
}

/**
 * The job that drops partitions. The time is noted before the first one goes: a row that comes
 * again later is not counted twice.
 */
export function retentionJob(pool: Pool, now: () => number): StoreJob {
  return {
    name: "retention",
    everyMs: EVERY_MS,
    async run({ keepLedgerMs, signal }) {
      if (keepLedgerMs === undefined) return undefined;
      const beforeMs = Math.floor((now() - keepLedgerMs) / DAY_MS) * DAY_MS;
      await pool.query(
        `insert into ledger_pruned (before_ms) values ($1) on conflict (only_row)
         do update set before_ms = greatest(ledger_pruned.before_ms, excluded.before_ms)`,
        [beforeMs],
      );
      const dropped = await dropPartitions(pool, firstKeptDay(beforeMs), signal);
      return dropped.length === 0 ? undefined : `dropped the spend rows of ${dropped.join(", ")}`;
    },
  };
}
