/** Reads spend rows, newest first: by start, then request id, then attempt, all descending. */

import type { LedgerQuery, SpendRow } from "@sluice/contract";
import type { DatabaseSync, SQLInputValue, SQLOutputValue } from "node:sqlite";
import { LEDGER_COLUMNS } from "./columns.ts";
import { type CompletionTimes, createCompletionTimes } from "./completions.ts";
import { type Conditions, createStatementCache, idConditions } from "./filter.ts";
import { joinRows, queriesAtPlaces } from "@sluice/store-sql/rows";
import { readList, readObject } from "@sluice/store-sql/text";

type Columns = Record<string, SQLOutputValue>;

/** Makes the reader of an open database. An unknown `before` gives no rows. */
export function createLedgerRows(
  database: DatabaseSync,
): (query: LedgerQuery) => readonly SpendRow[] {
  // One statement for each combination of filters.
  const prepare = createStatementCache((sql) => database.prepare(sql));
  const completionTimes = createCompletionTimes(database);

  const read = (query: LedgerQuery): readonly SpendRow[] => {
    const { terms, parameters } = conditions(query, completionTimes);
    const where = terms.length === 0 ? "" : `where ${terms.join(" and ")}`;
    const statement = prepare(
      `select ${LEDGER_COLUMNS.join(", ")} from ledger ${where}
       order by started_at_ms desc, request_id desc, attempt desc limit ?`,
    );
    return statement.all(...parameters, Math.max(0, Math.trunc(query.limit))).map(toRow);
  };
  return (query) =>
    queriesAtPlaces(query)
      .map(read)
      .reduce((found, more) => joinRows(found, more, query.limit, isNewer), []);
}

function isNewer(one: SpendRow, other: SpendRow): boolean {
  if (one.startedAtMs !== other.startedAtMs) return one.startedAtMs > other.startedAtMs;
  if (one.requestId !== other.requestId) return one.requestId > other.requestId;
  return one.attempt > other.attempt;
}

function conditions(query: LedgerQuery, completionTimes: CompletionTimes): Conditions {
  const { terms, parameters, column } = idConditions(query, completionTimes);
  const add = (term: string, ...values: SQLInputValue[]): void => {
    terms.push(term);
    parameters.push(...values);
  };
  // Behind a cursor the cursor is a closer bound than `toMs` (5 ms against 22, measured with 50,000
  // newer rows in the range).
  const end = query.before === undefined ? column : "+";
  if (query.fromMs !== undefined) add(`${column}started_at_ms >= ?`, query.fromMs);
  if (query.toMs !== undefined) add(`${end}started_at_ms < ?`, query.toMs);
  if (query.before !== undefined) {
    const last = readCursor(query.before);
    add(
      `(started_at_ms, request_id, attempt) <
       ((select last.started_at_ms from ledger last where last.request_id = ? and last.attempt = ?), ?, ?)`,
      last.requestId,
      last.attempt,
      last.requestId,
      last.attempt,
    );
  }
  return { terms, parameters };
}

/** Reads `requestId:attempt`. The request id may hold colons of its own. */
function readCursor(cursor: string): { requestId: string; attempt: number } {
  const colon = cursor.lastIndexOf(":");
  return {
    requestId: cursor.slice(0, Math.max(0, colon)),
    attempt: Number(cursor.slice(colon + 1)),
  };
}

function toRow(row: Columns): SpendRow {
  return {
    requestId: String(row["request_id"]),
    attempt: Number(row["attempt"]),
    callType: textOr(row["call_type"], ""),
    keyId: textOr(row["key_id"], ""),
    keyAlias: text(row["key_alias"]),
    userId: text(row["user_id"]),
    teamId: text(row["team_id"]),
    organizationId: text(row["organization_id"]),
    endUser: text(row["end_user"]),
    model: textOr(row["model"], ""),
    targetId: text(row["target_id"]),
    modelGroup: text(row["model_group"]),
    provider: text(row["provider"]),
    status: textOr(row["status"], "failure") as SpendRow["status"],
    errorCode: text(row["error_code"]),
    promptTokens: number(row["prompt_tokens"]),
    completionTokens: number(row["completion_tokens"]),
    totalTokens: number(row["total_tokens"]),
    cachedTokens: number(row["cached_tokens"]),
    reasoningTokens: number(row["reasoning_tokens"]),
    usageSource: text(row["usage_source"]) as SpendRow["usageSource"],
    costNanoUsd: number(row["cost_nano_usd"]),
    costStatus: textOr(row["cost_status"], "unpriced") as SpendRow["costStatus"],
    cacheHit: row["cache_hit"] === 1,
    startedAtMs: number(row["started_at_ms"]) ?? 0,
    firstContentAtMs: number(row["first_content_at_ms"]),
    endedAtMs: number(row["ended_at_ms"]) ?? 0,
    generation: number(row["generation"]) ?? 0,
    tags: readList(row["tags"]),
    metadata: readObject(row["metadata"]),
    clientAddress: text(row["client_address"]),
    upstreamRequestId: text(row["upstream_request_id"]),
    completionId: text(row["completion_id"]),
    ...(typeof row["requests"] === "number" && { requests: row["requests"] }),
  };
}

function text(value: SQLOutputValue | undefined): string | null {
  return typeof value === "string" ? value : null;
}

function textOr(value: SQLOutputValue | undefined, otherwise: string): string {
  return typeof value === "string" ? value : otherwise;
}

function number(value: SQLOutputValue | undefined): number | null {
  return typeof value === "number" ? value : null;
}
