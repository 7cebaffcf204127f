/**
 * The data folder belongs to one gateway at a time: a lock that goes with its process, however that
 * ends.
 */

import { errorMessage } from "@sluice/contract";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StartError } from "./installation.ts";
import { readRunning } from "./running-file.ts";

/**
 * How long opening waits for a process that is about to end, in milliseconds. The thread waits.
 */
const TIMEOUT_MS = 2_000;

/** A lock that is held. */
export interface DataLock {
  /** Releases the folder. */
  release(): void;
}

/**
 * Takes the folder for this process. Workers do not: they belong to the process that supervises
 * them, and their outboxes, which are locked too, go by numbers that change. Throws a StartError
 * when another gateway has it.
 */
export function lockDataFolder(directory: string, timeoutMs = TIMEOUT_MS): DataLock {
  const path = join(directory, "gateway.lock");
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: timeoutMs });
    // Kept after the transaction: that is what the locking mode says.
    database.exec("pragma locking_mode = exclusive; begin exclusive; commit;");
  } catch (error) {
    database?.close();
    const reason = errorMessage(error);
    if (!reason.includes("locked")) {
      throw new StartError(
        `The data folder's lock ${path} cannot be used: ${reason}. Correct it, or delete the file.`,
        {
          cause: error,
        },
      );
    }
    throw new StartError(
      `The data folder ${directory} is in use by another gateway${pidOf(directory)}: stop that one, or name another folder in server.data_directory.`,
      { cause: error },
    );
  }
  const held = database;
  return { release: () => held.close() };
}

function pidOf(directory: string): string {
  const running = readRunning(directory);
  return running === undefined ? "" : `, pid ${running.pid}`;
}
