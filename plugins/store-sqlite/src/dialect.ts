/**
 * Kysely over `node:sqlite`: its SQLite dialect, with statements run by whatever has the
 * connection.
 */

import type { SQLInputValue } from "node:sqlite";
import { type Schema, StatementDriver } from "@sluice/store-sql";
import { Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from "kysely";
import type { RunStatement } from "./statements.ts";

/**
 * A query builder whose statements are run by `run`. The database's owner closes it, kysely does
 * not.
 */
export function createKysely(run: RunStatement): Kysely<Schema> {
  return new Kysely<Schema>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      // Only the builder's own parameters arrive here, and the tables' types make them values that
      // SQLite can hold.
      createDriver: () =>
        new StatementDriver((text, parameters) =>
          run(text, parameters as readonly SQLInputValue[]),
        ),
      createIntrospector: (database) => new SqliteIntrospector(database),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
}
