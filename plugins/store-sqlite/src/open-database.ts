/** Opens the database file, or explains to the operator why it cannot be opened. */

import { errorMessage } from "@sluice/contract";
import { mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** How long `start` waits for another process that holds the file, in milliseconds. */
const STARTING_BUSY_TIMEOUT_MS = 5_000;

/**
 * How long a write waits for another process, in milliseconds: in a thread of its own. The engine
 * tries rows again.
 */
export const WRITING_BUSY_TIMEOUT_MS = 5_000;

/** SQLITE_CORRUPT and SQLITE_NOTADB (https://sqlite.org/rescode.html). */
const CORRUPT_CODES: ReadonlySet<unknown> = new Set([11, 26]);

/**
 * Opens the file at `path` in WAL mode and makes its folder. `:memory:` opens a database that is
 * not kept. Throws `Error` with the file's name and the remedy when the folder or the file cannot
 * be used.
 */
export function openDatabase(path: string, synchronous: "normal" | "full"): DatabaseSync {
  const file = path === ":memory:" ? path : resolve(path);
  let database: DatabaseSync | undefined;
  try {
    if (file !== ":memory:") mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    database = new DatabaseSync(file, {
      timeout: STARTING_BUSY_TIMEOUT_MS,
      enableForeignKeyConstraints: true,
    });
    database.exec(`
      pragma journal_mode = wal;
      pragma synchronous = ${synchronous};
      pragma cache_size = -8000;
      pragma temp_store = memory;
    `);
    // The first read of a page: a file that is no database is found here and not at the first
    // request.
    database.prepare("select count(*) from sqlite_master").get();
    return database;
  } catch (error) {
    database?.close();
    throw explainOpenError(error, path);
  }
}

/** Turns what SQLite throws about a file into an `Error` that names the file and what to do. */
export function explainOpenError(error: unknown, path: string): Error {
  const reason = errorMessage(error);
  if (isCorrupt(error)) {
    return new Error(
      `the store file ${path} is damaged or is no SQLite database (${reason}). Put a good copy in its place, ` +
        `or move it away together with ${path}-wal and ${path}-shm to begin with an empty store.`,
      { cause: error },
    );
  }
  return new Error(
    `the store file ${path} cannot be opened (${reason}). Check that its folder exists, that this user may write there, ` +
      `and that no other process holds the file.`,
    { cause: error },
  );
}

/** SQLITE_BUSY and SQLITE_LOCKED: another connection holds what is needed. */
const BUSY_CODES: ReadonlySet<unknown> = new Set([5, 6]);

/** Whether another connection holds the file. */
export function isBusy(error: unknown): boolean {
  return (
    error instanceof Error && "errcode" in error && BUSY_CODES.has(Number(error.errcode) & 0xff)
  );
}

function isCorrupt(error: unknown): boolean {
  return (
    error instanceof Error && "errcode" in error && CORRUPT_CODES.has(Number(error.errcode) & 0xff)
  );
}
