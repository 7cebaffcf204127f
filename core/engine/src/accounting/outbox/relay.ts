/**
 * The relay: copies committed rows from the outbox to the store, in the background and in large
 * transactions.
 */

import { within } from "@sluice/kit";
import { errorMessage, type Clock, type LedgerStore, type Log } from "@sluice/contract";
import { setImmediate as yieldToLoop, setTimeout as pause } from "node:timers/promises";
import { MAX_BATCH_ROWS } from "./batches.ts";
import { RelayWaiters } from "./relay-waiters.ts";
import type { Outbox } from "./outbox.ts";

/**
 * From the first row to the move. Rows that come meanwhile share the transaction, whose own part is
 * as much work as a dozen rows. Rows that fill a transaction do not wait: V8 copies what waits for
 * long.
 */
const MOVE_DELAY_MS = 100;
/**
 * The pause between small transactions that callers wait for, from the second one on. Each new
 * customer waits for the rows that are on their way: without the pause, a flood of new customers
 * moves a few rows in each turn of the event loop.
 */
const WAITED_DELAY_MS = 20;
const MIN_RETRY_DELAY_MS = 100;
const MAX_RETRY_DELAY_MS = 5_000;

const NOT_REACHED =
  "spend rows do not reach the store; they wait in the outbox and are tried again";

/** How long `stop` waits for a store that is busy with rows, in milliseconds. */
const STOP_WAIT_MS = 5_000;

/** The parts of a relay. */
export interface RelayOptions {
  readonly outbox: Outbox;
  readonly store: Pick<LedgerStore, "insert">;
  readonly log: Log;
  readonly clock: Clock;
}

/** A running relay. The store inserts rows idempotently, so a repeated batch is safe. */
export class Relay {
  readonly #outbox: Outbox;
  readonly #store: RelayOptions["store"];
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #waiters = new RelayWaiters();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #isStopped = false;
  /** Rows since the last move began. */
  #newRows = 0;
  #failures = 0;
  #failingSinceMs = 0;
  /** When the oldest rows that wait came. It is set by a notice and after a move. */
  #behindSinceMs: number | undefined;

  constructor({ outbox, store, log, clock }: RelayOptions) {
    this.#outbox = outbox;
    this.#store = store;
    this.#log = log;
    this.#clock = clock;
  }

  /** Whether rows are on their way: waiting for their commit or for the store. */
  get hasWork(): boolean {
    return this.#outbox.hasUncommitted || this.#outbox.pendingBatches > 0;
  }

  /** Whether the store refused the last rows it was given. */
  get isFailing(): boolean {
    return this.#failures > 0;
  }

  /** How long rows have been waiting, in milliseconds; 0 when the store has all of them. */
  get lagMs(): number {
    return this.#behindSinceMs === undefined || !this.hasWork
      ? 0
      : this.#clock.monotonic() - this.#behindSinceMs;
  }

  /** Notifies the relay of new rows. Costs nothing while a move is scheduled or running. */
  notice(rows = 0): void {
    const wasFull = this.#newRows >= MAX_BATCH_ROWS;
    this.#newRows += rows;
    const isFull = this.#newRows >= MAX_BATCH_ROWS;
    if (this.#running !== undefined || !this.hasWork) return;
    if (this.#timer !== undefined && (wasFull || !isFull || this.isFailing)) return;
    this.#behindSinceMs ??= this.#clock.monotonic();
    this.#arm(isFull ? 0 : MOVE_DELAY_MS);
  }

  /**
   * Resolves once all that was appended before the call is in the store. While the store fails, its
   * retries go on.
   */
  async flush(signal?: AbortSignal): Promise<void> {
    this.#outbox.commit();
    const target = this.#outbox.committedSequence;
    if (this.#outbox.discardedSequence >= target) return;
    signal?.throwIfAborted();
    if (this.#isStopped) throw stoppedError();
    const arrived = this.#waiters.add(target, signal);
    if (this.#failures === 0) this.#run();
    else this.#timer?.ref();
    await arrived;
  }

  /** Ends the moving, after the transaction that is under way. A second call has no effect. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#waiters.rejectAll(stoppedError());
    await within(STOP_WAIT_MS, this.#running, () => undefined);
  }

  #arm(delayMs: number): void {
    if (this.#isStopped) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#run(), delayMs);
    // Rows in the outbox are safe: only a waiting caller keeps the process alive for them.
    if (this.#waiters.isEmpty) this.#timer.unref();
  }

  #run(): void {
    if (this.#running !== undefined || this.#isStopped) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#newRows = 0;
    this.#running = this.#move().then((retryDelayMs) => {
      this.#running = undefined;
      if (retryDelayMs !== undefined) this.#arm(retryDelayMs);
      else this.notice();
    });
  }

  /**
   * Moves the rows committed before its start and those that a caller waits for. After a failure,
   * returns when to retry.
   */
  async #move(): Promise<number | undefined> {
    const begun = this.#outbox.committedSequence;
    const begunMs = this.#clock.monotonic();
    const isBehind = (): boolean =>
      !this.#isStopped && this.#outbox.discardedSequence < Math.max(begun, this.#waiters.target);
    let smallBatches = 0;
    while (isBehind()) {
      try {
        const batch = this.#outbox.peek();
        if (batch === undefined) break;
        await this.#store.insert(batch.rows);
        this.#outbox.discard(batch.throughSequence);
        smallBatches = batch.rows.length < MAX_BATCH_ROWS ? smallBatches + 1 : 0;
      } catch (error) {
        return this.#isStopped ? undefined : this.#fail(error);
      }
      this.#recover();
      this.#waiters.resolveThrough(this.#outbox.discardedSequence);
      await yieldToLoop();
      if (smallBatches > 1 && isBehind()) await pause(WAITED_DELAY_MS);
    }
    this.#waiters.resolveThrough(this.#outbox.discardedSequence);
    // The remaining rows arrived after the start of this move.
    if (!this.#isStopped) this.#behindSinceMs = this.hasWork ? begunMs : undefined;
    return undefined;
  }

  #fail(error: unknown): number {
    if (this.#failures === 0) {
      this.#failingSinceMs = this.#clock.monotonic();
      this.#log.warn(NOT_REACHED, {
        error: errorMessage(error),
        pending_batches: this.#outbox.pendingBatches,
      });
    }
    this.#failures++;
    return delayAfter(this.#failures);
  }

  #recover(): void {
    if (this.#failures === 0) return;
    const outageMs = Math.round(this.#clock.monotonic() - this.#failingSinceMs);
    this.#log.info("spend rows reach the store again", {
      failures: this.#failures,
      outage_ms: outageMs,
    });
    this.#failures = 0;
  }
}

/**
 * Milliseconds until a retry. Half of them are random, so that several gateways do not come back to
 * a store at the same moment.
 */
function delayAfter(failures: number): number {
  const delayMs = MIN_RETRY_DELAY_MS * 2 ** Math.min(failures - 1, 10);
  return Math.min(MAX_RETRY_DELAY_MS, delayMs) * (0.5 + Math.random() / 2);
}

function stoppedError(): Error {
  return new Error(
    "the ledger stopped before all rows were in the store; the next start moves them from the outbox",
  );
}
