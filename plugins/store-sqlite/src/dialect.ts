/**
 * Kysely over `node:sqlite`: its SQLite dialect, with statements run by whatever has the
 * connection.
 */

import type { SQLInputValue } from "node:sqlite";
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
import type { Schema } from "@sluice/store-sql";
import type { RunStatement } from "./statements.ts";

/**
 * A query builder whose statements are run by `run`. The database's owner closes it, kysely does
 * not.
 */
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

/**
 * One connection for all: statements are single, and the thread that runs them takes them in turn.
 */
class StatementDriver implements Driver {
  readonly #connection: DatabaseConnection;

  constructor(run: RunStatement) {
    this.#connection = {
      async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
        // Only the builder's own parameters arrive here, and the tables' types make them values
        // that SQLite can hold.
        const { rows, changes } = await run(sql, parameters as readonly SQLInputValue[]);
        return {
          rows: rows as R[],
          ...(changes !== undefined && { numAffectedRows: BigInt(changes) }),
        };
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
