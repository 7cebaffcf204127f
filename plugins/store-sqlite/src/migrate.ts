/**
 * Brings the schema up to date, all of it or nothing, and refuses a schema that a newer version
 * wrote.
 */

import type { DatabaseSync } from "node:sqlite";
import type { Kysely } from "kysely";
import { Migrator } from "kysely/migration";
import { migrations } from "./migrations.ts";
import { explainOpenError } from "./open-database.ts";
import type { Schema } from "@sluice/store-sql";

/**
 * Runs the migrations that the file has not seen, in one transaction. Two processes that start at
 * once take turns. Throws `Error`, and leaves the file as it was, when the schema is newer than
 * this version or a migration fails.
 */
export async function migrate(
  database: DatabaseSync,
  kysely: Kysely<Schema>,
  path: string,
): Promise<void> {
  try {
    // Kysely runs SQLite migrations without a transaction. There is one connection, so this one
    // holds around them.
    database.exec("begin immediate");
    refuseNewerSchema(database, path);
    const migrator = new Migrator({
      db: kysely,
      provider: { getMigrations: async () => migrations },
    });
    const { error } = await migrator.migrateToLatest();
    if (error !== undefined) throw explainOpenError(error, path);
    database.exec("commit");
  } catch (error) {
    if (database.isTransaction) database.exec("rollback");
    throw error instanceof NewerSchemaError ? error : explainOpenError(error, path);
  }
}

class NewerSchemaError extends Error {}

/** The changes of a file's schema that this version does not know, and those that it would make. */
export function schemaChanges(database: DatabaseSync): {
  readonly unknown: readonly string[];
  readonly pending: readonly string[];
} {
  const known = database
    .prepare("select 1 from sqlite_master where type = 'table' and name = 'kysely_migration'")
    .get();
  const rows =
    known === undefined
      ? []
      : database.prepare("select name from kysely_migration order by name").all();
  const applied = rows.map(({ name }) => String(name));
  return {
    unknown: applied.filter((name) => !Object.hasOwn(migrations, name)),
    pending: Object.keys(migrations).filter((name) => !applied.includes(name)),
  };
}

function refuseNewerSchema(database: DatabaseSync, path: string): void {
  const { unknown } = schemaChanges(database);
  if (unknown.length === 0) return;
  throw new NewerSchemaError(
    `the store file ${path} was written by a newer version: this one does not know its schema changes ` +
      `${unknown.join(", ")}. Start the newer version, or put a copy from before the upgrade in the file's place.`,
  );
}
