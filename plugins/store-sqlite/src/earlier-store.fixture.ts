/** Files of earlier versions, for tests of upgrades. */

import type { DatabaseSync } from "node:sqlite";
import { Migrator } from "kysely/migration";
import { createKysely } from "./dialect.ts";
import { migrations } from "./migrations.ts";
import { openDatabase } from "./open-database.ts";
import { runHere } from "./statements.ts";

/**
 * Opens a file with the schema that it had before a migration, by the migration's name. The caller
 * closes it.
 */
export async function openEarlierStore(path: string, before: string): Promise<DatabaseSync> {
  const database = openDatabase(path, "normal");
  const earlier = Object.entries(migrations).filter(([name]) => name < before);
  const migrator = new Migrator({
    db: createKysely(runHere(database)),
    provider: { getMigrations: async () => Object.fromEntries(earlier) },
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
  return database;
}
