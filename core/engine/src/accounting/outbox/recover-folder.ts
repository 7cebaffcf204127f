/** Moves the rows of a data folder whose gateway has ended to the store. */

import type { Clock, LedgerStore, Log } from "@sluice/contract";
import { lockDataFolder } from "../../resources/data-lock.ts";
import { moveOutbox, outboxNames } from "./orphaned-outboxes.ts";

/** The parts of a recovery. */
export interface RecoveryParts {
  /** The data folder. */
  readonly directory: string;
  readonly store: LedgerStore;
  readonly log: Log;
  readonly clock: Clock;
  /** How long the thread waits for a gateway that is about to end. Absent: two seconds. */
  readonly lockTimeoutMs?: number;
}

/** What was moved of one outbox. */
export interface RecoveredOutbox {
  readonly outbox: string;
  readonly rows: number;
}

/**
 * Moves the rows of all outboxes of a folder, and of the calls that were under way when its gateway
 * was killed. Throws a StartError while a gateway uses the folder; rejects when an outbox cannot be
 * opened, and with the signal's reason. What was not moved stays in the folder.
 */
export async function recoverFolder(
  parts: RecoveryParts,
  signal: AbortSignal,
): Promise<readonly RecoveredOutbox[]> {
  const { directory, lockTimeoutMs } = parts;
  const lock = lockDataFolder(directory, lockTimeoutMs);
  try {
    const recovered: RecoveredOutbox[] = [];
    for (const outbox of outboxNames(directory)) {
      // oxlint-disable-next-line no-await-in-loop -- one outbox after the other.
      recovered.push({ outbox, rows: await moveOutbox(outbox, parts, signal) });
    }
    return recovered;
  } finally {
    lock.release();
  }
}
