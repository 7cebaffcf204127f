/** The recent outcomes of a callee, and whether its failures suffice for an ejection. */

import { type Evidence, FailuresByKey } from "./breaker-evidence.ts";
import { FailureWindow } from "./breaker-window.ts";

/** The failures that eject. */
export interface FailureLimits {
  /** Failures in a row that eject. */
  readonly consecutive: number;
  /** The share of failures that ejects, from 0 to 1. */
  readonly ratio: number;
  /** Minimum attempts of the last ten seconds before the share counts. */
  readonly minRequests: number;
}

/** The reason of an ejection: failures in a row, or the share of failures. */
export type EjectionGrounds = "row" | "share";

/** Outcomes since the last recovery. Times are on the monotonic clock. */
export class Outcomes {
  readonly #window = new FailureWindow();
  readonly #byKey = new FailuresByKey();
  #failuresInRow = 0;

  get failuresInRow(): number {
    return this.#failuresInRow;
  }

  /** Records a request of a key. */
  see(key: string, nowMs: number): void {
    this.#byKey.see(key, nowMs);
  }

  /** Whether all recent requests are of this key. */
  isAlone(key: string, nowMs: number): boolean {
    return this.#byKey.isAlone(key, nowMs);
  }

  addSuccess(key: string, nowMs: number): void {
    this.#failuresInRow = 0;
    this.#window.add(nowMs, false);
    this.#byKey.addSuccess(key, nowMs);
  }

  addFailure(failed: Evidence, nowMs: number): void {
    this.#failuresInRow += 1;
    this.#window.add(nowMs, true);
    this.#byKey.addFailure(failed, nowMs);
  }

  /** The reason to eject after a failure of a key; `undefined` when the failures do not suffice. */
  grounds(
    key: string,
    nowMs: number,
    { consecutive, ratio, minRequests }: FailureLimits,
  ): EjectionGrounds | undefined {
    if (this.#failuresInRow >= consecutive && this.#byKey.areInRow(consecutive, key, nowMs))
      return "row";
    const { failures, total } = this.#window.sum(nowMs);
    if (total < minRequests || failures < ratio * total) return undefined;
    return this.#byKey.areShare(ratio, key, nowMs) ? "share" : undefined;
  }

  clear(): void {
    this.#failuresInRow = 0;
    this.#window.clear();
    this.#byKey.clear();
  }
}
