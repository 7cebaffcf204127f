/**
 * The lock of an outbox: a small SQLite file that one process holds. Earlier versions kept their
 * rows in it.
 */

import { errorMessage, type SpendRow } from "@sluice/contract";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parseJson } from "@sluice/kit";

/** How long opening waits for a process that is about to end, in milliseconds. */
const OPEN_TIMEOUT_MS = 2_000;

/** Batches of an earlier version that are moved at once. */
const MAX_OLD_BATCHES = 64;

/** A lock that is held. */
export interface OutboxLock {
  readonly path: string;
  /**
   * Moves the rows of an earlier version, oldest first: `move` has made them durable when it
   * returns. What it throws leaves the rest in the file.
   */
  moveOldRows(move: (batches: readonly (readonly SpendRow[])[]) => void): void;
  /** Releases the outbox. */
  close(): void;
}

/** The file of a process: `outbox.db`; beside others, each further worker has one of its own. */
export function outboxName(worker = 1): string {
  return worker === 1 ? "outbox.db" : `outbox-${worker}.db`;
}

/** Takes the outbox for this process. Throws `Error` with the file's name and what to do. */
export function lockOutbox(
  directory: string,
  name = outboxName(),
  timeoutMs = OPEN_TIMEOUT_MS,
): OutboxLock {
  const path = join(directory, name);
  let database: DatabaseSync | undefined;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    database = new DatabaseSync(path, { timeout: timeoutMs });
    // Exclusive, and kept after the transaction: a second process would delete rows that this one
    // has not moved. The lock goes with the process, however it ends.
    database.exec("pragma locking_mode = exclusive; begin exclusive; commit;");
    const held = database;
    const hasOldRows =
      held.prepare("select 1 from sqlite_master where name = 'batch'").get() !== undefined;
    return {
      path,
      moveOldRows: (move) => {
        if (hasOldRows) moveOldRows(held, move);
      },
      close: () => held.close(),
    };
  } catch (error) {
    database?.close();
    throw explain(error, path);
  }
}

function moveOldRows(
  database: DatabaseSync,
  move: (batches: readonly (readonly SpendRow[])[]) => void,
): void {
  // Number 0 was that of a probe.
  const select = database.prepare(
    `select seq, body from batch where seq > 0 order by seq limit ${MAX_OLD_BATCHES}`,
  );
  const remove = database.prepare("delete from batch where seq <= ?");
  for (;;) {
    const found = select.all();
    const last = found.at(-1);
    if (last === undefined) break;
    move(found.map(({ body }) => parseJson(String(body)) as readonly SpendRow[]));
    remove.run(last["seq"]!);
  }
  database.exec("drop table batch; pragma journal_mode = delete; vacuum;");
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
