/** Probes of a server that is away: often at first, then rarely. */

import type { StateDriver } from "@sluice/contract";

/** Consecutive failures after which probes are rare. */
const FAILURES_TO_OPEN = 5;
/** Pauses between probes, before and after that; by chance up to a quarter more or less. */
const SHORT_PAUSE_MS = 250;
const LONG_PAUSE_MS = 1_000;

/** When a server is asked again. */
export class Probes {
  readonly #probe: () => Promise<void>;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `probe` never rejects. */
  constructor(probe: () => Promise<void>) {
    this.#probe = probe;
  }

  /** Counts a call that failed. */
  failed(): void {
    this.#failures += 1;
  }

  /** Counts a call that was answered. */
  succeeded(): void {
    this.#failures = 0;
  }

  /** Runs the next probe after a pause: the given one, or that of the failures so far. */
  later(pauseMs = this.#pauseMs()): void {
    this.#timer = setTimeout(() => void this.#probe(), pauseMs);
    this.#timer.unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #pauseMs(): number {
    const pauseMs = this.#failures < FAILURES_TO_OPEN ? SHORT_PAUSE_MS : LONG_PAUSE_MS;
    return pauseMs * (0.75 + Math.random() / 2);
  }
}

/** Rejects while the server of a driver cannot decide. */
export async function reach(driver: StateDriver): Promise<void> {
  if (driver.probe !== undefined) await driver.probe();
  // A write: a replica answers reads.
  else await driver.cache.set("probe", Uint8Array.of(1), 1_000);
}
