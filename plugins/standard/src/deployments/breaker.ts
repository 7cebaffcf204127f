/** The circuit breaker of what is called: when it is ejected, for how long, and how it comes back. */

import { type Evidence, FailuresByKey } from "./breaker-evidence.ts";
import { FailureWindow } from "./breaker-window.ts";

/** What a breaker goes by. It belongs to a configuration; the breaker's state outlives it. */
export interface BreakerSettings {
  /** Failures in a row that eject. */
  readonly consecutive: number;
  /** The share of failures that ejects, from 0 to 1. */
  readonly ratio: number;
  /** Attempts of the last ten seconds that the share needs to mean something. */
  readonly minRequests: number;
  readonly ejectionMs: number;
  readonly maxEjectionMs: number;
  /** The length of every ejection while another model can answer. Absent: as without one. */
  readonly replacedEjectionMs?: number;
}

/** What a verdict changed. */
export type BreakerChange = "ejected" | "recovered" | undefined;

/** A request that tries whether an ejected target works again. */
export interface Trial {
  readonly key: string;
  readonly startedMs: number;
}

/** Where an attempt stands. Times are on the monotonic clock. */
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
  /** What the upstream asked for. */
  readonly retryAfterMs: number | undefined;
  /** Whether another model can answer the request. Absent: no. */
  readonly isReplaceable?: boolean;
}

type Ejecting = Pick<Failed, "key" | "isAfterHead" | "isCut" | "retryAfterMs" | "isReplaceable">;

/** A trial keeps others out for so long. After that another one may begin beside it. */
const TRIAL_MS = 3_000;
/** For so long a key that caused an ejection, or had the trial before, leaves the trial to the others that asked. */
const PRECEDENCE_MS = 5_000;
/** Of the requests for a model's only target, the share of failures lets every tenth through. */
const THROUGH_EVERY = 10;

/** Closed: requests pass. Open: none does until the ejection has ended. Half open: one request, the trial, decides. */
export class Breaker {
  readonly #window = new FailureWindow();
  readonly #byKey = new FailuresByKey();
  #consecutive = 0;
  #isOpen = false;
  #openedAtMs = -Infinity;
  #openUntilMs = 0;
  #closedAtMs = -Infinity;
  /** Ejections without a lasting recovery between them: each doubles the next one's time. */
  #step = 0;
  #trial: Trial | undefined;
  /** The trial whose response began, and ended the ejection; until the next success its failure renews the ejection. */
  #begun: Trial | undefined;
  /** What proves that the target works: of failures that came after the head, or within the reply, what comes later. */
  #proof: "head" | "content" | "end" = "head";
  #isByShare = false;
  /** The key of the newest failure that ejected, or of the newest trial: others go before it. */
  #suspect: string | undefined;
  #suspectSinceMs = -Infinity;
  /** When another key was refused. */
  #knockedMs = -Infinity;
  #knocks = 0;

  /** Ejections, failed trials included, without a lasting recovery between them. */
  get ejectionsInRow(): number {
    return this.#step;
  }

  get consecutive(): number {
    return this.#consecutive;
  }

  /** When the ejection ends, or ended; `undefined` while closed. */
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

  /** Whether a request of a key may pass: as any, or as a trial. */
  isAdmitting(nowMs: number, key: string): boolean {
    if (!this.#isOpen) return true;
    if (this.waitMs(nowMs) > 0) return false;
    // Another key's failure says more than a second one of the same, and one key must not take every trial.
    const isTheirs = key === this.#suspect && this.#knockedMs >= this.#suspectSinceMs;
    const freeMs = Math.max(this.#openUntilMs, this.#trial === undefined ? 0 : this.#trial.startedMs + TRIAL_MS);
    return !isTheirs || nowMs >= freeMs + PRECEDENCE_MS;
  }

  /** A request of a key is refused, or goes elsewhere, because of the ejection. */
  knock(nowMs: number, key: string): void {
    if (this.#isOpen && key !== this.#suspect) this.#knockedMs = nowMs;
  }

  /** Whether a request may pass an ejection by the share of failures alone. Each call counts. */
  letsThrough(): boolean {
    if (!this.#isOpen || !this.#isByShare) return false;
    this.#knocks += 1;
    return this.#knocks % THROUGH_EVERY === 0;
  }

  /** A request passes. Returns its trial, where it is one. */
  enter(nowMs: number, key: string): Trial | undefined {
    this.#byKey.see(key, nowMs);
    if (!this.#isOpen || !this.isAdmitting(nowMs, key)) return undefined;
    this.#trial = { key, startedMs: nowMs };
    this.#suspect = key;
    this.#suspectSinceMs = nowMs;
    return this.#trial;
  }

  /** A trial has ended, whatever came of it. Without a verdict, the next request is the trial. */
  leave(trial: Trial): void {
    if (this.#trial === trial) this.#trial = undefined;
  }

  /** A response of the upstream's begins, with a status of success. */
  begin(at: Standing, nowMs: number): BreakerChange {
    if (!this.#isOpen || this.#proof !== "head") return undefined;
    const change = this.#recover(at, nowMs);
    if (change !== undefined) this.#begun = at.trial;
    return change;
  }

  /** The upstream did what it was asked, or refused what the request holds: either way it works. */
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
    // An attempt from before the ejection or the return says nothing about the present state.
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

  /** Whether a trial is the one that decides. */
  isTrial(trial: Trial | undefined): boolean {
    return trial !== undefined && trial === this.#trial;
  }

  /** Whether a key's requests are the only ones of late. */
  isAlone(key: string, nowMs: number): boolean {
    return this.#byKey.isAlone(key, nowMs);
  }

  /** Opens because of failures that were judged elsewhere. */
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
    // Not so where the last recovery was a head alone.
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

  /** Only an attempt that began after the ejection says that it is over. */
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
