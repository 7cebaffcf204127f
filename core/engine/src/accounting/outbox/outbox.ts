/**
 * The outbox: a local append-only file. Every spend row is in it before the gateway relies on the
 * row.
 */

import { rmSync } from "node:fs";
import { errorMessage, type SpendRow } from "@sluice/contract";
import { Batches } from "./batches.ts";
import { lockOutbox, type OutboxLock, outboxName } from "./lock-file.ts";
import type { OutboxBatch } from "./log-reader.ts";
import type { LogPlace, OutboxLog } from "./log.ts";
import type { NotedCall } from "./note-text.ts";
import { oldNotesPath, readOldNotes } from "./old-notes.ts";
import { OpenNotes, Turns } from "./turns.ts";
import { openLog } from "./recover.ts";

const MAX_BYTES = 4 * 2 ** 30;

/**
 * Rows kept in memory that the log did not take. Beyond that a call has the row of its note, after
 * the next start.
 */
const MAX_KEPT_ROWS = 10_000;

/** The parts of an outbox. */
export interface OutboxOptions {
  /** The data directory. It is made when it is missing. */
  readonly directory: string;
  /** Its lock file, which names the segments too. Absent: `outbox.db`. */
  readonly name?: string;
  /**
   * The bound of its files; appends are refused beyond it. Absent: 4 GiB, some millions of rows.
   */
  readonly maxBytes?: number;
  /**
   * Committed rows kept in memory for the relay; beyond that it reads the files. Absent: 10,000.
   */
  readonly maxRowsInMemory?: number;
  /**
   * How long the thread waits for another process that holds it, in milliseconds. Absent: 2,000.
   */
  readonly lockTimeoutMs?: number;
}

interface OutboxParts {
  readonly lock: OutboxLock;
  readonly log: OutboxLog;
  readonly batches: Batches;
}

/**
 * Takes over the notes of an earlier version, after its rows: the store keeps the first row of a
 * call. Throws the error of a file.
 */
function moveOldNotes(place: LogPlace, batches: Batches): void {
  batches.write(readOldNotes(place));
  rmSync(oldNotesPath(place), { force: true });
}

/** Takes over the rows of an earlier version. Throws the error of a file. */
function moveOldRows(lock: OutboxLock, log: OutboxLog, batches: Batches): void {
  lock.moveOldRows((found) => {
    for (const rows of found) batches.write(rows);
    log.sync();
  });
}

/**
 * Opens the outbox. Calls that were under way when an earlier process was killed have their rows in
 * it then. Throws `Error`, for people, when a file cannot be used or another process holds it.
 */
export function openOutbox(options: OutboxOptions): Outbox {
  const { directory, name = outboxName(), maxBytes = MAX_BYTES, maxRowsInMemory } = options;
  const lock = lockOutbox(directory, name, options.lockTimeoutMs);
  let log: OutboxLog | undefined;
  try {
    log = openLog({ directory, name });
    const batches = new Batches(log, maxRowsInMemory);
    moveOldRows(lock, log, batches);
    moveOldNotes({ directory, name }, batches);
    log.limit(maxBytes);
    return new Outbox({ lock, log, batches });
  } catch (error) {
    log?.close(false);
    lock.close();
    const reason = errorMessage(error);
    throw new Error(
      `the outbox ${lock.path} cannot be opened (${reason}). Check space and permissions; ` +
        "of a damaged file keep a copy, then move it away.",
      { cause: error },
    );
  }
}

/** An open outbox. The numbers of its batches only grow while it is open. */
export class Outbox {
  readonly #lock: OutboxLock;
  readonly #log: OutboxLog;
  readonly #batches: Batches;
  readonly #openNotes = new OpenNotes();
  readonly #turns: Turns;
  #isClosed = false;
  /** Rows that the log did not take, oldest first. */
  #kept: SpendRow[] = [];
  /** Called after a failed write. */
  onFailure: (error: Error) => void = () => undefined;
  /** Called with a failed write of notes. Returns the error with which the calls are refused. */
  onNoteFailure: (cause: unknown) => unknown = (cause) => cause;

  /** Use `openOutbox`. */
  constructor({ lock, log, batches }: OutboxParts) {
    this.#lock = lock;
    this.#log = log;
    this.#batches = batches;
    log.carried = () => this.#openNotes.frame();
    log.onFailure = (error) => this.onFailure(error);
    this.#turns = new Turns({
      write: (rows, notes) => batches.write(rows, notes),
      checkNotes: (length) => log.checkNotes(length),
      openNotes: this.#openNotes,
      refusal: (cause) => this.onNoteFailure(cause),
      failed: (rows, cause) => {
        const failure = notTaken(lock.path, rows, cause);
        this.keep(rows);
        this.onFailure(failure);
        return failure;
      },
    });
  }

  /** Called with the path of a file from which not all rows can be read. */
  set onDamage(report: (path: string) => void) {
    this.#batches.onDamage = report;
  }

  /**
   * Resolves once the rows are committed. All appends of one turn of the event loop share one
   * commit and one promise. Rejects with `Error` when the commit fails; the rows are then kept in
   * memory, and `writeKept` tries again.
   */
  append(rows: readonly SpendRow[]): Promise<void> {
    return this.#turns.append(rows);
  }

  /**
   * Notes a call before it is made, for its row if the process is killed: the note outlives the
   * process, not a loss of power. Resolves once the note is in the log, at the end of this turn of
   * the event loop. After a failed write it calls `withdraw` and rejects with the error of
   * `onNoteFailure`.
   */
  note(call: NotedCall, withdraw: () => void): Promise<void> {
    return this.#turns.note(call, withdraw);
  }

  /** Commits what this turn appended and noted now instead of at its end. Never throws. */
  commit(): void {
    this.#turns.commit();
  }

  /** Commits rows now, all or none. Throws the error of the log. */
  write(rows: readonly SpendRow[]): void {
    this.#batches.write(rows);
    this.#openNotes.close(rows);
  }

  /** Keeps rows in memory, up to a bound, until `writeKept` has written them. */
  keep(rows: readonly SpendRow[]): void {
    for (const row of rows) if (this.#kept.length < MAX_KEPT_ROWS) this.#kept.push(row);
  }

  /** Rows in memory that the log did not take. */
  get keptRows(): number {
    return this.#kept.length;
  }

  /** Writes the kept rows and probes the log. Throws the error of the log. */
  writeKept(): void {
    const kept = this.#kept;
    this.write(kept);
    this.#kept = [];
    this.#batches.probe();
  }

  /** The number of the newest committed batch. */
  get committedSequence(): number {
    return this.#batches.committedSequence;
  }

  /** The number of the newest batch that was discarded: everything up to it has left. */
  get discardedSequence(): number {
    return this.#batches.discardedSequence;
  }

  /** Committed batches that have not left. */
  get pendingBatches(): number {
    return this.committedSequence - this.discardedSequence;
  }

  /** Whether an append waits for its commit. */
  get hasUncommitted(): boolean {
    return this.#turns.hasRows;
  }

  /** The fault of its files, as a sentence; `undefined` while all are in their places. */
  fault(): string | undefined {
    return this.#log.fault();
  }

  /** The oldest committed rows, at most `MAX_BATCH_ROWS`. They stay until `discard`. */
  peek(): OutboxBatch | undefined {
    return this.#batches.peek();
  }

  /**
   * Removes the batches up to this number. Throws when the file cannot be written; they then come
   * again.
   */
  discard(throughSequence: number): void {
    this.#batches.discard(throughSequence);
  }

  /**
   * Commits what waits and closes the files. Rows that the log still does not take keep their
   * notes. A second call has no effect.
   */
  close(): void {
    if (this.#isClosed) return;
    this.commit();
    try {
      this.write(this.#kept);
      this.#kept = [];
    } catch {
      // The failure has been reported, when the rows were kept.
    }
    this.#isClosed = true;
    this.#turns.close();
    try {
      this.#log.close(this.pendingBatches === 0 && this.#openNotes.isEmpty && this.keptRows === 0);
    } finally {
      this.#lock.close();
    }
  }
}

function notTaken(path: string, rows: readonly SpendRow[], cause: unknown): Error {
  const reason = errorMessage(cause);
  return new Error(`${path} did not take ${rows.length} spend rows: ${reason}`, { cause });
}
