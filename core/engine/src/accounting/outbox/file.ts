/**
 * The outbox's file: a small SQLite database that one process holds, with every statement prepared.
 */

import { errorMessage, type SpendRow } from "@sluice/contract";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { StatementSync } from "node:sqlite";

const PAGE_BYTES = 4096;

/** The content of a probe. */
const PROBE = `[]${" ".repeat(64 * 1024)}`;
const DEFAULT_MAX_BYTES = 4 * 2 ** 30;

/** How long opening waits for a process that is about to end, in milliseconds. */
const OPEN_TIMEOUT_MS = 2_000;

/** Committed rows, oldest first, with the number of the last batch they come from. */
export interface OutboxBatch {
  readonly rows: readonly SpendRow[];
  readonly throughSequence: number;
}

/** The open file. */
export interface OutboxFile {
  readonly path: string;
  /** The oldest batch in the file; one more than `lastSequence` when there is none. */
  readonly firstSequence: number;
  /** The newest batch in the file, 0 when there is none. */
  readonly lastSequence: number;
  /** Takes a number and a body. Commits by itself outside `inTransaction`. */
  readonly insert: StatementSync;
  /** Takes a number: deletes the batches up to it. */
  readonly remove: StatementSync;
  /**
   * Writes as much as the rows of some requests take, and removes it. Throws when the file does not
   * take it.
   */
  probe(): void;
  /**
   * Reads whole batches numbered `from` up to but not including `end`, as many as `maxRows` rows
   * allow, but at least one.
   */
  read(from: number, end: number, maxRows: number): OutboxBatch | undefined;
  /** All of it or nothing. */
  inTransaction(write: () => void): void;
  close(): void;
}

/** The file of a process: `outbox.db`; beside others, each further worker has one of its own. */
export function outboxName(worker = 1): string {
  return worker === 1 ? "outbox.db" : `outbox-${worker}.db`;
}

/** Opens the file in the directory. Throws `Error` with the file's name and what to do. */
export function openOutboxFile(
  directory: string,
  maxBytes = DEFAULT_MAX_BYTES,
  name = outboxName(),
): OutboxFile {
  const path = join(directory, name);
  let database: DatabaseSync | undefined;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    database = new DatabaseSync(path, { timeout: OPEN_TIMEOUT_MS });
    prepareDatabase(database, maxBytes);
    return describeFile(database, path);
  } catch (error) {
    database?.close();
    throw explain(error, path);
  }
}

function prepareDatabase(database: DatabaseSync, maxBytes: number): void {
  // Exclusive: a second process would delete batches that this one has not moved. It also spares
  // the lock calls and the shared memory of WAL at every commit. The lock goes with the process,
  // however it ends.
  database.exec(`
    pragma page_size = ${PAGE_BYTES};
    pragma locking_mode = exclusive;
    pragma journal_mode = wal;
    pragma synchronous = normal;
    pragma max_page_count = ${Math.max(4, Math.floor(maxBytes / PAGE_BYTES))};
    begin exclusive;
    create table if not exists batch (seq integer primary key, body text not null);
    commit;
  `);
}

function describeFile(database: DatabaseSync, path: string): OutboxFile {
  // Number 0 is that of a probe.
  const range = database
    .prepare(
      "select coalesce(min(seq), 1) as first, coalesce(max(seq), 0) as last from batch where seq > 0",
    )
    .get();
  const insert = database.prepare("insert into batch (seq, body) values (?, ?)");
  const insertProbe = database.prepare("insert or replace into batch (seq, body) values (0, ?)");
  const removeProbe = database.prepare("delete from batch where seq = 0");
  const inTransaction = (write: () => void): void => {
    database.exec("begin immediate");
    try {
      write();
      database.exec("commit");
    } catch (error) {
      if (database.isTransaction) database.exec("rollback");
      throw error;
    }
  };
  const select = database.prepare(
    "select seq, body from batch where seq >= ? and seq < ? order by seq",
  );
  return {
    path,
    firstSequence: Number(range?.["first"]),
    lastSequence: Number(range?.["last"]),
    insert,
    remove: database.prepare("delete from batch where seq <= ?"),
    read(from, end, maxRows) {
      const rows: SpendRow[] = [];
      let throughSequence = 0;
      for (const { seq, body } of select.iterate(from, end)) {
        const batch = JSON.parse(String(body)) as readonly SpendRow[];
        if (throughSequence !== 0 && rows.length + batch.length > maxRows) break;
        for (const row of batch) rows.push(row);
        throughSequence = Number(seq);
      }
      return throughSequence === 0 ? undefined : { rows, throughSequence };
    },
    inTransaction,
    probe() {
      insertProbe.run(PROBE);
      removeProbe.run();
    },
    close: () => database.close(),
  };
}

function explain(error: unknown, path: string): Error {
  const reason = errorMessage(error);
  const advice = reason.includes("locked")
    ? "Another process uses the same data directory: give each gateway its own."
    : reason.includes("malformed") || reason.includes("not a database")
      ? `The file is damaged: keep a copy of it, then move it away together with ${path}-wal.`
      : "Check that the folder exists and that this user may write there.";
  return new Error(`the outbox ${path} cannot be opened (${reason}). ${advice}`, { cause: error });
}
