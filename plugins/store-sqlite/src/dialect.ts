/** Kysely over `node:sqlite`: its SQLite dialect, with statements run by whatever has the connection. */

import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { GatewayError } from "@sluice/contract";
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import { isBusy } from "./open-database.ts";
import type { Schema } from "./schema.ts";

/** Statements kept prepared. More than this many different texts are not in use. */
const MAX_PREPARED = 64;

/** How long a read that finds the file locked is tried again, and how often, in milliseconds. */
const BUSY_MS = 2_000;
const BUSY_PAUSE_MS = 20;

/** The result of a statement. */
export interface StatementResult {
  readonly rows: readonly unknown[];
  /** Rows that were changed; `undefined` for a statement that returns rows. */
  readonly changes: number | undefined;
}

/** Runs one statement. Rejects with an `Error` that has SQLite's `errcode`. */
export type RunStatement = (sql: string, parameters: readonly SQLInputValue[]) => Promise<StatementResult>;

/** A query builder whose statements are run by `run`. The database's owner closes it, kysely does not. */
export function createKysely(run: RunStatement): Kysely<Schema> {
  return new Kysely<Schema>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new StatementDriver(run),
      createIntrospector: (database) => new SqliteIntrospector(database),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
}

/** Runs statements on a connection of this thread. One that finds the file locked is tried again, between turns of the event loop. */
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

/** Runs statements of an open database, and keeps them prepared. */
export function statementsOf(database: DatabaseSync): (sql: string, parameters: readonly SQLInputValue[]) => StatementResult {
  const prepared = new Map<string, StatementSync>();
  return (sql, parameters) => {
    let statement = prepared.get(sql);
    if (statement === undefined) {
      statement = database.prepare(sql);
      if (prepared.size >= MAX_PREPARED) prepared.clear();
      prepared.set(sql, statement);
    }
    if (statement.columns().length > 0) return { rows: statement.all(...parameters), changes: undefined };
    return { rows: [], changes: Number(statement.run(...parameters).changes) };
  };
}

/** The error of a call while another process holds the file. */
export function locked(cause: unknown): GatewayError {
  return new GatewayError("overloaded", "The store is locked by another process.", { retryAfterMs: 1_000, cause });
}

/** One connection for all: statements are single, and the thread that runs them takes them in turn. */
class StatementDriver implements Driver {
  readonly #connection: DatabaseConnection;

  constructor(run: RunStatement) {
    this.#connection = {
      async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
        // Only the builder's own parameters arrive here, and the tables' types make them values that SQLite can hold.
        const { rows, changes } = await run(sql, parameters as readonly SQLInputValue[]);
        return { rows: rows as R[], ...(changes !== undefined && { numAffectedRows: BigInt(changes) }) };
      },
      // oxlint-disable-next-line require-yield -- there is nothing to yield.
      async *streamQuery(): AsyncGenerator<never> {
        throw new Error("the sqlite store reads no streams");
      },
    };
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection;
  }

  async beginTransaction(): Promise<void> {
    throw new Error("every change of the sqlite store is one statement");
  }

  async commitTransaction(): Promise<void> {}

  async rollbackTransaction(): Promise<void> {}

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {}
}
