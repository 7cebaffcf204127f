/** The driver of a query builder whose statements are run by a function. */

import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from "kysely";

/** The result of a statement. */
export interface StatementResult {
  readonly rows: readonly unknown[];
  /** Rows that were changed; `undefined` for a statement that returns rows. */
  readonly changes: number | undefined;
}

/**
 * One connection for all: statements are single, and the function that runs them has its own way to
 * a connection.
 */
export class StatementDriver implements Driver {
  readonly #connection: DatabaseConnection;

  constructor(run: (sql: string, parameters: readonly unknown[]) => Promise<StatementResult>) {
    this.#connection = {
      async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
        const { rows, changes } = await run(sql, parameters);
        return {
          rows: rows as R[],
          ...(changes !== undefined && { numAffectedRows: BigInt(changes) }),
        };
      },
      // oxlint-disable-next-line require-yield -- there is nothing to yield.
      async *streamQuery(): AsyncGenerator<never> {
        throw new Error("a store reads no streams");
      },
    };
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection;
  }

  async beginTransaction(): Promise<void> {
    throw new Error("every change is one statement, or a list of them");
  }

  async commitTransaction(): Promise<void> {}

  async rollbackTransaction(): Promise<void> {}

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {}
}
