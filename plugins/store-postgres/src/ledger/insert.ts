/**
 * Writes rows: one statement of fixed text with an array for each column, and the sums of the rows
 * that were new in the same transaction.
 */

import { DatabaseError, type Pool, type PoolClient } from "pg";
import type { Log, SpendRow } from "@sluice/contract";
import { inTransaction } from "../transaction.ts";
import { LEDGER_COLUMNS } from "./columns.ts";
import { DAY_MS, dayOf, isUuid, timeOfId } from "./days-of-ids.ts";
import { makePartitions } from "./partitions.ts";
import { firstKeptDay, prunedBefore } from "./retention.ts";

/** The parts of the writer. */
export interface LedgerWriterParts {
  readonly pool: Pool;
  readonly log: Log;
  readonly now: () => number;
  /**
   * Prepares what the sums of rows need, and returns the function that adds those rows that were
   * new, in their transaction.
   */
  readonly prepareSums: (
    rows: readonly SpendRow[],
  ) => Promise<(client: PoolClient, fresh: readonly SpendRow[]) => Promise<void>>;
}

/** SQLSTATE of a row without a partition. */
const NO_PARTITION = "23514";
/** Rows further away in time get no partition of their own: their ids are no times. */
const MAX_DAYS_AWAY = 366;

const NAMES = LEDGER_COLUMNS.map(({ name }) => name).join(", ");
const ARRAYS = LEDGER_COLUMNS.map(({ type }, index) => `$${index + 1}::${type}[]`).join(", ");
const INSERT = `insert into ledger (${NAMES}) select * from unnest(${ARRAYS})
  on conflict (request_id, attempt) do nothing returning request_id, attempt`;

/** Makes the function that inserts rows, all of them or none. */
export function createLedgerWriter(
  parts: LedgerWriterParts,
): (rows: readonly SpendRow[]) => Promise<void> {
  return async (rows) => {
    const { fitting, others } = divide(rows, parts.now());
    if (others.length > 0) await setAside(others, parts);
    if (fitting.length === 0) return;
    try {
      await insertRows(fitting, parts);
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.code !== NO_PARTITION) throw error;
      await insertWithPartitions(fitting, parts);
    }
  };
}

/**
 * Inserts rows of which some have no partition: it is made now, or was dropped. Rows of a dropped
 * one may have been counted before, and are left out.
 */
async function insertWithPartitions(
  rows: readonly SpendRow[],
  parts: LedgerWriterParts,
): Promise<void> {
  const firstDay = firstKeptDay(await prunedBefore(parts.pool));
  const kept = rows.filter(({ requestId }) => dayOf(timeOfId(requestId)) >= firstDay);
  await makePartitions(
    parts.pool,
    kept.map(({ requestId }) => dayOf(timeOfId(requestId))),
  );
  if (kept.length > 0) await insertRows(kept, parts);
  if (kept.length === rows.length) return;
  parts.log.warn("spend rows are older than those that are kept (ledger.keep): they are left out", {
    rows: rows.length - kept.length,
  });
}

async function insertRows(
  rows: readonly SpendRow[],
  { pool, prepareSums }: LedgerWriterParts,
): Promise<void> {
  // In the order of their keys: two writers of the same rows wait for each other in one direction.
  const sorted = rows.toSorted(
    (a, b) => compare(a.requestId, b.requestId) || a.attempt - b.attempt,
  );
  const addToSums = await prepareSums(sorted);
  await inTransaction(pool, async (client) => {
    const values = LEDGER_COLUMNS.map(({ value }) => sorted.map(value));
    const { rows: added } = await client.query<{ request_id: string; attempt: number }>(
      INSERT,
      values,
    );
    const isNew = new Set(added.map(({ request_id: id, attempt }) => `${id}:${attempt}`));
    // Of two rows of one call in a batch the first is kept, and counts once.
    const fresh = sorted.filter(({ requestId, attempt }) =>
      isNew.delete(`${requestId.toLowerCase()}:${attempt}`),
    );
    if (fresh.length > 0) await addToSums(client, fresh);
  });
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Rows whose id is a time near now, and the others. */
function divide(
  rows: readonly SpendRow[],
  nowMs: number,
): { readonly fitting: readonly SpendRow[]; readonly others: readonly SpendRow[] } {
  const fits = ({ requestId }: SpendRow): boolean =>
    isUuid(requestId) && Math.abs(timeOfId(requestId) - nowMs) <= MAX_DAYS_AWAY * DAY_MS;
  return { fitting: rows.filter(fits), others: rows.filter((row) => !fits(row)) };
}

/** Rows that no partition can take are kept as they are, for a person to look at. */
async function setAside(
  rows: readonly SpendRow[],
  { pool, log }: LedgerWriterParts,
): Promise<void> {
  await pool.query(
    `insert into ledger_aside (request_id, attempt, row) select * from unnest($1::text[], $2::smallint[], $3::jsonb[])
     on conflict do nothing`,
    [
      rows.map(({ requestId }) => requestId),
      rows.map(({ attempt }) => attempt),
      rows.map((row) => JSON.stringify(row)),
    ],
  );
  log.error("spend rows have a request id that is not a recent time: they are in ledger_aside", {
    rows: rows.length,
    request_id: rows[0]?.requestId,
  });
}
