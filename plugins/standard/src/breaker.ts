/** The circuit breaker of one deployment: when it is ejected, for how long, and how it comes back. */

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
}

/** What an attempt said of its deployment. `refused`: it answered, that the request is at fault. `nothing`: the client left. */
export type Verdict = "success" | "failure" | "credential" | "refused" | "nothing";

/** What a verdict changed. */
export type BreakerChange = "ejected" | "recovered" | undefined;

/** A refused credential is not renewed within seconds. */
const CREDENTIAL_EJECTION_MS = 5 * 60_000;

/**
 * Closed: requests pass. Open: none does until the ejection has ended. Half open: one request, the probe, decides. Times
 * are on the monotonic clock.
 */
export class Breaker {
  readonly #window = new FailureWindow();
  #consecutive = 0;
  #isOpen = false;
  #openUntilMs = 0;
  #closedAtMs = -Infinity;
  /** Ejections without a lasting recovery between them: each doubles the next one's time. */
  #step = 0;
  #ejections = 0;
  #isProbing = false;
  #isForCredential = false;

  get consecutive(): number {
    return this.#consecutive;
  }

  get ejections(): number {
    return this.#ejections;
  }

  /** When the ejection ends, or ended; `undefined` while closed. */
  get openUntilMs(): number | undefined {
    return this.#isOpen ? this.#openUntilMs : undefined;
  }

  state(nowMs: number): "closed" | "open" | "half_open" {
    if (!this.#isOpen) return "closed";
    return nowMs < this.#openUntilMs ? "open" : "half_open";
  }

  /** Whether a request may pass: as any, or as the one probe. */
  isAdmitting(nowMs: number): boolean {
    return !this.#isOpen || (nowMs >= this.#openUntilMs && !this.#isProbing);
  }

  /** A request passes. Returns whether it is the probe. */
  enter(nowMs: number): boolean {
    if (this.#isProbing || this.state(nowMs) !== "half_open") return false;
    this.#isProbing = true;
    return true;
  }

  /** The probe has ended, whatever came of it. Without a verdict, the next request is the probe. */
  endProbe(): void {
    this.#isProbing = false;
  }

  /** The deployment works: content arrived. Only the probe's word ends an ejection. */
  recover(nowMs: number): BreakerChange {
    if (!this.#isOpen) return undefined;
    this.#isOpen = false;
    this.#isForCredential = false;
    this.#consecutive = 0;
    this.#closedAtMs = nowMs;
    this.#window.clear();
    return "recovered";
  }

  /** Counts the verdict of an attempt that has ended. `retryAfterMs` is what the upstream asked for. */
  count(verdict: Verdict, nowMs: number, settings: BreakerSettings, isProbe: boolean, retryAfterMs = 0): BreakerChange {
    if (verdict === "nothing") return undefined;
    if (verdict === "refused") return isProbe ? this.recover(nowMs) : undefined;
    if (verdict === "success") {
      this.#consecutive = 0;
      this.#window.add(nowMs, false);
      return isProbe ? this.recover(nowMs) : undefined;
    }
    this.#consecutive += 1;
    this.#window.add(nowMs, true);
    // What was under way when the deployment was ejected tells nothing new.
    if (this.#isOpen && !isProbe && verdict !== "credential") return undefined;
    if (verdict === "credential") return this.#eject(nowMs, CREDENTIAL_EJECTION_MS, true);
    if (!isProbe && !this.#isTripped(nowMs, settings)) return undefined;
    if (!this.#isOpen && nowMs - this.#closedAtMs > settings.maxEjectionMs) this.#step = 0;
    const grownMs = Math.max(settings.ejectionMs * 2 ** Math.min(this.#step, 30), retryAfterMs);
    this.#step += 1;
    return this.#eject(nowMs, Math.min(grownMs, settings.maxEjectionMs), false);
  }

  /** A new configuration may hold a new credential: what was ejected for the old one is tried again. */
  renew(nowMs: number): void {
    if (this.#isOpen && this.#isForCredential) this.#openUntilMs = Math.min(this.#openUntilMs, nowMs);
  }

  #isTripped(nowMs: number, { consecutive, ratio, minRequests }: BreakerSettings): boolean {
    if (this.#consecutive >= consecutive) return true;
    const { failures, total } = this.#window.sum(nowMs);
    return total >= minRequests && failures >= ratio * total;
  }

  #eject(nowMs: number, forMs: number, isForCredential: boolean): BreakerChange {
    const isNew = !this.#isOpen;
    this.#isOpen = true;
    this.#isForCredential = isForCredential;
    this.#openUntilMs = nowMs + forMs;
    if (isNew) this.#ejections += 1;
    // A failed probe prolongs an ejection that the log already tells of.
    return isNew ? "ejected" : undefined;
  }
}
