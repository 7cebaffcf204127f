/**
 * Reads the log of changes. A sequence has gaps: a lower number may be committed after a higher
 * one. So a read returns the rows whose transactions the snapshot of the last read did not have,
 * and that of this read has. Each change is in one read, whatever the order of the commits.
 */

import type { ChangeListener, ChangeLog, RecordChange, RecordChanges } from "@sluice/contract";
import type { Pool, PoolClient } from "pg";

/** The place of a read: its snapshot, and the server that it belongs to. */
interface Place {
  readonly snapshot: string;
  readonly server: string;
}

interface Found extends Place {
  readonly is_lost: boolean;
  readonly kind: string | null;
  readonly ids: readonly string[] | null;
}

/** Changes that one read or transaction returns. More of them stand for all records. */
const MAX_CHANGES = 5_000;

/**
 * `is_lost`: rows that the last read had not seen may have been pruned; or the server was restarted
 * or is another one: what it committed last may be gone, and its transactions may be numbered anew.
 */
const READ = `with here as materialized (
    select pg_current_snapshot() as snapshot, pg_postmaster_start_time()::text as server)
  select here.snapshot::text as snapshot, here.server, change.kind, change.ids,
    $1::pg_snapshot is null or here.server <> $2 or pg_snapshot_xmax(here.snapshot) < pg_snapshot_xmax($1::pg_snapshot)
      or pg_snapshot_xmin($1::pg_snapshot)::text::bigint <= (select xid from record_change_pruned) as is_lost
  from here left join lateral (
    select kind, ids from record_change
    where xid >= pg_snapshot_xmin($1::pg_snapshot)::text::bigint
      and not pg_visible_in_snapshot(xid::text::xid8, $1::pg_snapshot)
      and xid <> all ($3::bigint[])
    limit ${MAX_CHANGES + 1}) change on true`;

const OWN = `select kind, ids, xid from record_change
  where xid = pg_current_xact_id_if_assigned()::text::bigint limit ${MAX_CHANGES + 1}`;

/** What a transaction of this process has changed. */
export interface OwnChanges {
  readonly changes: RecordChanges;
  /** Absent: nothing. */
  readonly xid?: number | undefined;
}

/** The log, and what the writes of this process add to it. */
export interface PostgresChanges extends ChangeLog {
  /** Passes on that a change may have been committed. */
  wake(): void;
  /** Passes on what this process has written. */
  wrote(own: OwnChanges): void;
}

/** Makes the log. Its pool has one connection. */
export function createChangeLog(pool: Pick<Pool, "query">): PostgresChanges {
  const listeners = new Set<ChangeListener>();
  let last: Place | undefined;
  /** Transactions whose changes were passed on: a read leaves them out. */
  const own = new Set<number>();
  return {
    async read(signal) {
      signal.throwIfAborted();
      const known = [...own];
      const { rows } = await pool.query<Found>(READ, [
        last?.snapshot ?? null,
        last?.server ?? null,
        known,
      ]);
      signal.throwIfAborted();
      const [first] = rows;
      if (first === undefined) throw new Error("the log of changes returned no row");
      last = { snapshot: first.snapshot, server: first.server };
      for (const xid of known) own.delete(xid);
      return first.is_lost ? undefined : changesOf(rows);
    },
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    wake: () => listeners.forEach((listener) => listener.onWake()),
    wrote({ changes, xid }) {
      if (changes?.length === 0) return;
      if (xid !== undefined && listeners.size > 0) own.add(xid);
      listeners.forEach((listener) => listener.onWrite(changes));
    },
  };
}

/** The changes that the transaction of a connection has made so far. */
export async function changesWithin(client: PoolClient): Promise<OwnChanges> {
  const { rows } = await client.query<Pick<Found, "kind" | "ids"> & { readonly xid: number }>(OWN);
  return { changes: changesOf(rows), xid: rows[0]?.xid };
}

function changesOf(rows: readonly Pick<Found, "kind" | "ids">[]): RecordChanges {
  if (rows.length > MAX_CHANGES) return undefined;
  return rows.flatMap(({ kind, ids }): readonly RecordChange[] =>
    kind === null ? [] : [{ kind, ids: ids ?? undefined }],
  );
}

/** How long the log reaches back. */
const KEPT = "1 hour";
const PRUNED_AT_ONCE = 10_000;

/**
 * Deletes changes that are older than an hour, and notes up to where. Transactions that are still
 * under way keep those that began after them.
 */
export async function pruneChanges(pool: Pick<Pool, "query">): Promise<number> {
  const { rows } = await pool.query<{ readonly count: number }>(
    `with gone as (
       delete from record_change where seq in (
         select seq from record_change
         where at < clock_timestamp() - interval '${KEPT}'
           and xid < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
         order by seq limit ${PRUNED_AT_ONCE})
       returning xid),
     noted as (
       update record_change_pruned set xid = greatest(xid, (select coalesce(max(xid), 0) from gone))
       where exists (select 1 from gone))
     select count(*)::integer as count from gone`,
  );
  return rows[0]?.count ?? 0;
}
