/** The living store: opens the file at `start`, and lends it to keys, teams and the ledger. */

import { GatewayError, type Store, type StoreHost } from "@sluice/contract";
import type { DatabaseSync } from "node:sqlite";
import type { Kysely } from "kysely";
import { createKysely, runHere } from "./dialect.ts";
import { createKeyStore } from "./keys.ts";
import { createLedgerInsert, type LedgerValues, ledgerValues } from "./ledger/insert.ts";
import { createLedgerReader, type SqliteLedgerReader } from "./ledger/reader.ts";
import { migrate } from "./migrate.ts";
import { isBusy, openDatabase } from "./open-database.ts";
import type { Schema } from "./schema.ts";
import { checkStoreFile, identityOf, MEMORY, storeFile } from "./store-file.ts";
import { createTeamStore } from "./teams.ts";
import { WriterThread } from "./writer-thread.ts";

/** The options of the store in YAML. */
export interface SqliteConfig {
  /** Relative to the working directory, or `:memory:`. Absent: `sluice.db` in the data folder. */
  readonly path?: string;
  /** Absent: `normal`. */
  readonly synchronous?: "normal" | "full";
}

/** The resources between `start` and `stop`. */
interface Opened {
  readonly database: DatabaseSync;
  /** The file, by device and inode; `undefined` in memory. */
  readonly identity: string | undefined;
  /** Reads, on the event loop. */
  readonly kysely: Kysely<Schema>;
  /** Changes, in a thread of their own. */
  readonly writer: Kysely<Schema>;
  /** Inserts rows on the event loop; in the thread, where another process holds the file. */
  readonly insert: (rows: readonly LedgerValues[]) => Promise<void> | undefined;
  readonly reader: SqliteLedgerReader;
  stop(): Promise<void>;
}

/** Makes a store that is closed until `start`. Every other member throws before `start` and after `stop`. */
export function createSqliteStore(config: SqliteConfig, host: StoreHost): Store {
  const path = storeFile(config.path, host.dataDirectory);
  let current: Opened | undefined;

  const opened = (): Opened => {
    if (current === undefined) throw new Error(`the sqlite store ${path} is not open: start it first`);
    return current;
  };
  const fault = (): string | undefined => {
    if (path === MEMORY) return undefined;
    const found = identityOf(path);
    if (current === undefined || found === current.identity) return undefined;
    const what = found === undefined ? "is missing" : "is another file than at the start";
    return `The store file ${path} ${what}. Put the file back, or stop the gateway, restore a copy and start it.`;
  };
  /** A write to a deleted file is lost when the process ends. */
  const writable = (): Opened => {
    const text = fault();
    if (text === undefined) return opened();
    throw new GatewayError("overloaded", "The store cannot be written to at the moment.", { cause: new Error(text) });
  };
  const database = (): Kysely<Schema> => opened().kysely;
  const writer = (): Kysely<Schema> => writable().writer;

  return {
    async start(signal, { mustExist = false } = {}) {
      signal.throwIfAborted();
      if (current !== undefined) return;
      checkStoreFile(path, { isDefault: config.path === undefined, mustExist });
      current = await open(path, config.synchronous ?? "normal", signal, host);
      host.log.info("the store is open", { store: "sqlite", path });
    },
    async stop() {
      const closing = current;
      current = undefined;
      await closing?.stop();
    },
    fault,
    ...(path !== MEMORY && {
      async keep(name: string, value: string) {
        await writer()
          .insertInto("fact")
          .values({ name, value })
          .onConflict((conflict) => conflict.doNothing())
          .execute();
        const row = await database().selectFrom("fact").select("value").where("name", "=", name).executeTakeFirstOrThrow();
        return row.value;
      },
    }),
    keys: createKeyStore(database, writer),
    teams: createTeamStore(database, writer),
    ledger: {
      insert: async (rows) => {
        const { insert } = writable();
        if (rows.length > 0) await insert(rows.map(ledgerValues));
      },
      rows: async (query, signal) => opened().reader.rows(query, signal),
      days: async (filter, signal) => opened().reader.days(filter, signal),
      tags: async (filter, signal) => opened().reader.tags(filter, signal),
      spent: async (filter, signal) => opened().reader.spent(filter, signal),
    },
  };
}

/** Opens, migrates and prepares. Leaves no file open when one of these fails. */
async function open(path: string, synchronous: "normal" | "full", signal: AbortSignal, { log }: StoreHost): Promise<Opened> {
  const database = openDatabase(path, synchronous);
  try {
    const kysely = createKysely(runHere(database));
    await migrate(database, kysely, path);
    signal.throwIfAborted();
    // From here on this connection never waits on the event loop.
    database.exec("pragma busy_timeout = 0");
    const insertHere = createLedgerInsert(database);
    const reader = createLedgerReader(database, path, log);
    // A database in memory belongs to its connection.
    const thread = path === MEMORY ? undefined : new WriterThread(path, synchronous, log);
    return {
      database,
      identity: path === MEMORY ? undefined : identityOf(path),
      kysely,
      writer: thread === undefined ? kysely : createKysely((sql, parameters) => thread.run(sql, parameters)),
      insert(rows) {
        try {
          insertHere(rows);
          return undefined;
        } catch (error) {
          // The rows would cost as much again as messages: only those that must wait for a lock go to the thread.
          if (thread === undefined || !isBusy(error)) throw error;
          return thread.insert(rows);
        }
      },
      reader,
      async stop() {
        await thread?.stop();
        await reader.stop();
        database.close();
      },
    };
  } catch (error) {
    database.close();
    throw error;
  }
}
