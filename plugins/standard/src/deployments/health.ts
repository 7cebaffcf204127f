/** Health by callee, concrete model and operation. It outlives generations. */

import type { Operation, SharedValue } from "@sluice/contract";
import { Breaker } from "./breaker.ts";
import { CredentialHealth } from "./credential-health.ts";
import { Latency } from "./latency.ts";

/** An address with a credential, as targets call it. */
export interface Called {
  /** A digest of address and credential. */
  readonly callee: string;
  readonly model: string;
  readonly operation: Operation;
}

/** Maximum time that a Retry-After holds a target back. */
const MAX_LIMITED_MS = 60_000;
/** The time without a Retry-After. */
const LIMITED_MS = 1_000;

/** The health of one model at one callee, for one operation. */
export class Health {
  readonly called: Called;
  readonly breaker = new Breaker();
  readonly whole = new Latency();
  readonly stream = new Latency();
  #limitedUntilMs = -Infinity;

  constructor(called: Called) {
    this.called = called;
  }

  /** Records that the upstream's rate limit is reached: other targets go first. */
  limit(nowMs: number, retryAfterMs = LIMITED_MS): void {
    this.#limitedUntilMs = nowMs + Math.min(retryAfterMs, MAX_LIMITED_MS);
  }

  isLimited(nowMs: number): boolean {
    return nowMs < this.#limitedUntilMs;
  }

  /** Time to first content of streams, or of whole replies. */
  latencyOf(isStream: boolean): Latency {
    return isStream ? this.stream : this.whole;
  }
}

/**
 * Maximum of records in each of two maps. A full first map becomes the second, and the old second
 * is dropped.
 */
const MAX_RECORDS = 2_000;

/**
 * The records of the process. An attempt with a verdict on the target creates one, so an unknown
 * model has none. The number is bounded, because clients choose the models of a wildcard.
 */
export class HealthBook implements SharedValue {
  #recent = new Map<string, Health>();
  #older = new Map<string, Health>();
  readonly #credentials = new Map<string, { readonly health: CredentialHealth; holders: number }>();
  readonly #names = new Map<
    string,
    { readonly model: string; readonly operation: Operation; readonly name: string }
  >();

  /**
   * The name of a record. Each callee caches its newest one: most requests of a target name the
   * same model.
   */
  nameOf(callee: string, operation: Operation, model: string): string {
    const known = this.#names.get(callee);
    if (known?.model === model && known.operation === operation) return known.name;
    const name = `${callee} ${operation} ${model}`;
    this.#names.set(callee, { model, operation, name });
    return name;
  }

  /** The record of a name; `undefined` before the first verdict. */
  find(name: string): Health | undefined {
    const known = this.#recent.get(name);
    if (known !== undefined) return known;
    const older = this.#older.get(name);
    if (older !== undefined) this.#keep(name, older);
    return older;
  }

  open(name: string, called: Called): Health {
    const known = this.find(name);
    if (known !== undefined) return known;
    const made = new Health(called);
    this.#keep(name, made);
    return made;
  }

  /** The health of a callee's credential, held until `release`. */
  holdCredential(callee: string): CredentialHealth {
    const known = this.#credentials.get(callee);
    if (known !== undefined) known.holders += 1;
    const held = known ?? { health: new CredentialHealth(), holders: 1 };
    this.#credentials.set(callee, held);
    return held.health;
  }

  releaseCredential(callee: string): void {
    const held = this.#credentials.get(callee);
    if (held === undefined) return;
    held.holders -= 1;
    if (held.holders > 0) return;
    this.#credentials.delete(callee);
    this.#names.delete(callee);
  }

  credentialOf(callee: string): CredentialHealth | undefined {
    return this.#credentials.get(callee)?.health;
  }

  /** The records of a callee that a target may have called. */
  list(isOf: (called: Called) => boolean): readonly Health[] {
    return [...this.#recent.values(), ...this.#older.values()].filter(({ called }) => isOf(called));
  }

  /** Drops records, so that their models are healthy again. Attempts under way change no record. */
  forget(isOf: (called: Called) => boolean): void {
    for (const records of [this.#recent, this.#older]) {
      for (const [name, { called }] of records) if (isOf(called)) records.delete(name);
    }
  }

  close(): void {
    this.#recent.clear();
    this.#older.clear();
    this.#credentials.clear();
    this.#names.clear();
  }

  #keep(name: string, record: Health): void {
    this.#older.delete(name);
    if (this.#recent.size >= MAX_RECORDS / 2) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(name, record);
  }
}
