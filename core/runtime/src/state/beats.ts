/** Beats: this gateway's reports to the others, while the server decides. */

import type { MaybePromise, StateDriver } from "@sluice/contract";

/** How often the other gateways learn that this one is there. */
const BEAT_MS = 500;

/** What beats are made with. */
export interface BeatsOptions {
  readonly driver: StateDriver;
  readonly instances: number;
  /** Called when a report fails. */
  readonly onFailure: (error: unknown) => void;
}

/** The reports of one gateway. A gateway that is alone makes none. */
export class Beats {
  readonly #options: BeatsOptions;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: BeatsOptions) {
    this.#options = options;
  }

  /** Reports now. */
  report(): MaybePromise<void> {
    const { driver, instances } = this.#options;
    return instances === 1 ? undefined : driver.beat?.(instances);
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
}
