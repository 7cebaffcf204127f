/** The schema of a database without its store: what a start would change, and the change alone. */

import type { Log, StoreSchema, SumsCheck } from "@sluice/contract";
import { type Connections, connect } from "../connections.ts";
import { CHECK_MS } from "../jobs.ts";
import { compareSums, type VerifiedSpan } from "../ledger/sums/verify.ts";
import type { PostgresConfig } from "../config.ts";
import {
  pendingMigrations,
  refuseNewer,
  runMigrations,
  type SchemaVersion,
  schemaVersion,
} from "./migrate.ts";
import { MIGRATIONS } from "./migrations.ts";

const OWN = MIGRATIONS.at(-1)?.version ?? 0;

/** How the schema of a database stands to this version. Changes nothing. */
export async function inspectSchema(config: PostgresConfig, log: Log): Promise<StoreSchema> {
  return connected(config, log, async ({ reports }) => stateOf(await schemaVersion(reports)));
}

/**
 * Runs the pending migrations, also while gateways serve. Returns the names of those that it ran.
 * Throws `Error` for a schema that is too new, and the signal's reason.
 */
export async function migrateSchema(
  config: PostgresConfig,
  log: Log,
  signal: AbortSignal,
): Promise<readonly string[]> {
  return connected(config, log, async ({ migrations: pool }) => {
    refuseNewer(await schemaVersion(pool), OWN);
    return runMigrations({ pool, migrations: MIGRATIONS, log, signal });
  });
}

/** Compares the sums of a database with its rows. Throws `Error` for a schema that is older. */
export async function verifySums(
  config: PostgresConfig,
  log: Log,
  span: VerifiedSpan,
  signal: AbortSignal,
): Promise<SumsCheck> {
  return connected(config, log, async ({ jobs: pool }) => {
    const found = await schemaVersion(pool);
    refuseNewer(found, OWN);
    if (found.version < OWN)
      throw new Error("the schema is older than this version: run sluice migrate");
    return compareSums({ pool, deadlineMs: CHECK_MS }, span, signal);
  });
}

function stateOf(found: SchemaVersion): StoreSchema {
  if (found.oldestThatWorks > OWN) return { state: "newer", changes: [`version ${found.version}`] };
  if (found.version === 0) return { state: "none", changes: [] };
  const pending = pendingMigrations(found, MIGRATIONS).map(({ name }) => name);
  return { state: pending.length > 0 ? "older" : "current", changes: pending };
}

async function connected<T>(
  config: PostgresConfig,
  log: Log,
  work: (connections: Connections) => Promise<T>,
): Promise<T> {
  const { url, pooler, connections } = config;
  // The schema is that of the database that is written to: a replica may be behind it.
  const opened = connect({ url: url.reveal(), pooler, connections, log });
  try {
    return await work(opened);
  } finally {
    await opened.end();
  }
}
