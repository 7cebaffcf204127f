/** Statements of a connection: prepared once, tried again while the file is locked. */

import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { type AuditEntry, GatewayError } from "@sluice/contract";
import type { StatementResult } from "@sluice/store-sql";
import { isBusy } from "./open-database.ts";

/** Statements kept prepared. More than this many different texts are not in use. */
const MAX_PREPARED = 64;

/** How long a read that finds the file locked is tried again, and how often, in milliseconds. */
const BUSY_MS = 2_000;
const BUSY_PAUSE_MS = 20;

export type { StatementResult } from "@sluice/store-sql";

/** Runs one statement. Rejects with an `Error` that has SQLite's `errcode`. */
export type RunStatement = (
  sql: string,
  parameters: readonly SQLInputValue[],
) => Promise<StatementResult>;

/**
 * Runs statements on a connection of this thread. One that finds the file locked is tried again,
 * between turns of the event loop.
 */
export function runHere(database: DatabaseSync): RunStatement {
  const runNow = statementsOf(database);
  return async (sql, parameters) => {
    const untilMs = performance.now() + BUSY_MS;
    for (;;) {
      try {
        return runNow(sql, parameters);
      } catch (error) {
        if (!isBusy(error)) throw error;
        if (performance.now() > untilMs) throw locked(error);
      }
      await pause(BUSY_PAUSE_MS);
    }
  };
}

/**
 * Several statements as one. Rejects as `RunStatement`, and none has an effect then. `audit` is the
 * line of the audit about what they change; without a change there is none. No statement at all:
 * the line alone.
 */
export type RunTransaction = (
  statements: readonly {
    readonly sql: string;
    readonly parameters: readonly SQLInputValue[];
  }[],
  audit?: AuditEntry,
) => Promise<readonly StatementResult[]>;

/** A connection of this thread, which no other task uses meanwhile. */
export interface Writing {
  readonly database: DatabaseSync;
  readonly run: ReturnType<typeof statementsOf>;
  readonly append: (entry: AuditEntry) => void;
}

/** Runs statements in one transaction. */
export function inTransaction(
  { database, run, append }: Writing,
  statements: Parameters<RunTransaction>[0],
  audit: AuditEntry | undefined,
): readonly StatementResult[] {
  database.exec("begin immediate");
  try {
    const results = statements.map(({ sql, parameters }) => run(sql, parameters));
    const isChange = results.some(({ rows, changes = 0 }) => rows.length + changes > 0);
    if (audit !== undefined && (isChange || statements.length === 0)) append(audit);
    database.exec("commit");
    return results;
  } catch (error) {
    if (database.isTransaction) database.exec("rollback");
    throw error;
  }
}

interface Prepared {
  readonly statement: StatementSync;
  readonly hasRows: boolean;
}

/** Runs statements of an open database, and keeps them prepared. */
export function statementsOf(
  database: DatabaseSync,
): (sql: string, parameters: readonly SQLInputValue[]) => StatementResult {
  const prepared = new Map<string, Prepared>();
  return (sql, parameters) => {
    let found = prepared.get(sql);
    if (found === undefined) {
      const statement = database.prepare(sql);
      found = { statement, hasRows: statement.columns().length > 0 };
      if (prepared.size >= MAX_PREPARED) prepared.clear();
      prepared.set(sql, found);
    }
    const { statement, hasRows } = found;
    if (hasRows) return { rows: statement.all(...parameters), changes: undefined };
    return { rows: [], changes: Number(statement.run(...parameters).changes) };
  };
}

/** The error of a call while another process holds the file. */
export function locked(cause: unknown): GatewayError {
  return new GatewayError("overloaded", "The store is locked by another process.", {
    retryAfterMs: 1_000,
    cause,
  });
}
