/**
 * The outbox: a local append-only file. Every spend row is in it before the gateway relies on the
 * row.
 */

import { errorMessage, type SpendRow } from "@sluice/contract";
import { Batches } from "./batches.ts";
import type { NotedCall } from "./call-note-line.ts";
import { CallNotes, readCallNotes } from "./call-notes.ts";
import { openOutboxFile, outboxName } from "./file.ts";
import type { OutboxBatch, OutboxFile } from "./file.ts";

/**
 * Rows kept in memory that the file did not take. Beyond that a call has the row of its note, after
 * the next start.
 */
const MAX_KEPT_ROWS = 10_000;

/** The parts of an outbox. */
export interface OutboxOptions {
  /** The data directory. It is made when it is missing. */
  readonly directory: string;
  /** The file in it. Absent: `outbox.db`. */
  readonly name?: string;
  /** The file's bound; appends are refused beyond it. Absent: 4 GiB, some millions of rows. */
  readonly maxBytes?: number;
  /** Committed rows kept in memory for the relay; beyond that it reads the file. Absent: 10,000. */
  readonly maxRowsInMemory?: number;
}

/**
 * Opens the outbox. Calls that were under way when an earlier process was killed have their rows in
 * it then. Throws `Error`, for people, when the file cannot be used or another process holds it.
 */
export function openOutbox(options: OutboxOptions): Outbox {
  const { directory, name = outboxName(), maxBytes, maxRowsInMemory } = options;
  const file = openOutboxFile(directory, maxBytes, name);
  try {
    const outbox = new Outbox(file, maxRowsInMemory);
    // The store keeps the first row of a call: one that has its own row, here or there, stays as it
    // is.
    outbox.write(readCallNotes(directory, name));
    outbox.notes = new CallNotes(directory, name);
    return outbox;
  } catch (error) {
    file.close();
    const reason = errorMessage(error);
    throw new Error(
      `the notes of calls beside ${file.path} cannot be used (${reason}). Check space and permissions.`,
      {
        cause: error,
      },
    );
  }
}

/** An open outbox. The numbers of its batches only grow while it is open. */
export class Outbox {
  readonly #file: OutboxFile;
  readonly #batches: Batches;
  #rows: SpendRow[] = [];
  #turn: PromiseWithResolvers<void> | undefined;
  #isClosed = false;
  /** Rows that the file did not take, oldest first. */
  #kept: SpendRow[] = [];
  /** Set by `openOutbox`. */
  notes: CallNotes | undefined;
  /** Called after a failed write. */
  onFailure: (error: Error) => void = () => undefined;

  /** Use `openOutbox`. */
  constructor(file: OutboxFile, maxRowsInMemory?: number) {
    this.#file = file;
    this.#batches = new Batches(file, maxRowsInMemory);
  }

  /**
   * Resolves once the rows are committed. All appends of one turn of the event loop share one
   * commit and one promise. Rejects with `Error` when the commit fails; the rows are then kept in
   * memory, and `writeKept` tries again.
   */
  append(rows: readonly SpendRow[]): Promise<void> {
    let turn = this.#turn;
    if (turn === undefined) {
      if (this.#isClosed) return Promise.reject(new Error("the outbox is closed"));
      turn = this.#turn = Promise.withResolvers<void>();
      setImmediate(commitTurn, this);
    }
    for (const row of rows) this.#rows.push(row);
    return turn.promise;
  }

  /**
   * Commits the appends of this turn now instead of at its end. Does nothing without appends. Never
   * throws.
   */
  commit(): void {
    const turn = this.#turn;
    if (turn === undefined) return;
    const rows = this.#rows;
    this.#turn = undefined;
    this.#rows = [];
    try {
      this.write(rows);
      turn.resolve();
    } catch (error) {
      const reason = errorMessage(error);
      const failure = new Error(
        `${this.#file.path} did not take ${rows.length} spend rows: ${reason}`,
        { cause: error },
      );
      this.keep(rows);
      this.onFailure(failure);
      turn.reject(failure);
    }
  }

  /** Commits rows now, all or none. Throws SQLite's error. */
  write(rows: readonly SpendRow[]): void {
    this.#batches.write(rows);
    this.notes?.close(rows);
  }

  /**
   * Notes a call before it is made, for its row if the process is killed. Resolves at the end of
   * this turn of the event loop. When the note cannot be written, `withdraw` is called, and it
   * rejects with what `notes.onFailure` says.
   */
  note(call: NotedCall, withdraw: () => void): Promise<void> {
    return this.notes?.add(call, withdraw) ?? Promise.resolve();
  }

  /** Keeps rows in memory, up to a bound, until `writeKept` has written them. */
  keep(rows: readonly SpendRow[]): void {
    for (const row of rows) if (this.#kept.length < MAX_KEPT_ROWS) this.#kept.push(row);
  }

  /** Rows in memory that the file did not take. */
  get keptRows(): number {
    return this.#kept.length;
  }

  /**
   * Writes the kept rows and probes both files. Throws the error of SQLite or of the file system.
   */
  writeKept(): void {
    const kept = this.#kept;
    this.write(kept);
    this.#kept = [];
    this.notes?.probe();
    this.#file.probe();
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
    return this.#turn !== undefined;
  }

  /**
   * The oldest committed rows, at most `MAX_BATCH_ROWS`; `undefined` when there are none. They stay
   * until `discard`.
   */
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
   * Commits what waits and closes both files. Rows that the file still does not take keep their
   * notes. A second call has no effect.
   */
  close(): void {
    if (this.#isClosed) return;
    this.commit();
    try {
      this.write(this.#kept);
    } catch {
      // The failure has been reported, when the rows were kept.
    }
    this.#isClosed = true;
    this.notes?.end();
    this.#file.close();
  }
}

function commitTurn(outbox: Outbox): void {
  outbox.commit();
}
