/** Kysely over `node:sqlite`: its SQLite dialect, given a database that looks like the one it expects. */

import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { Kysely, SqliteDialect } from "kysely";
import type { SqliteDatabase, SqliteStatement } from "kysely";
import type { Schema } from "./schema.ts";

/** Statements kept prepared. More than this many different texts are not in use. */
const MAX_PREPARED = 64;

/** A query builder on an open database. The database's owner closes it, kysely does not. */
export function createKysely(database: DatabaseSync): Kysely<Schema> {
  return new Kysely<Schema>({ dialect: new SqliteDialect({ database: adaptDatabase(database) }) });
}

function adaptDatabase(database: DatabaseSync): SqliteDatabase {
  const prepared = new Map<string, SqliteStatement>();
  return {
    close: () => {},
    prepare(sql) {
      let statement = prepared.get(sql);
      if (statement === undefined) {
        statement = adaptStatement(database.prepare(sql));
        if (prepared.size >= MAX_PREPARED) prepared.clear();
        prepared.set(sql, statement);
      }
      return statement;
    },
  };
}

/** Only the builder's own parameters arrive here, and the tables' types make them values that SQLite can hold. */
function adaptStatement(statement: StatementSync): SqliteStatement {
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => statement.all(...(parameters as SQLInputValue[])),
    run: (parameters) => statement.run(...(parameters as SQLInputValue[])),
    iterate: (parameters) => statement.iterate(...(parameters as SQLInputValue[])),
  };
}
