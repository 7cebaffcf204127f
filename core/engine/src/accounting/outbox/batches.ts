/**
 * The batches of an outbox: numbered groups of rows, in the log. The newest are in memory too, so
 * that the relay need not read back what was written a moment ago.
 */

import type { SpendRow } from "@sluice/contract";
import { encodeFrame } from "./frame.ts";
import { LogReader, type OutboxBatch } from "./log-reader.ts";
import type { OutboxLog } from "./log.ts";
import { rowTexts } from "./row-text.ts";

/** Rows in one batch of the log, and so in one transaction of the store behind it. */
export const MAX_BATCH_ROWS = 400;

/** The committed batches of an open log. Their numbers only grow while it is open. */
export class Batches {
  readonly #log: OutboxLog;
  readonly #reader: LogReader;
  readonly #window: OutboxWindow;
  #committedSequence: number;
  #discardedSequence: number;

  constructor(log: OutboxLog, maxRowsInMemory?: number) {
    this.#log = log;
    this.#reader = new LogReader(log);
    this.#window = new OutboxWindow(maxRowsInMemory);
    this.#committedSequence = log.lastSequence;
    this.#discardedSequence = log.firstSequence - 1;
  }

  /** Called with the path of a file from which not all rows can be read. */
  set onDamage(report: (path: string) => void) {
    this.#reader.onDamage = report;
  }

  /** The number of the newest committed batch. */
  get committedSequence(): number {
    return this.#committedSequence;
  }

  /** The number of the newest batch that was discarded: everything up to it has left. */
  get discardedSequence(): number {
    return this.#discardedSequence;
  }

  /**
   * Commits rows and notes of calls now, all or none; `notes` are members of a JSON array. Throws
   * the error of the log.
   */
  write(rows: readonly SpendRow[], notes = ""): void {
    if (rows.length === 0 && notes === "") return;
    // Before a frame is encoded: another segment begins with frames of its own.
    this.#log.prepare(this.#discardedSequence);
    if (rows.length > MAX_BATCH_ROWS) this.#writeMany(rows, notes);
    else if (rows.length > 0) this.#write(rows, notes);
    else this.#append(encodeFrame(0, notes, ""), 0);
  }

  /** Probes the log with a write. Throws its error. */
  probe(): void {
    this.#log.prepare(this.#discardedSequence);
    this.#log.probe();
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
      const batch = this.#reader.read(next, end, MAX_BATCH_ROWS);
      if (batch !== undefined) return batch;
      this.#reader.miss(next);
      this.#discardedSequence = end - 1;
    }
    return undefined;
  }

  /**
   * Removes the batches up to this number. Throws when a file cannot be deleted; they then come
   * again.
   */
  discard(throughSequence: number): void {
    this.#log.discard(throughSequence);
    this.#window.drop(throughSequence);
    this.#discardedSequence = throughSequence;
  }

  #write(rows: readonly SpendRow[], notes: string): void {
    const body = rowTexts(rows);
    this.#append(encodeFrame(this.#committedSequence + 1, notes, body), 1);
    this.#committedSequence += 1;
    this.#window.push(this.#committedSequence, rows, body.length);
  }

  /** More rows than a batch holds: several batches, all or none of them. */
  #writeMany(rows: readonly SpendRow[], notes: string): void {
    const batches = framesOf(rows, this.#committedSequence + 1, notes);
    this.#append(Buffer.concat(batches.map(({ frame }) => frame)), batches.length);
    for (const batch of batches)
      this.#window.push(++this.#committedSequence, batch.rows, batch.frame.length);
  }

  #append(frames: Buffer, batches: number): void {
    this.#log.append(frames, this.#committedSequence + batches);
  }
}

/** Rows as frames of one batch each; `first` is the number of the first batch. */
export function framesOf(
  rows: readonly SpendRow[],
  first: number,
  notes: string,
): readonly { readonly rows: readonly SpendRow[]; readonly frame: Buffer }[] {
  const batches = [];
  for (let start = 0; start < rows.length; start += MAX_BATCH_ROWS) {
    const part = rows.slice(start, start + MAX_BATCH_ROWS);
    const sequence = first + batches.length;
    const frame = encodeFrame(sequence, start === 0 ? notes : "", rowTexts(part));
    batches.push({ rows: part, frame: Buffer.from(frame) });
  }
  return batches;
}

/** Maximum of JSON characters of the rows in memory. */
const MAX_CHARACTERS = 16 * 2 ** 20;

interface Entry {
  readonly sequence: number;
  readonly rows: readonly SpendRow[];
  readonly characters: number;
}

/**
 * A run of batches without gaps that ends with the newest one, or did when it became full. A full
 * window takes nothing until it is empty: the batches that it refused are read from the file, then
 * it begins again with the next.
 */
class OutboxWindow {
  readonly #maxRows: number;
  #entries: Entry[] = [];
  /** Entries before this one have left. */
  #head = 0;
  #rowCount = 0;
  #characterCount = 0;
  #isFull = false;

  constructor(maxRows = 10_000) {
    this.#maxRows = maxRows;
  }

  /** The number of the oldest batch in memory. */
  get firstSequence(): number | undefined {
    return this.#entries[this.#head]?.sequence;
  }

  /** Rows in memory. */
  get rowCount(): number {
    return this.#rowCount;
  }

  /** Offers the newest batch. `characters` is the length of its JSON. */
  push(sequence: number, rows: readonly SpendRow[], characters: number): void {
    if (this.#isFull) return;
    if (
      this.#rowCount + rows.length > this.#maxRows ||
      this.#characterCount + characters > MAX_CHARACTERS
    ) {
      this.#isFull = this.#rowCount > 0;
      return;
    }
    this.#entries.push({ sequence, rows, characters });
    this.#rowCount += rows.length;
    this.#characterCount += characters;
  }

  /** The oldest batches, as many as `maxRows` rows allow, but at least one. */
  peek(maxRows: number): OutboxBatch | undefined {
    const first = this.#entries[this.#head];
    if (first === undefined) return undefined;
    const rows: SpendRow[] = [];
    let throughSequence = first.sequence;
    for (let index = this.#head; index < this.#entries.length; index++) {
      const entry = this.#entries[index]!;
      if (rows.length > 0 && rows.length + entry.rows.length > maxRows) break;
      for (const row of entry.rows) rows.push(row);
      throughSequence = entry.sequence;
    }
    return { rows, throughSequence };
  }

  /** Forgets the batches up to this number. */
  drop(throughSequence: number): void {
    let entry = this.#entries[this.#head];
    while (entry !== undefined && entry.sequence <= throughSequence) {
      this.#rowCount -= entry.rows.length;
      this.#characterCount -= entry.characters;
      entry = this.#entries[++this.#head];
    }
    // The array is cut once the part that has left is the larger one, so that each entry is moved
    // at most once.
    if (this.#head * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#head);
      this.#head = 0;
    }
    if (this.#entries.length === 0) this.#isFull = false;
  }
}
