/** Beats: this gateway's reports to the others, while the server decides. */

import type { MaybePromise, StateDriver } from "@sluice/contract";

/** How often the other gateways learn that this one is there. */
const BEAT_MS = 500;

/** What beats are made with. */
export interface BeatsOptions {
  readonly driver: StateDriver;
  readonly instances: number;
  /** Whether an earlier process of this gateway was killed while it decided alone. */
  readonly isSuccessor: boolean;
  /**
   * Whether the ledger lacks rows of an earlier process. The others leave its share of budgets to
   * it until the first report, which comes after these rows.
   */
  readonly hasOldRows: () => boolean;
  /** Called after each report, and once where none is needed. */
  readonly onReport: () => void;
  /** Called when a report fails. */
  readonly onFailure: (error: unknown) => void;
}

/** The reports of one gateway. A gateway that is alone makes none. */
export class Beats {
  readonly #options: BeatsOptions;
  #timer: NodeJS.Timeout | undefined;
  #hasReported = false;

  constructor(options: BeatsOptions) {
    this.#options = options;
  }

  /** Whether the others know of this gateway. */
  get hasReported(): boolean {
    return this.#hasReported;
  }

  /** Reports now, unless rows of an earlier process are on their way. */
  report(): MaybePromise<void> {
    const { driver, instances, isSuccessor, hasOldRows } = this.#options;
    if (instances === 1 || driver.beat === undefined) return this.#reported();
    if (!this.#hasReported && hasOldRows()) return undefined;
    const sent = driver.beat(instances, isSuccessor && !this.#hasReported);
    return sent instanceof Promise ? sent.then(() => this.#reported()) : this.#reported();
  }

  /** Reports from time to time, until `stop` or a failure. */
  start(): void {
    this.stop();
    const { driver, instances, onFailure } = this.#options;
    if (driver.beat === undefined || instances === 1) return;
    const timer = setInterval(() => {
      Promise.resolve(this.report()).catch((error: unknown) => {
        if (this.#timer === timer) onFailure(error);
      });
    }, BEAT_MS).unref();
    this.#timer = timer;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #reported(): void {
    this.#hasReported = true;
    this.#options.onReport();
  }
}
