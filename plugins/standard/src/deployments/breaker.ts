/** The circuit breaker of a callee: ejection, its duration, and recovery. */

import { type Evidence, FailuresByKey } from "./breaker-evidence.ts";
import { FailureWindow } from "./breaker-window.ts";

/** The settings of a breaker. They belong to a configuration; the breaker's state outlives it. */
export interface BreakerSettings {
  /** Failures in a row that eject. */
  readonly consecutive: number;
  /** The share of failures that ejects, from 0 to 1. */
  readonly ratio: number;
  /** Minimum attempts of the last ten seconds before the share counts. */
  readonly minRequests: number;
  readonly ejectionMs: number;
  readonly maxEjectionMs: number;
  /** The duration of every ejection while another model can answer. Absent: the usual duration. */
  readonly replacedEjectionMs?: number;
}

/** The change by a verdict. */
export type BreakerChange = "ejected" | "recovered" | undefined;

/** A request that tries whether an ejected target works again. */
export interface Trial {
  readonly key: string;
  readonly startedMs: number;
}

/** The state of an attempt. Times are on the monotonic clock. */
export interface Standing {
  readonly key: string;
  /** When the attempt began. */
  readonly startedMs: number;
  /** Its request's trial, if it is one. */
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

/** A trial is alone for this time. Then another one may begin beside it. */
const TRIAL_MS = 3_000;
/** For this time the key that caused an ejection, or had the last trial, yields the trial to other keys. */
const PRECEDENCE_MS = 5_000;
/** A model's only target that the share of failures ejected still serves every tenth request. */
const THROUGH_EVERY = 10;

/** Closed: requests pass. Open: no request passes until the ejection ends. Half open: one request, the trial, decides. */
export class Breaker {
  readonly #window = new FailureWindow();
  readonly #byKey = new FailuresByKey();
  #consecutive = 0;
  #isOpen = false;
  #openedAtMs = -Infinity;
  #openUntilMs = 0;
  #closedAtMs = -Infinity;
  /** Ejections without a lasting recovery between them: each doubles the next duration. */
  #step = 0;
  #trial: Trial | undefined;
  /** The trial whose response began, and ended the ejection; until the next success its failure renews the ejection. */
  #begun: Trial | undefined;
  /** The proof of recovery. After failures behind the head or within the reply, only a later point proves it. */
  #proof: "head" | "content" | "end" = "head";
  #isByShare = false;
  /** The key of the newest ejecting failure, or of the newest trial: other keys go first. */
  #suspect: string | undefined;
  #suspectSinceMs = -Infinity;
  /** The time at which another key was refused. */
  #knockedMs = -Infinity;
  #knocks = 0;

  /** Ejections, failed trials included, without a lasting recovery between them. */
  get ejectionsInRow(): number {
    return this.#step;
  }

  get consecutive(): number {
    return this.#consecutive;
  }

  /** The end of the ejection; `undefined` while closed. */
  get openUntilMs(): number | undefined {
    return this.#isOpen ? this.#openUntilMs : undefined;
  }

  state(nowMs: number): "closed" | "open" | "half_open" {
    if (!this.#isOpen) return "closed";
    return nowMs < this.#openUntilMs ? "open" : "half_open";
  }

  /** Milliseconds until another request may try; 0 when one may now. */
  waitMs(nowMs: number): number {
    if (!this.#isOpen) return 0;
    const trialMs = this.#trial === undefined ? 0 : this.#trial.startedMs + TRIAL_MS;
    return Math.max(0, this.#openUntilMs - nowMs, trialMs - nowMs);
  }

  /** Whether a request of a key may pass, as a trial or without one. */
  isAdmitting(nowMs: number, key: string): boolean {
    if (!this.#isOpen) return true;
    if (this.waitMs(nowMs) > 0) return false;
    // A failure of another key is stronger evidence, and one key must not take every trial.
    const isTheirs = key === this.#suspect && this.#knockedMs >= this.#suspectSinceMs;
    const freeMs = Math.max(this.#openUntilMs, this.#trial === undefined ? 0 : this.#trial.startedMs + TRIAL_MS);
    return !isTheirs || nowMs >= freeMs + PRECEDENCE_MS;
  }

  /** Records that a request of a key was refused or redirected by the ejection. */
  knock(nowMs: number, key: string): void {
    if (this.#isOpen && key !== this.#suspect) this.#knockedMs = nowMs;
  }

  /** Whether a request may pass an ejection that only the share of failures caused. Each call counts. */
  letsThrough(): boolean {
    if (!this.#isOpen || !this.#isByShare) return false;
    this.#knocks += 1;
    return this.#knocks % THROUGH_EVERY === 0;
  }

  /** Lets a request pass. Returns its trial, if it is one. */
  enter(nowMs: number, key: string): Trial | undefined {
    this.#byKey.see(key, nowMs);
    if (!this.#isOpen || !this.isAdmitting(nowMs, key)) return undefined;
    this.#trial = { key, startedMs: nowMs };
    this.#suspect = key;
    this.#suspectSinceMs = nowMs;
    return this.#trial;
  }

  /** Ends a trial. Without a verdict, the next request is the trial. */
  leave(trial: Trial): void {
    if (this.#trial === trial) this.#trial = undefined;
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
    this.#consecutive = 0;
    this.#window.add(nowMs, false);
    this.#byKey.addSuccess(at.key, nowMs);
    return change;
  }

  fail(failed: Failed, nowMs: number, settings: BreakerSettings): BreakerChange {
    const { trial, key } = failed;
    const isTrial = trial !== undefined && (trial === this.#trial || trial === this.#begun);
    // An attempt from before the ejection or the recovery is no evidence on the present state.
    if (!isTrial && (this.#isOpen || failed.startedMs < this.#closedAtMs)) return undefined;
    this.#consecutive += 1;
    this.#window.add(nowMs, true);
    this.#byKey.addFailure(failed, nowMs);
    if (isTrial) return this.eject(failed, nowMs, settings);
    if (this.#consecutive >= settings.consecutive && this.#byKey.areInRow(settings.consecutive, key, nowMs)) {
      this.#isByShare = false;
      return this.eject(failed, nowMs, settings);
    }
    const { failures, total } = this.#window.sum(nowMs);
    const { minRequests, ratio } = settings;
    if (total < minRequests || failures < ratio * total || !this.#byKey.areShare(ratio, key, nowMs)) return undefined;
    this.#isByShare = true;
    return this.eject(failed, nowMs, settings);
  }

  /** Whether this trial decides. */
  isTrial(trial: Trial | undefined): boolean {
    return trial !== undefined && trial === this.#trial;
  }

  /** Whether all recent requests are of this key. */
  isAlone(key: string, nowMs: number): boolean {
    return this.#byKey.isAlone(key, nowMs);
  }

  /** Opens for failures that the caller has evaluated. */
  eject(
    { key, isAfterHead, isCut, retryAfterMs = 0, isReplaceable }: Ejecting,
    nowMs: number,
    {
      ejectionMs,
      maxEjectionMs,
      replacedEjectionMs,
    }: Pick<BreakerSettings, "ejectionMs" | "maxEjectionMs" | "replacedEjectionMs">,
  ): BreakerChange {
    const isNew = !this.#isOpen;
    // A recovery by a response head alone does not count.
    if (isNew && this.#begun === undefined && nowMs - this.#closedAtMs > maxEjectionMs) this.#step = 0;
    const doubledMs = ejectionMs * 2 ** Math.min(this.#step, 30);
    // The fallback answers when a trial fails: trials may be frequent.
    const ownMs =
      isReplaceable === true && replacedEjectionMs !== undefined ? Math.min(doubledMs, replacedEjectionMs) : doubledMs;
    const grownMs = Math.max(ownMs, retryAfterMs);
    this.#step += 1;
    this.#isOpen = true;
    this.#openedAtMs = nowMs;
    this.#openUntilMs = nowMs + Math.min(grownMs, maxEjectionMs);
    this.#proof = isCut === true ? "end" : isAfterHead ? "content" : "head";
    this.#suspect = key;
    this.#suspectSinceMs = nowMs;
    this.#trial = undefined;
    this.#begun = undefined;
    // A failed trial prolongs an ejection that is already logged.
    return isNew ? "ejected" : undefined;
  }

  /** Only an attempt that began after the ejection proves a recovery. */
  #recover({ trial, startedMs }: Standing, nowMs: number): BreakerChange {
    if (!this.#isOpen || (trial === undefined && startedMs < this.#openedAtMs)) return undefined;
    this.#isOpen = false;
    this.#trial = undefined;
    this.#consecutive = 0;
    this.#closedAtMs = nowMs;
    this.#isByShare = false;
    this.#window.clear();
    this.#byKey.clear();
    return "recovered";
  }
}
