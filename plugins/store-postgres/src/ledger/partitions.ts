/**
 * The partitions of the ledger: one for each UTC day of request ids. They are made ahead, and
 * attached, because `create table … partition of` locks the whole table.
 */

import { DatabaseError, type Pool } from "pg";
import { runCancellable } from "../cancel.ts";
import { inTransaction } from "../transaction.ts";
import { DAY_MS, dayName, firstIdOf } from "./days-of-ids.ts";

/** The advisory lock of those who make or drop partitions. */
const LOCK = 7_358_002;
const DUPLICATE_TABLE = "42P07";
const LOCK_NOT_AVAILABLE = "55P03";

/** The days that have a partition. */
export async function partitionDays(pool: Pick<Pool, "query">): Promise<ReadonlySet<string>> {
  const { rows } = await pool.query<{ name: string }>(
    `select child.relname as name from pg_inherits
     join pg_class child on child.oid = inhrelid
     where inhparent = 'ledger'::regclass`,
  );
  return new Set(rows.map(({ name }) => name.slice("ledger_".length)));
}

/**
 * Makes the partitions of some days. Returns whether all of them exist now: another process may be
 * making them, or a report may hold the table for longer than the wait for it.
 */
export async function makePartitions(pool: Pool, days: Iterable<number>): Promise<boolean> {
  const known = await partitionDays(pool);
  const missing = [...new Set(days)].filter((day) => !known.has(dayName(day)));
  let areAll = true;
  for (const day of missing) {
    // oxlint-disable-next-line no-await-in-loop -- each in a transaction of its own.
    if (!(await makePartition(pool, day))) areAll = false;
  }
  return areAll;
}

async function makePartition(pool: Pool, day: number): Promise<boolean> {
  const name = `ledger_${dayName(day)}`;
  const [from, to] = [firstIdOf(day * DAY_MS), firstIdOf((day + 1) * DAY_MS)];
  try {
    return await inTransaction(pool, async (client) => {
      const { rows } = await client.query<{ held: boolean }>(
        `select pg_try_advisory_xact_lock(${LOCK}) as held`,
      );
      if (rows[0]?.held !== true) return false;
      await client.query("set local lock_timeout = '2s'");
      await client.query(`create table ${name} (like ledger including all)`);
      await client.query(
        `alter table ledger attach partition ${name} for values from ('${from}') to ('${to}')`,
      );
      return true;
    });
  } catch (error) {
    const code = error instanceof DatabaseError ? error.code : undefined;
    if (code === DUPLICATE_TABLE) return true;
    if (code === LOCK_NOT_AVAILABLE) return false;
    throw error;
  }
}

/**
 * Drops the partitions of days of ids before one, each after it was detached. Returns the days that
 * were dropped. A process that dies in between leaves a table, or a partition whose detachment is
 * pending, which the next run finishes. Two at once do no harm: one of them rejects.
 */
export async function dropPartitions(
  pool: Pool,
  beforeDay: number,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const limit = `ledger_${dayName(beforeDay)}`;
  const { rows } = await pool.query<{ name: string; state: "attached" | "pending" | "detached" }>(
    `select relname as name, case when inhrelid is null then 'detached' when inhdetachpending then 'pending'
       else 'attached' end as state
     from pg_class left join pg_inherits on inhrelid = oid and inhparent = 'ledger'::regclass
     where relkind = 'r' and relname ~ '^ledger_[0-9]{8}$' and relname < $1 collate "C"
       and relnamespace = (select relnamespace from pg_class where oid = 'ledger'::regclass)
     order by inhdetachpending desc nulls last, relname`,
    [limit],
  );
  for (const { name, state } of rows) {
    signal.throwIfAborted();
    // `concurrently` takes no lock that a reader or writer waits for; it runs outside of
    // transactions.
    const how = { attached: "concurrently", pending: "finalize", detached: undefined }[state];
    if (how !== undefined) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other.
      await runCancellable(pool, `alter table ledger detach partition ${name} ${how}`, signal);
    }
    // oxlint-disable-next-line no-await-in-loop -- as above.
    await pool.query(`drop table ${name}`);
  }
  return rows.map(({ name }) => name.slice("ledger_".length));
}
