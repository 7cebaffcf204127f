/**
 * Follows the log of changes of the store: memories hold while the last read of the log began less
 * than a second ago. One read in half a second serves all keys.
 */

import {
  errorMessage,
  type ChangeLog,
  type Clock,
  type Log,
  type RecordChanges,
} from "@sluice/contract";
import { PacedReads } from "./paced-reads.ts";
import {
  asked,
  isServed,
  MEMORY_MS,
  storeAway,
  type StoreDownPolicy,
  type StoreHealth,
  type Validity,
} from "./validity.ts";

/** The deadline of a read. */
const READ_MS = 1_500;
/** Reads that fail one after the other before the store counts as away. */
const FAILURES_OF_AWAY = 2;
/** Reads that a request waits for until memories are current. */
const MAX_WAITS = 3;

/** The parts of a watch. */
export interface StoreWatchOptions {
  readonly changes: ChangeLog;
  readonly policy: StoreDownPolicy;
  readonly clock: Clock;
  readonly log: Log;
}

/** Takes changes. `undefined`: any record may have changed since `asOfMs`, monotonic time. */
export type TakeChanges = (changes: RecordChanges, asOfMs: number) => void;

/** A watch. It reads from `start` to `stop`. */
export class StoreWatch implements Validity {
  readonly isFollowing = true;
  readonly #options: StoreWatchOptions;
  readonly #takers = new Set<TakeChanges>();
  readonly #reads: PacedReads;
  #unlisten: (() => void) | undefined;
  #failures = 0;
  /** When the last read that succeeded began. */
  #lastMs = -Infinity;

  constructor(options: StoreWatchOptions) {
    this.#options = options;
    this.#reads = new PacedReads({ read: () => this.#read(), clock: options.clock });
  }

  /** Passes changes on to a function, which does not throw. */
  onChanges(take: TakeChanges): void {
    this.#takers.add(take);
  }

  start(): void {
    this.#unlisten = this.#options.changes.listen({
      onWake: () => this.#reads.wake(),
      onWrite: (changes) => this.#take(changes),
    });
    void this.refresh();
  }

  /** Ends after the read that is under way. */
  async stop(): Promise<void> {
    this.#unlisten?.();
    await this.#reads.stop();
  }

  get health(): StoreHealth {
    const ageMs = this.#now - this.#lastMs;
    return {
      isAway: this.#isAway,
      ageMs: Number.isFinite(ageMs) ? ageMs : undefined,
      servesKnown: !this.#isAway || this.isCurrent(),
    };
  }

  isCurrent(): boolean {
    const now = this.#now;
    if (now < this.#lastMs + MEMORY_MS) return true;
    return this.#isAway && isServed(this.#options.policy, now - this.#lastMs);
  }

  async whenCurrent(): Promise<void> {
    for (let waits = 0; waits < MAX_WAITS && !this.#isAway; waits++) {
      // oxlint-disable-next-line no-await-in-loop -- the next read begins after this one.
      await (this.#reads.running ?? this.refresh());
      if (this.isCurrent()) return;
    }
    if (!this.isCurrent()) throw storeAway();
  }

  untilMs(): number {
    return Infinity;
  }

  asOfMs(): number {
    return this.#now;
  }

  mayServe(asOfMs: number): boolean {
    return isServed(this.#options.policy, this.#now - asOfMs);
  }

  async ask<T>(load: () => Promise<T>): Promise<T> {
    // A look-up would wait for a connection that does not come.
    if (this.#isAway) throw storeAway();
    return asked(load);
  }

  refresh(): Promise<void> {
    return this.#reads.again();
  }

  get #now(): number {
    return this.#options.clock.monotonic();
  }

  get #isAway(): boolean {
    return this.#failures >= FAILURES_OF_AWAY;
  }

  /** Never rejects. */
  async #read(): Promise<"done" | "retry"> {
    const begunMs = this.#now;
    try {
      this.#take(await this.#options.changes.read(AbortSignal.timeout(READ_MS)));
    } catch (error) {
      this.#fail(error);
      return this.#isAway ? "done" : "retry";
    }
    if (this.#isAway)
      this.#options.log.info("the store answers again", {
        outage_ms: Math.round(this.#now - this.#lastMs),
      });
    this.#failures = 0;
    this.#lastMs = begunMs;
    return "done";
  }

  #take(changes: RecordChanges): void {
    if (changes?.length === 0) return;
    for (const take of this.#takers) take(changes, this.#lastMs);
  }

  #fail(error: unknown): void {
    this.#failures += 1;
    if (this.#failures !== FAILURES_OF_AWAY) return;
    const { log, policy } = this.#options;
    log.warn("the store does not answer; unknown keys are refused until it does", {
      on_store_down: policy.onStoreDown,
      max_staleness_ms: policy.maxStalenessMs,
      error: errorMessage(error),
    });
  }
}
