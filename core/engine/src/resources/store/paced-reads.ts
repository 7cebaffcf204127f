/** Runs a read again and again: at a pace, when it is woken, and when a caller needs a new one. */

import type { Clock } from "@sluice/contract";

/** From the begin of a read to the next one. */
const READ_EVERY_MS = 500;
/** From the begin of a read to one that is woken. */
const MIN_GAP_MS = 20;
const RETRY_MS = 50;

/** The parts of the reads. */
export interface PacedReadsOptions {
  /** Never rejects. Returns whether it is to be tried again soon. */
  readonly read: () => Promise<"done" | "retry">;
  readonly clock: Pick<Clock, "monotonic">;
}

/** Reads, one at a time. */
export class PacedReads {
  readonly #options: PacedReadsOptions;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  /** The read behind the one that runs. */
  #next: Promise<void> | undefined;
  #isStopped = false;
  #begunMs = -Infinity;

  constructor(options: PacedReadsOptions) {
    this.#options = options;
  }

  /** The read that is under way. */
  get running(): Promise<void> | undefined {
    return this.#running;
  }

  /** Resolves after a read that begins after the call. */
  again(): Promise<void> {
    if (this.#running === undefined) return this.#run();
    this.#next ??= this.#running.then(() => {
      this.#next = undefined;
      // A read that has begun since then began after the call.
      return this.#running ?? this.#run();
    });
    return this.#next;
  }

  /** Reads soon. Costs nothing while that is about to happen. */
  wake(): void {
    if (this.#running === undefined) this.#arm(this.#begunMs + MIN_GAP_MS);
    else void this.again();
  }

  /** Ends after the read that is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #arm(atMs: number): void {
    clearTimeout(this.#timer);
    if (this.#isStopped) return;
    const delayMs = Math.max(0, atMs - this.#options.clock.monotonic());
    this.#timer = setTimeout(() => void this.again(), delayMs);
    this.#timer.unref();
  }

  #run(): Promise<void> {
    if (this.#isStopped) return Promise.resolve();
    clearTimeout(this.#timer);
    this.#begunMs = this.#options.clock.monotonic();
    this.#running = this.#options.read().then((outcome) => {
      this.#running = undefined;
      const nowMs = this.#options.clock.monotonic();
      this.#arm(outcome === "retry" ? nowMs + RETRY_MS : this.#begunMs + READ_EVERY_MS);
    });
    return this.#running;
  }
}
