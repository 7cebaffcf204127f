/** The trials of an ejected target: one request at a time tries whether the target works again. */

import type { EvidenceOf } from "./breaker-evidence.ts";

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
  /** The key whose failures alone ejected. */
  #loneKey: string | undefined;
  /** The time at which another key was refused. */
  #knockedMs = -Infinity;

  /** The time until which the current trial is alone; 0 without a trial. */
  get aloneUntilMs(): number {
    return this.#current === undefined ? 0 : this.#current.startedMs + TRIAL_MS;
  }

  /**
   * The time from which a request of a key may try. An ejection by the failures of one other key
   * alone is no verdict on this key's requests.
   */
  freeMs(key: string, openUntilMs: number): number {
    const isOther = this.#loneKey !== undefined && key !== this.#loneKey;
    return isOther ? this.aloneUntilMs : Math.max(openUntilMs, this.aloneUntilMs);
  }

  /** Whether a key may begin a trial of an ejection that ends at `openUntilMs`. */
  admits(key: string, openUntilMs: number, nowMs: number): boolean {
    if (nowMs < this.freeMs(key, openUntilMs)) return false;
    // A failure of another key is stronger evidence, and one key must not take every trial.
    const mustYield = key === this.#suspect && this.#knockedMs >= this.#suspectSinceMs;
    return !mustYield || nowMs >= Math.max(openUntilMs, this.aloneUntilMs) + PRECEDENCE_MS;
  }

  /** Records whose failures ejected; `of` is absent for a failed trial during an ejection. */
  ejected(key: string, of: EvidenceOf | undefined): void {
    if (of === "lone key") this.#loneKey = key;
    // The failed trial of another key confirms the ejection.
    else if (of === "keys" || key !== this.#loneKey) this.#loneKey = undefined;
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
    this.#loneKey = undefined;
  }

  /** Ends the current trial: a request of this key caused an ejection. */
  suspect(key: string, nowMs: number): void {
    this.#suspect = key;
    this.#suspectSinceMs = nowMs;
    this.#current = undefined;
  }
}
