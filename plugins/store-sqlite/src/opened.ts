/** The open file: its connections, its thread and its queries. */

import type { AuditEntry, Log, StoreHost, StoreJob } from "@sluice/contract";
import { createAuditAppend } from "./audit/append.ts";
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type { CompiledQuery, Kysely } from "kysely";
import { createKysely } from "./dialect.ts";
import { createLedgerInsert } from "./ledger/insert.ts";
import { createLedgerReader, type SqliteLedgerReader } from "./ledger/reader.ts";
import { retentionJob } from "./ledger/prune.ts";
import { sumsJob } from "./ledger/sums/check-job.ts";
import { weeksJob } from "./ledger/sums/weeks/job.ts";
import type { LedgerValues } from "./ledger/sums/amounts.ts";
import { fillSums, logProgress } from "./ledger/sums/fill.ts";
import { migrate } from "./migrate.ts";
import { isBusy, openDatabase } from "./open-database.ts";
import type { Schema } from "@sluice/store-sql";
import {
  inTransaction,
  runHere,
  type RunTransaction,
  type StatementResult,
  statementsOf,
} from "./statements.ts";
import { identityOf, MEMORY } from "./store-file.ts";
import { WriterThread } from "./writer-thread.ts";

/** What the store has between `start` and `stop`. */
export interface Opened {
  readonly database: DatabaseSync;
  /** The file, by device and inode; `undefined` in memory. */
  readonly identity: string | undefined;
  /** Reads, on the event loop. */
  readonly kysely: Kysely<Schema>;
  /** Long lists, in the thread that reads the ledger. */
  readonly lists: Kysely<Schema>;
  /** Changes, in a thread of their own. */
  readonly writer: Kysely<Schema>;
  /** Several changes in one transaction, where `writer` runs its own. */
  readonly transact: (
    statements: readonly CompiledQuery[],
    audit?: AuditEntry,
  ) => Promise<readonly StatementResult[]>;
  /** Changes, each in one transaction with a line of the audit. */
  readonly audited: (audit: AuditEntry) => Kysely<Schema>;
  /** Inserts rows on the event loop; in the thread, where another process holds the file. */
  readonly insert: (rows: readonly LedgerValues[]) => Promise<void> | undefined;
  readonly reader: SqliteLedgerReader;
  readonly jobs: readonly StoreJob[];
  stop(): Promise<void>;
}

/** Opens, migrates and prepares. Leaves no file open when one of these fails. */
export async function open(
  path: string,
  synchronous: "normal" | "full",
  signal: AbortSignal,
  { log, clock }: StoreHost,
): Promise<Opened> {
  const database = openDatabase(path, synchronous);
  try {
    const kysely = createKysely(runHere(database));
    await migrate(database, kysely, path);
    signal.throwIfAborted();
    // The rows of an earlier version may take minutes. What is done stays, also after a kill.
    await fillSums(database, logProgress(log, path));
    // From here on this connection never waits on the event loop.
    database.exec("pragma busy_timeout = 0");
    const insertHere = createLedgerInsert(database);
    const reader = createLedgerReader(database, path, log);
    // A database in memory belongs to its connection.
    const thread = path === MEMORY ? undefined : new WriterThread(path, synchronous, log);
    const transact = transactionsOf(database, thread);
    return {
      database,
      identity: path === MEMORY ? undefined : identityOf(path),
      kysely,
      lists: createKysely(reader.records),
      writer:
        thread === undefined
          ? kysely
          : createKysely((sql, parameters) => thread.run(sql, parameters)),
      transact: (queries, audit) => transact(statementsIn(queries), audit),
      audited: (audit) =>
        createKysely(async (sql, parameters) => {
          const [result] = await transact([{ sql, parameters }], audit);
          return result ?? { rows: [], changes: 0 };
        }),
      insert(rows) {
        try {
          reportLeftOut(insertHere(rows), log);
          return undefined;
        } catch (error) {
          // The rows would cost as much again as messages: only those that must wait for a lock go
          // to the thread.
          if (thread === undefined || !isBusy(error)) throw error;
          return thread.insert(rows).then((leftOut) => reportLeftOut(leftOut, log));
        }
      },
      reader,
      jobs: jobsOf(path, transact, () => clock.now()),
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

function jobsOf(path: string, run: RunTransaction, now: () => number): readonly StoreJob[] {
  const jobs = [retentionJob(run, now), weeksJob(run, now)];
  return path === MEMORY ? jobs : [...jobs, sumsJob(path, now)];
}

function reportLeftOut(rows: number, log: Log): void {
  if (rows > 0)
    log.warn("spend rows are older than those that are kept (ledger.keep): they are left out", {
      rows,
    });
}

/** Runs transactions in the thread, or here where there is none. */
function transactionsOf(database: DatabaseSync, thread: WriterThread | undefined): RunTransaction {
  if (thread !== undefined) return (statements, audit) => thread.transact(statements, audit);
  const writing = { database, run: statementsOf(database), append: createAuditAppend(database) };
  return async (statements, audit) => inTransaction(writing, statements, audit);
}

/** Statements of the builder, whose parameters are values that SQLite can hold. */
function statementsIn(queries: readonly CompiledQuery[]): Parameters<RunTransaction>[0] {
  return queries.map(({ sql, parameters }) => ({
    sql,
    parameters: parameters as readonly SQLInputValue[],
  }));
}
