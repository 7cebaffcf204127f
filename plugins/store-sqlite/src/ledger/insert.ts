/**
 * Writes spend rows: one prepared statement, one transaction. Kysely would cost several times the
 * insert itself.
 */

import type { SpendRow } from "@sluice/contract";
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { LEDGER_COLUMNS } from "./columns.ts";
import { createCompletionWriter } from "./completions.ts";
import { toJsonText, withoutNul } from "@sluice/store-sql/text";
import { columnsOf, createGuardrailWriter } from "./guardrails.ts";
import { createPrunedBefore } from "./prune.ts";
import { AT, type LedgerValues } from "./sums/amounts.ts";
import { SumsOfRows } from "./sums/collect.ts";
import { createFillGuard } from "./sums/fill.ts";
import { createSumIds } from "./sums/ids.ts";
import { createSumsWriter } from "./sums/write.ts";

/**
 * Prepares the insert on an open database. The function it returns inserts all rows or throws and
 * inserts none; a row whose `(requestId, attempt)` is there stays as it is. The sums change in the
 * same transaction. It returns the number of rows that were left out, because rows of their time
 * were deleted.
 */
export function createLedgerInsert(
  database: DatabaseSync,
): (rows: readonly LedgerValues[]) => number {
  // Not `insert or ignore`: that would also drop, without a word, a row that breaks any other
  // constraint.
  const insert = database.prepare(
    `insert into ledger (${LEDGER_COLUMNS.join(", ")}) values (${LEDGER_COLUMNS.map(() => "?").join(", ")})
     on conflict (request_id, attempt) do nothing`,
  );
  const ids = createSumIds(database);
  const writeSums = createSumsWriter(database);
  const writeCompletions = createCompletionWriter(database);
  const writeGuardrails = createGuardrailWriter(database);
  const fillGuard = createFillGuard(database);
  const prunedBefore = createPrunedBefore(database);
  const begin = database.prepare("begin immediate");
  const commit = database.prepare("commit");

  return (rows) => {
    if (rows.length === 0) return 0;
    begin.run();
    try {
      const isLeftToFill = fillGuard();
      const beforeMs = prunedBefore();
      const kept = rows.filter((row) => Number(row[AT.started_at_ms] ?? beforeMs) >= beforeMs);
      const sums = new SumsOfRows();
      const fresh = kept.filter((row) => insert.run(...columnsOf(row)).changes > 0);
      for (const row of fresh) if (!isLeftToFill(row)) sums.add(row);
      writeSums(sums.byTable(ids));
      writeCompletions(fresh);
      writeGuardrails(fresh);
      commit.run();
      return rows.length - kept.length;
    } catch (error) {
      ids.forget();
      // A full disk ends the transaction by itself; then there is nothing to roll back.
      if (database.isTransaction) database.exec("rollback");
      throw error;
    }
  };
}

/**
 * The values of a row, in the order of `LEDGER_COLUMNS`; a test writes and reads a row with all
 * different values.
 */
export function ledgerValues(row: SpendRow): LedgerValues {
  return [
    withoutNul(row.requestId),
    row.attempt,
    text(row.callType),
    text(row.keyId),
    text(row.keyAlias),
    text(row.userId),
    text(row.teamId),
    text(row.endUser),
    text(row.model),
    text(row.targetId),
    text(row.modelGroup),
    text(row.provider),
    text(row.status),
    text(row.errorCode),
    number(row.promptTokens),
    number(row.completionTokens),
    number(row.totalTokens),
    number(row.cachedTokens),
    number(row.reasoningTokens),
    text(row.usageSource),
    number(row.costNanoUsd),
    text(row.costStatus),
    row.cacheHit ? 1 : 0,
    number(row.startedAtMs),
    number(row.firstContentAtMs),
    number(row.endedAtMs),
    number(row.generation),
    row.tags === undefined || row.tags.length === 0 ? null : toJsonText(row.tags),
    json(row.metadata),
    text(row.clientAddress),
    number(row.requests),
    text(row.upstreamRequestId),
    text(row.completionId),
    text(row.organizationId),
  ];
}

/** The values of a row, with what it adds to the sums of guardrails behind them. */
export function valuesWithCounts(row: SpendRow): LedgerValues {
  const values = ledgerValues(row);
  return row.judged == null ? values : [...values, JSON.stringify(row.judged)];
}

// Rows may have waited in an outbox that another version wrote, so a member may be missing whatever
// its type says.

function text(value: string | null | undefined): SQLInputValue {
  return typeof value === "string" ? withoutNul(value) : null;
}

function number(value: number | null | undefined): SQLInputValue {
  return typeof value === "number" ? value : null;
}

/** Most rows have no metadata: null costs a byte and no parse. */
function json(value: Readonly<Record<string, unknown>> | undefined): SQLInputValue {
  if (value === undefined || value === null) return null;
  const written = toJsonText(value);
  return written === "{}" ? null : written;
}
