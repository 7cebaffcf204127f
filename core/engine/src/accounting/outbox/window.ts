/**
 * The newest committed batches, kept in memory so that the relay need not read back what was
 * written a moment ago.
 */

import type { SpendRow } from "@sluice/contract";
import type { OutboxBatch } from "./log-reader.ts";

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
export class OutboxWindow {
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
