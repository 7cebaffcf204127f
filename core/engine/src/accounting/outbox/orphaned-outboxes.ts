/** Moves the rows of outboxes that no process holds, left by a process that ended, to the store. */

import { readdirSync } from "node:fs";
import type { Clock, LedgerStore, Log } from "@sluice/contract";
import { openOutbox } from "./outbox.ts";
import { outboxOf } from "./recover.ts";
import { Relay, type RelayOptions } from "./relay.ts";

const NAME = /^outbox(?:-\d+)?\.db$/;

/** The parts of the move. */
export interface LeftOutboxParts {
  readonly directory: string;
  readonly store: LedgerStore;
  readonly log: Log;
  readonly clock: Clock;
  /** How long the thread waits for a process that holds the outbox. Absent: 2,000. */
  readonly lockTimeoutMs?: number;
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
  const { log } = parts;
  try {
    const rows = await moveOutbox(name, parts, signal);
    if (rows > 0)
      log.info("spend rows of another worker have reached the store", { outbox: name, rows });
  } catch (error) {
    log.warn("spend rows of another worker stay in its outbox; the next start moves them", {
      outbox: name,
      error,
    });
  }
}

/**
 * Moves the rows of one outbox to the store. Returns how many they were; the store leaves out those
 * that it has. Rejects when another process holds the outbox, and with the signal's reason: the
 * other rows stay in it.
 */
export async function moveOutbox(
  name: string,
  { directory, store, log, clock, lockTimeoutMs }: LeftOutboxParts,
  signal: AbortSignal,
): Promise<number> {
  const outbox = openOutbox({
    directory,
    name,
    ...(lockTimeoutMs !== undefined && { lockTimeoutMs }),
  });
  outbox.onDamage = (path) => reportDamage(path, log);
  try {
    if (outbox.pendingBatches === 0) return 0;
    let moved = 0;
    const counted: RelayOptions["store"] = {
      async insert(rows) {
        await store.insert(rows);
        moved += rows.length;
      },
    };
    const relay = new Relay({ outbox, store: counted, log, clock });
    try {
      await relay.flush(signal);
      return moved;
    } finally {
      await relay.stop();
    }
  } finally {
    outbox.close();
  }
}
