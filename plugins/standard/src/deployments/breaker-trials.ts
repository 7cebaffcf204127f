/** The trials of an ejected target: one request at a time tries whether the target works again. */

/** A request that tries whether an ejected target works again. */
export interface Trial {
  readonly key: string;
  readonly startedMs: number;
}

/** A trial is alone for this time. Then another one may begin beside it. */
const TRIAL_MS = 3_000;
/**
 * For this time the key that caused an ejection, or had the last trial, yields the trial to other
 * keys.
 */
const PRECEDENCE_MS = 5_000;

/**
 * The current trial, and the key that yields the next one to other keys. Times are on the monotonic
 * clock.
 */
export class Trials {
  #current: Trial | undefined;
  /** The key of the newest ejecting failure, or of the newest trial: other keys go first. */
  #suspect: string | undefined;
  #suspectSinceMs = -Infinity;
  /** The time at which another key was refused. */
  #knockedMs = -Infinity;

  /** The time until which the current trial is alone; 0 without a trial. */
  get aloneUntilMs(): number {
    return this.#current === undefined ? 0 : this.#current.startedMs + TRIAL_MS;
  }

  /** Whether a key may begin a trial that any key may begin since `freeMs`. */
  admits(key: string, freeMs: number, nowMs: number): boolean {
    // A failure of another key is stronger evidence, and one key must not take every trial.
    const mustYield = key === this.#suspect && this.#knockedMs >= this.#suspectSinceMs;
    return !mustYield || nowMs >= freeMs + PRECEDENCE_MS;
  }

  /** Records that a request of a key was refused or redirected by the ejection. */
  knock(key: string, nowMs: number): void {
    if (key !== this.#suspect) this.#knockedMs = nowMs;
  }

  begin(key: string, nowMs: number): Trial {
    const trial = { key, startedMs: nowMs };
    this.suspect(key, nowMs);
    this.#current = trial;
    return trial;
  }

  isCurrent(trial: Trial | undefined): boolean {
    return trial !== undefined && trial === this.#current;
  }

  /** Ends a trial, if it is the current one. */
  end(trial: Trial): void {
    if (this.#current === trial) this.#current = undefined;
  }

  /** Ends the current trial: the target recovered. */
  clear(): void {
    this.#current = undefined;
  }

  /** Ends the current trial: a request of this key caused an ejection. */
  suspect(key: string, nowMs: number): void {
    this.#suspect = key;
    this.#suspectSinceMs = nowMs;
    this.#current = undefined;
  }
}
