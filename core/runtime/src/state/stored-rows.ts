/**
 * Since when rows have been in the ledger: a budget that was read from the ledger later has their
 * cost.
 */

/** How often the ledger is asked at most, in milliseconds. */
const EVERY_MS = 100;
/** Answers that are remembered; of an outage of minutes the older ones are given up. */
const MAX_ANSWERS = 512;

interface Answer {
  /** All rows that were recorded before this time are in the ledger. */
  readonly recordedMs: number;
  readonly askedMs: number;
}

/** What it asks. */
export interface StoredRowsOptions {
  /**
   * How long the oldest row that the ledger lacks has been waiting, in milliseconds; 0 when it has
   * all.
   */
  lagMs(): number;
  nowMs(): number;
}

/** The times at which rows were found in the ledger. */
export class StoredRows {
  readonly #options: StoredRowsOptions;
  #answers: Answer[] = [];

  constructor(options: StoredRowsOptions) {
    this.#options = options;
  }

  /** Asks the ledger, unless that was done lately. */
  note(): void {
    const nowMs = this.#options.nowMs();
    const last = this.#answers.at(-1);
    if (last !== undefined && nowMs - last.askedMs < EVERY_MS) return;
    this.#answers.push({ recordedMs: nowMs - this.#options.lagMs(), askedMs: nowMs });
    if (this.#answers.length > MAX_ANSWERS) this.#answers = this.#answers.slice(MAX_ANSWERS / 2);
  }

  /**
   * For how many milliseconds a row that was recorded at a time has been in the ledger, at least;
   * -1 when it may not be there.
   */
  storedMs(recordedMs: number): number {
    const nowMs = this.#options.nowMs();
    const found = this.#answers.find((answer) => answer.recordedMs > recordedMs);
    if (found !== undefined) return nowMs - found.askedMs;
    return nowMs - this.#options.lagMs() > recordedMs ? 0 : -1;
  }

  clear(): void {
    this.#answers = [];
  }
}
