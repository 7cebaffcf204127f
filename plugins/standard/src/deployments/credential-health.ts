/** The health of a credential, which all its models share: whether the upstream refuses it. */

import {
  Breaker,
  type BreakerChange,
  type BreakerSettings,
  type Failed,
  type Standing,
} from "./breaker.ts";
import type { EvidenceOf } from "./breaker-evidence.ts";

/** A refusal of the credential: 401, 402 or 403. */
export interface CredentialRefusal extends Failed {
  readonly model: string;
  /** Whether the status says that the credential itself is not accepted: 401. */
  readonly isUnknown: boolean;
}

/**
 * Duration of an ejection by a refused credential: an operator does not replace it within seconds.
 */
const REST_MS = 5 * 60_000;
const MAX_REFUSALS = 8;

/**
 * A single refusal is no evidence against a credential. A second 401 confirms the first. Refusals
 * with another status may concern a model, a plan or a prompt: they count when they come from two
 * models and two keys, or from a key that is alone. Every other answer proves that the credential
 * works.
 */
export class CredentialHealth {
  #breaker = new Breaker();
  #refusals: CredentialRefusal[] = [];

  get breaker(): Breaker {
    return this.#breaker;
  }

  /** Begins as healthy. */
  reset(): void {
    this.#breaker = new Breaker();
    this.#refusals = [];
  }

  /** The upstream accepted the credential. */
  accept(at: Standing, nowMs: number): BreakerChange {
    if (this.#refusals.length > 0) this.#refusals = [];
    return this.breaker.answer(at, nowMs);
  }

  refuse(
    refusal: CredentialRefusal,
    nowMs: number,
    { ejectionMs }: BreakerSettings,
  ): BreakerChange {
    const { breaker } = this;
    const isOpen = breaker.openUntilMs !== undefined;
    const settings = {
      ejectionMs: refusal.isUnknown ? REST_MS : ejectionMs,
      maxEjectionMs: REST_MS,
    };
    if (isOpen)
      return breaker.isTrial(refusal.trial) ? breaker.eject(refusal, nowMs, settings) : undefined;
    this.#refusals.push(refusal);
    if (this.#refusals.length > MAX_REFUSALS) this.#refusals.shift();
    const of = this.#evidenceOf(refusal, nowMs);
    if (of === undefined) return undefined;
    this.#refusals = [];
    return breaker.eject(refusal, nowMs, settings, of);
  }

  /** Whose refusals confirm this one; `undefined` where none do. No client can cause a 401. */
  #evidenceOf({ isUnknown, key, model }: CredentialRefusal, nowMs: number): EvidenceOf | undefined {
    if (isUnknown)
      return this.#refusals.filter((each) => each.isUnknown).length >= 2 ? "keys" : undefined;
    const others = this.#refusals.filter((each) => each.model !== model);
    if (others.some((each) => each.key !== key)) return "keys";
    return others.length > 0 && this.breaker.isAlone(key, nowMs) ? "lone key" : undefined;
  }
}
