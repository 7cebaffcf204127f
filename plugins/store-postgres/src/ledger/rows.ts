/** Reads spend rows, newest first: by request id, then attempt, both descending. */

import type { LedgerQuery, SpendRow } from "@sluice/contract";
import { LEDGER_COLUMNS, type LedgerRecord, rowOf } from "./columns.ts";
import { timeOfId } from "./days-of-ids.ts";
import { conditionsOf, readCursor } from "./filter.ts";
import { joinRows, queriesAtPlaces } from "@sluice/store-sql/rows";
import type { Reading } from "./read.ts";
import { addWindow, windowsBefore } from "./windows.ts";

const NAMES = LEDGER_COLUMNS.map(({ name }) => name).join(", ");

/** The rows of a query. A cursor of no row gives none. */
export async function readRows(
  reading: Reading,
  query: LedgerQuery,
  nowMs: number,
): Promise<readonly SpendRow[]> {
  let found: readonly SpendRow[] = [];
  for (const one of queriesAtPlaces(query))
    found = joinRows(found, await readPlace(reading, one, nowMs), query.limit, isNewer);
  return found;
}

function isNewer(one: SpendRow, other: SpendRow): boolean {
  return one.requestId === other.requestId
    ? one.attempt > other.attempt
    : one.requestId > other.requestId;
}

async function readPlace(
  reading: Reading,
  query: LedgerQuery,
  nowMs: number,
): Promise<readonly SpendRow[]> {
  const last = query.before === undefined ? undefined : readCursor(query.before);
  if (query.before !== undefined && last === undefined) return [];
  const { requestId, completionId, fromMs = -Infinity, toMs = Infinity } = query;
  const limit = Math.max(0, Math.trunc(query.limit));
  const isOne = requestId !== undefined || completionId !== undefined;
  const newestMs = Math.min(nowMs, toMs, last === undefined ? Infinity : timeOfId(last.requestId));
  const found: SpendRow[] = [];
  for (const window of isOne ? [{}] : windowsBefore(newestMs, fromMs)) {
    const conditions = conditionsOf(query);
    if (last !== undefined)
      conditions.add(
        "request_id <= ?::uuid and (request_id, attempt) < (?::uuid, ?::smallint)",
        last.requestId,
        last.requestId,
        last.attempt,
      );
    addWindow(conditions, window);
    // oxlint-disable-next-line no-await-in-loop -- the next one only where rows are missing.
    const { rows } = await reading.query<LedgerRecord>(
      `select ${NAMES} from ledger where ${conditions.where}
       order by request_id desc, attempt desc limit ${limit - found.length}`,
      conditions.parameters,
    );
    found.push(...rows.map(rowOf));
    if (found.length >= limit) break;
  }
  return found;
}
