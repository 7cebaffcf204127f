/** Reads spend rows, newest first: by request id, then attempt, both descending. */

import type { LedgerQuery, SpendRow } from "@sluice/contract";
import { LEDGER_COLUMNS, type LedgerRecord, rowOf } from "./columns.ts";
import { conditionsOf, readCursor } from "./filter.ts";
import { joinRows, queriesAtPlaces } from "@sluice/store-sql/rows";
import type { Reading } from "./read.ts";

const NAMES = LEDGER_COLUMNS.map(({ name }) => name).join(", ");

/** The rows of a query. A cursor of no row gives none. */
export async function readRows(reading: Reading, query: LedgerQuery): Promise<readonly SpendRow[]> {
  let found: readonly SpendRow[] = [];
  for (const one of queriesAtPlaces(query))
    found = joinRows(found, await readPlace(reading, one), query.limit, isNewer);
  return found;
}

function isNewer(one: SpendRow, other: SpendRow): boolean {
  return one.requestId === other.requestId
    ? one.attempt > other.attempt
    : one.requestId > other.requestId;
}

async function readPlace(reading: Reading, query: LedgerQuery): Promise<readonly SpendRow[]> {
  const conditions = conditionsOf(query);
  if (query.before !== undefined) {
    const last = readCursor(query.before);
    if (last === undefined) return [];
    conditions.add("(request_id, attempt) < (?::uuid, ?::smallint)", last.requestId, last.attempt);
  }
  const limit = Math.max(0, Math.trunc(query.limit));
  const { rows } = await reading.query<LedgerRecord>(
    `select ${NAMES} from ledger where ${conditions.where}
     order by request_id desc, attempt desc limit ${limit}`,
    conditions.parameters,
  );
  return rows.map(rowOf);
}
