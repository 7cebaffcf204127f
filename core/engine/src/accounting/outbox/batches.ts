/**
 * The batches of an outbox: numbered groups of rows, in the file, and the newest of them in memory
 * too.
 */

import type { SpendRow } from "@sluice/contract";
import type { OutboxBatch, OutboxFile } from "./file.ts";
import { OutboxWindow } from "./window.ts";

/** Rows in one batch of the file, and so in one transaction of the store behind it. */
export const MAX_BATCH_ROWS = 200;

/** The committed batches of an open file. Their numbers only grow while it is open. */
export class Batches {
  readonly #file: OutboxFile;
  readonly #window: OutboxWindow;
  #committedSequence: number;
  #discardedSequence: number;

  constructor(file: OutboxFile, maxRowsInMemory?: number) {
    this.#file = file;
    this.#window = new OutboxWindow(maxRowsInMemory);
    this.#committedSequence = file.lastSequence;
    this.#discardedSequence = file.firstSequence - 1;
  }

  /** The number of the newest committed batch. */
  get committedSequence(): number {
    return this.#committedSequence;
  }

  /** The number of the newest batch that was discarded: everything up to it has left. */
  get discardedSequence(): number {
    return this.#discardedSequence;
  }

  /** Commits rows now. Throws what SQLite says; none of them is in the file then. */
  write(rows: readonly SpendRow[]): void {
    if (rows.length > MAX_BATCH_ROWS) this.#writeMany(rows);
    else if (rows.length > 0) this.#write(rows);
  }

  /**
   * The oldest committed rows, at most `MAX_BATCH_ROWS`; `undefined` when there are none. They stay
   * until `discard`.
   */
  peek(): OutboxBatch | undefined {
    while (this.#discardedSequence < this.#committedSequence) {
      const next = this.#discardedSequence + 1;
      if (this.#window.firstSequence === next) return this.#window.peek(MAX_BATCH_ROWS);
      const end = this.#window.firstSequence ?? this.#committedSequence + 1;
      const batch = this.#file.read(next, end, MAX_BATCH_ROWS);
      if (batch !== undefined) return batch;
      this.#discardedSequence = end - 1;
    }
    return undefined;
  }

  /**
   * Removes the batches up to this number. Throws when the file cannot be written; they then come
   * again.
   */
  discard(throughSequence: number): void {
    this.#file.remove.run(throughSequence);
    this.#window.drop(throughSequence);
    this.#discardedSequence = throughSequence;
  }

  #write(rows: readonly SpendRow[]): void {
    const body = JSON.stringify(rows);
    const sequence = this.#committedSequence + 1;
    this.#file.insert.run(sequence, body);
    this.#committedSequence = sequence;
    this.#window.push(sequence, rows, body.length);
  }

  /** More rows than a batch holds: several batches, all or none of them. */
  #writeMany(rows: readonly SpendRow[]): void {
    const batches: { rows: readonly SpendRow[]; body: string }[] = [];
    for (let start = 0; start < rows.length; start += MAX_BATCH_ROWS) {
      const part = rows.slice(start, start + MAX_BATCH_ROWS);
      batches.push({ rows: part, body: JSON.stringify(part) });
    }
    this.#file.inTransaction(() => {
      batches.forEach(({ body }, index) =>
        this.#file.insert.run(this.#committedSequence + 1 + index, body),
      );
    });
    for (const batch of batches)
      this.#window.push(++this.#committedSequence, batch.rows, batch.body.length);
  }
}
