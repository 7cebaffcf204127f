/**
 * Brings the schema up to date: forward only, one step in a transaction. Several gateways may start
 * at once; a gateway of another version may be serving.
 */

import { setTimeout as pause } from "node:timers/promises";
import type { Log } from "@sluice/contract";
import { DatabaseError, type Pool, type PoolClient, type QueryConfig } from "pg";
import { inTransaction } from "../transaction.ts";
import type { Migration } from "./migration.ts";

/** The schema's version in the database; 0 before the first migration. */
export interface SchemaVersion {
  readonly version: number;
  /** Gateways below it must not run. */
  readonly oldestThatWorks: number;
}

/** What to do with a schema that is older than this gateway: `migrate` says it in YAML. */
export type MigrateMode = "auto" | "wait" | "off";

/** The parts of a migration run. */
export interface MigrateParts {
  readonly pool: Pool;
  readonly migrations: readonly Migration[];
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** The advisory lock of migrations, a number that nothing else of the gateway uses. */
const LOCK = 7_358_001;
const WAIT_MS = 200;
const MAX_WAIT_MS = 2_000;
/** A step that waits for a lock holds up every query behind it: it gives up and tries again. */
const LOCK_TIMEOUT = "2s";

/** SQLSTATE of what passes by itself: a lock that is held, a deadlock, a serialization failure. */
const PASSING: ReadonlySet<string> = new Set(["55P03", "40P01", "40001"]);
const UNDEFINED_TABLE = "42P01";

/** Reads the version. */
export async function schemaVersion(pool: Pick<Pool, "query">): Promise<SchemaVersion> {
  try {
    const { rows } = await pool.query<{ version: number; oldest: number }>(
      "select version, oldest_that_works as oldest from schema_meta",
    );
    const [row] = rows;
    return { version: row?.version ?? 0, oldestThatWorks: row?.oldest ?? 0 };
  } catch (error) {
    if (error instanceof DatabaseError && error.code === UNDEFINED_TABLE)
      return { version: 0, oldestThatWorks: 0 };
    throw error;
  }
}

/** The migrations that a version lacks, in their order. */
export function pendingMigrations(
  { version }: SchemaVersion,
  migrations: readonly Migration[],
): readonly Migration[] {
  return migrations.filter((migration) => migration.version > version);
}

/**
 * Makes the schema fit this gateway, or waits until another process has. Throws `Error` when the
 * schema is too new for it, when it is older and `mode` is `off`, and with the signal's reason.
 */
export async function prepareSchema(mode: MigrateMode, parts: MigrateParts): Promise<void> {
  const { pool, migrations, signal } = parts;
  const own = migrations.at(-1)?.version ?? 0;
  if (mode === "auto") await runMigrations(parts);
  for (let waitMs = WAIT_MS; ; waitMs = Math.min(2 * waitMs, MAX_WAIT_MS)) {
    // oxlint-disable-next-line no-await-in-loop -- asks until it is so.
    const found = await schemaVersion(pool);
    refuseNewer(found, own);
    if (found.version >= own) return;
    if (mode === "off")
      throw new Error(
        `the schema has version ${found.version}, and this gateway needs ${own}. Run sluice migrate, or start one gateway with store.migrate: auto.`,
      );
    // oxlint-disable-next-line no-await-in-loop -- as above.
    await pause(waitMs, undefined, { signal });
  }
}

/**
 * Runs the pending migrations. Returns the names of those that this process ran: another one may
 * run some of them at the same time.
 */
export async function runMigrations(parts: MigrateParts): Promise<readonly string[]> {
  const { signal, log } = parts;
  const ran: string[] = [];
  for (let waitMs = WAIT_MS; ; waitMs = Math.min(2 * waitMs, MAX_WAIT_MS)) {
    signal.throwIfAborted();
    // oxlint-disable-next-line no-await-in-loop -- one step after the other.
    const step = await nextStep(parts);
    if (step === "done") return ran;
    if (step !== "busy") {
      ran.push(step.name);
      log.info("the schema was migrated", { version: step.version, migration: step.name });
      waitMs = WAIT_MS;
      continue;
    }
    // The pause is outside of any statement: a session that waits inside one holds a snapshot.
    // oxlint-disable-next-line no-await-in-loop -- as above.
    await pause(waitMs * (0.5 + Math.random()), undefined, { signal });
  }
}

/** Runs the next pending migration, in one transaction with the new version. */
async function nextStep({ pool, migrations }: MigrateParts): Promise<Migration | "busy" | "done"> {
  try {
    return await inTransaction(pool, async (client) => stepWithin(client, migrations));
  } catch (error) {
    if (error instanceof DatabaseError && PASSING.has(error.code ?? "")) return "busy";
    throw error;
  }
}

async function stepWithin(
  client: PoolClient,
  migrations: readonly Migration[],
): Promise<Migration | "busy" | "done"> {
  const { rows } = await client.query<{ held: boolean }>(
    `select pg_try_advisory_xact_lock(${LOCK}) as held`,
  );
  if (rows[0]?.held !== true) return "busy";
  await client.query(`set local lock_timeout = '${LOCK_TIMEOUT}'`);
  await client.query("set local statement_timeout = 0");
  await client.query(
    "create table if not exists schema_meta (only_row boolean primary key default true check (only_row), version integer not null, oldest_that_works integer not null)",
  );
  const [next] = pendingMigrations(await schemaVersion(client), migrations);
  if (next === undefined) return "done";
  for (const statement of next.statements) {
    // oxlint-disable-next-line no-await-in-loop -- in their order.
    await client.query(withoutDeadline(statement));
  }
  await client.query(
    `insert into schema_meta (version, oldest_that_works) values ($1, $2)
     on conflict (only_row) do update set version = excluded.version, oldest_that_works = excluded.oldest_that_works`,
    [next.version, next.oldestThatWorks],
  );
  return next;
}

/** A statement that may take as long as a table is large: the longest timer is no deadline. */
function withoutDeadline(text: string): QueryConfig & { readonly query_timeout: number } {
  return { text, query_timeout: 2 ** 31 - 1 };
}

/** Throws `Error` for a schema that gateways of the version `own` cannot use. */
export function refuseNewer({ version, oldestThatWorks }: SchemaVersion, own: number): void {
  if (own >= oldestThatWorks) return;
  throw new Error(
    `the schema has version ${version}, and gateways below ${oldestThatWorks} cannot use it; this one is ${own}. Start a newer gateway.`,
  );
}
