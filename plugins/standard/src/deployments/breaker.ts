/** The circuit breaker of a callee: ejection, its duration, and recovery. */

import {
  type Evidence,
  type EvidenceOf,
  type FailureLimits,
  Outcomes,
} from "./breaker-evidence.ts";
import { type Trial, Trials } from "./breaker-trials.ts";

/** How long an ejection lasts. */
export interface EjectionTimes {
  readonly ejectionMs: number;
  readonly maxEjectionMs: number;
  /** The duration of every ejection while another model can answer. Absent: the usual duration. */
  readonly replacedEjectionMs?: number;
}

/** The settings of a breaker. They belong to a configuration; the breaker's state outlives it. */
export interface BreakerSettings extends FailureLimits, EjectionTimes {}

/** The change by a verdict. */
export type BreakerChange = "ejected" | "recovered" | undefined;

/** The state of an attempt. Times are on the monotonic clock. */
export interface Standing {
  readonly key: string;
  /** When the attempt began. */
  readonly startedMs: number;
  /** The trial of the request, if it is one. */
  readonly trial: Trial | undefined;
}

/** An attempt that failed. */
export interface Failed extends Standing, Evidence {
  /** Whether a response with status 200 had begun. */
  readonly isAfterHead: boolean;
  /** Whether content had come, so that the reply was cut. Absent: no. */
  readonly isCut?: boolean;
  /** The upstream's Retry-After. */
  readonly retryAfterMs: number | undefined;
  /** Whether another model can answer the request. Absent: no. */
  readonly isReplaceable?: boolean;
}

type Ejecting = Pick<Failed, "key" | "isAfterHead" | "isCut" | "retryAfterMs" | "isReplaceable">;

/** A model's only target that the share of failures ejected still serves every tenth request. */
const THROUGH_EVERY = 10;

/**
 * Closed: requests pass. Open: no request passes until the ejection ends. Half open: one request,
 * the trial, decides.
 */
export class Breaker {
  readonly #outcomes = new Outcomes();
  readonly #trials = new Trials();
  #isOpen = false;
  #openedAtMs = -Infinity;
  #openUntilMs = 0;
  #closedAtMs = -Infinity;
  /** Ejections without a lasting recovery between them: each doubles the next duration. */
  #step = 0;
  /** The trial whose response head ended the ejection. Its failure renews the ejection. */
  #begun: Trial | undefined;
  /** What proves a recovery: a point behind that of the failure which ejected. */
  #proof: "head" | "content" | "end" = "head";
  #isByShare = false;
  /** Requests that asked to pass an ejection by the share of failures. */
  #asked = 0;

  /** Ejections, failed trials included, without a lasting recovery between them. */
  get ejectionsInRow(): number {
    return this.#step;
  }

  get consecutive(): number {
    return this.#outcomes.failuresInRow;
  }

  /** The end of the ejection; `undefined` while closed. */
  get openUntilMs(): number | undefined {
    return this.#isOpen ? this.#openUntilMs : undefined;
  }

  state(nowMs: number): "closed" | "open" | "half_open" {
    if (!this.#isOpen) return "closed";
    return nowMs < this.#openUntilMs ? "open" : "half_open";
  }

  /** Milliseconds until another request of a key may try; 0 when one may now. */
  waitMs(nowMs: number, key: string): number {
    return this.#isOpen ? Math.max(0, this.#trials.freeMs(key, this.#openUntilMs) - nowMs) : 0;
  }

  /** Whether a request of a key may pass, as a trial or without one. */
  isAdmitting(nowMs: number, key: string): boolean {
    return !this.#isOpen || this.#trials.admits(key, this.#openUntilMs, nowMs);
  }

  /** Records that a request of a key was refused or redirected by the ejection. */
  knock(nowMs: number, key: string): void {
    if (this.#isOpen) this.#trials.knock(key, nowMs);
  }

  /** Whether a request may pass an ejection by the share of failures. Each call counts. */
  letsThrough(): boolean {
    if (!this.#isOpen || !this.#isByShare) return false;
    this.#asked += 1;
    return this.#asked % THROUGH_EVERY === 0;
  }

  /** Lets a request pass. Returns its trial, if it is one. */
  enter(nowMs: number, key: string): Trial | undefined {
    this.#outcomes.see(key, nowMs);
    if (!this.#isOpen || !this.isAdmitting(nowMs, key)) return undefined;
    return this.#trials.begin(key, nowMs);
  }

  /** Ends a trial. Without a verdict, the next request is the trial. */
  leave(trial: Trial): void {
    this.#trials.end(trial);
  }

  /** Records the head of a successful response. */
  begin(at: Standing, nowMs: number): BreakerChange {
    if (!this.#isOpen || this.#proof !== "head") return undefined;
    const change = this.#recover(at, nowMs);
    if (change !== undefined) this.#begun = at.trial;
    return change;
  }

  /** Records that the upstream works: it served the request, or refused its content. */
  answer(at: Standing, nowMs: number): BreakerChange {
    if (this.#proof === "end") return undefined;
    return this.#recover(at, nowMs);
  }

  succeed(at: Standing, nowMs: number): BreakerChange {
    const change = this.#recover(at, nowMs);
    this.#begun = undefined;
    this.#outcomes.addSuccess(at.key, nowMs);
    return change;
  }

  fail(failed: Failed, nowMs: number, settings: BreakerSettings): BreakerChange {
    const { trial, key } = failed;
    const isTrial = trial !== undefined && (this.#trials.isCurrent(trial) || trial === this.#begun);
    // An attempt from before the ejection or the recovery is no evidence on the present state.
    if (!isTrial && (this.#isOpen || failed.startedMs < this.#closedAtMs)) return undefined;
    this.#outcomes.addFailure(failed, nowMs);
    if (isTrial) return this.eject(failed, nowMs, settings);
    const grounds = this.#outcomes.grounds(key, nowMs, settings);
    if (grounds === undefined) return undefined;
    this.#isByShare = grounds.by === "share";
    return this.eject(failed, nowMs, settings, grounds.of);
  }

  /** Whether this trial decides. */
  isTrial(trial: Trial | undefined): boolean {
    return this.#trials.isCurrent(trial);
  }

  /** Whether all recent requests are of this key. */
  isAlone(key: string, nowMs: number): boolean {
    return this.#outcomes.isAlone(key, nowMs);
  }

  /** Opens for failures that the caller has evaluated. `of` is absent for a failed trial. */
  eject(failed: Ejecting, nowMs: number, times: EjectionTimes, of?: EvidenceOf): BreakerChange {
    const isNew = !this.#isOpen;
    // A trial that failed behind its head, after the recovery, is the failure of one key.
    this.#trials.ejected(failed.key, of ?? (isNew ? "lone key" : undefined));
    // A recovery by a response head alone does not count.
    if (isNew && this.#begun === undefined && nowMs - this.#closedAtMs > times.maxEjectionMs)
      this.#step = 0;
    this.#openUntilMs = nowMs + ejectionMs(this.#step, failed, times);
    this.#openedAtMs = nowMs;
    this.#isOpen = true;
    this.#step += 1;
    this.#proof = failed.isCut === true ? "end" : failed.isAfterHead ? "content" : "head";
    this.#trials.suspect(failed.key, nowMs);
    this.#begun = undefined;
    // A failed trial prolongs an ejection that is already logged.
    return isNew ? "ejected" : undefined;
  }

  /** Only an attempt that began after the ejection proves a recovery. */
  #recover({ trial, startedMs }: Standing, nowMs: number): BreakerChange {
    if (!this.#isOpen || (trial === undefined && startedMs < this.#openedAtMs)) return undefined;
    this.#isOpen = false;
    this.#closedAtMs = nowMs;
    this.#isByShare = false;
    this.#trials.clear();
    this.#outcomes.clear();
    return "recovered";
  }
}

/**
 * The duration of an ejection in milliseconds. It doubles with each step, and obeys the upstream's
 * Retry-After up to the maximum.
 */
function ejectionMs(
  step: number,
  { retryAfterMs = 0, isReplaceable }: Ejecting,
  { ejectionMs: firstMs, maxEjectionMs, replacedEjectionMs = Infinity }: EjectionTimes,
): number {
  const doubledMs = firstMs * 2 ** Math.min(step, 30);
  // The fallback answers when a trial fails: trials may be frequent.
  const ownMs = isReplaceable === true ? Math.min(doubledMs, replacedEjectionMs) : doubledMs;
  return Math.min(Math.max(ownMs, retryAfterMs), maxEjectionMs);
}
