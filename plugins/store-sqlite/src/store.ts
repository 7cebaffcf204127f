/** The living store: opens the file at `start`, and lends it to keys, teams and the ledger. */

import type { Log, Store } from "@sluice/spec";
import type { DatabaseSync } from "node:sqlite";
import type { Kysely } from "kysely";
import { createKysely } from "./dialect.ts";
import { createKeyStore } from "./keys.ts";
import { createLedgerInsert } from "./ledger-insert.ts";
import { createLedgerReader, type SqliteLedgerReader } from "./ledger-reader.ts";
import { migrate } from "./migrate.ts";
import { openDatabase, RUNNING_BUSY_TIMEOUT_MS } from "./open-database.ts";
import type { Schema } from "./schema.ts";
import { createTeamStore } from "./teams.ts";

/** What YAML says about the store. */
export interface SqliteConfig {
  /** Relative to the working directory, or `:memory:`. Absent: `data/sluice.db`. */
  readonly path?: string;
  /** Absent: `normal`. */
  readonly synchronous?: "normal" | "full";
}

/** What is there between `start` and `stop`. */
interface Opened {
  readonly database: DatabaseSync;
  readonly kysely: Kysely<Schema>;
  readonly insert: ReturnType<typeof createLedgerInsert>;
  readonly reader: SqliteLedgerReader;
}

/** Makes a store that is closed until `start`. Every other member throws before `start` and after `stop`. */
export function createSqliteStore(config: SqliteConfig, log: Log): Store {
  const path = config.path ?? "data/sluice.db";
  let current: Opened | undefined;

  const opened = (): Opened => {
    if (current === undefined) throw new Error(`the sqlite store ${path} is not open: start it first`);
    return current;
  };

  return {
    async start(signal) {
      signal.throwIfAborted();
      if (current !== undefined) return;
      current = await open(path, config.synchronous ?? "normal", signal, log);
      log.info("the store is open", { store: "sqlite", path });
    },
    async stop() {
      const closing = current;
      current = undefined;
      await closing?.reader.stop();
      closing?.database.close();
    },
    keys: createKeyStore(() => opened().kysely),
    teams: createTeamStore(() => opened().kysely),
    ledger: {
      insert: async (rows) => opened().insert(rows),
      rows: async (query, signal) => opened().reader.rows(query, signal),
      days: async (filter, signal) => opened().reader.days(filter, signal),
      tags: async (filter, signal) => opened().reader.tags(filter, signal),
      spent: async (filter, signal) => opened().reader.spent(filter, signal),
    },
  };
}

/** Opens, migrates and prepares. Leaves no file open when one of these fails. */
async function open(path: string, synchronous: "normal" | "full", signal: AbortSignal, log: Log): Promise<Opened> {
  const database = openDatabase(path, synchronous);
  try {
    const kysely = createKysely(database);
    await migrate(database, kysely, path);
    signal.throwIfAborted();
    database.exec(`pragma busy_timeout = ${RUNNING_BUSY_TIMEOUT_MS}`);
    return { database, kysely, insert: createLedgerInsert(database), reader: createLedgerReader(database, path, log) };
  } catch (error) {
    database.close();
    throw error;
  }
}
