/** Moves the rows of outboxes that no process holds, left by a worker that ended, to the store. */

import { readdirSync } from "node:fs";
import type { Clock, LedgerStore, Log } from "@sluice/contract";
import { createLedger } from "../ledger/ledger.ts";
import { openOutbox } from "./outbox.ts";
import { outboxOf } from "./recover.ts";

const NAME = /^outbox(?:-\d+)?\.db$/;

/** The parts of the move. */
export interface LeftOutboxParts {
  readonly directory: string;
  readonly store: LedgerStore;
  readonly log: Log;
  readonly clock: Clock;
}

/** The names of all outboxes in a data folder. */
export function outboxNames(directory: string): readonly string[] {
  const names = readdirSync(directory).map((file) => (NAME.test(file) ? file : outboxOf(file)));
  return [...new Set(names)].filter((name) => name !== undefined);
}

/** Logs that not all rows of a file can be read. It is kept under another name. */
export function reportDamage(path: string, log: Log): void {
  log.error(
    "a file of the outbox is damaged: its other rows reach the store; it is kept for inspection",
    { file: `${path}.damaged` },
  );
}

/**
 * Moves the rows of one outbox to the store. What does not get there stays in the file. Never
 * rejects.
 */
export async function moveLeftOutbox(
  name: string,
  parts: LeftOutboxParts,
  signal: AbortSignal,
): Promise<void> {
  const { log, clock, store } = parts;
  try {
    const outbox = openOutbox({ directory: parts.directory, name });
    outbox.onDamage = (path) => reportDamage(path, log);
    try {
      if (outbox.pendingBatches === 0) return;
      const ledger = createLedger({ outbox, store, log, clock });
      try {
        await ledger.flush(signal);
        log.info("spend rows of another worker have reached the store", { outbox: name });
      } finally {
        await ledger.stop();
      }
    } finally {
      outbox.close();
    }
  } catch (error) {
    log.warn("spend rows of another worker stay in its outbox; the next start moves them", {
      outbox: name,
      error,
    });
  }
}
