/** Keys of the store in memory, by their fingerprints and by their ids. */

import type { KeyRecord } from "@sluice/contract";
import { type Believed, expireNow, recheckFrom } from "./believed.ts";
import { RecentMap } from "./recent-map.ts";
import type { KeyBase } from "../tenants/compile-identity.ts";

/** Keys that are remembered at most: some 50 MB. */
const MAX_KEYS = 20_000;
/** Unknown keys that are remembered at most. */
const MAX_UNKNOWN = 10_000;

/** A look-up that found a key. */
export interface RememberedKey extends Believed {
  readonly record: KeyRecord;
  /** The same object as long as the record is the same; `undefined`: it is refused. */
  readonly base: KeyBase | undefined;
  /** When the key ends, or the secret that was presented. */
  readonly endMs: number;
}

/** The memory. Unknown keys have a bound of their own: they push no key out. */
export class KeyMemory {
  readonly #byId = new Map<string, Set<string>>();
  readonly #known = new RecentMap<string, RememberedKey>(MAX_KEYS, (fingerprint, { record }) =>
    this.#drop(record.id, fingerprint),
  );
  /** Until when, milliseconds since 1970. */
  readonly #unknown = new RecentMap<string, number>(MAX_UNKNOWN);

  get size(): number {
    return this.#known.size;
  }

  find(fingerprint: string, nowMs: number): RememberedKey | undefined {
    return this.#known.get(fingerprint, nowMs);
  }

  isUnknown(fingerprint: string, nowMs: number): boolean {
    return nowMs < (this.#unknown.get(fingerprint, nowMs) ?? 0);
  }

  set(fingerprint: string, key: RememberedKey, nowMs: number): void {
    this.#unknown.delete(fingerprint);
    this.#known.set(fingerprint, key, nowMs);
    const { id } = key.record;
    const fingerprints = this.#byId.get(id) ?? new Set();
    this.#byId.set(id, fingerprints.add(fingerprint));
  }

  setUnknown(fingerprint: string, untilMs: number, nowMs: number): void {
    this.#known.delete(fingerprint);
    this.#unknown.set(fingerprint, untilMs, nowMs);
  }

  /** A key has changed: its next look-up asks the store. */
  expire(id: string): void {
    for (const fingerprint of this.#byId.get(id) ?? []) {
      const key = this.#known.get(fingerprint, 0);
      if (key !== undefined) expireNow(key);
    }
  }

  /** All keys may have changed. */
  expireAll(): void {
    for (const key of this.#known.values()) expireNow(key);
    this.#unknown.clear();
  }

  /** Every look-up asks the store. Where it does not answer, keys are as of a time. */
  recheckAll(asOfMs: number): void {
    for (const key of this.#known.values()) recheckFrom(key, asOfMs);
    this.#unknown.clear();
  }

  #drop(id: string, fingerprint: string): void {
    const fingerprints = this.#byId.get(id);
    fingerprints?.delete(fingerprint);
    if (fingerprints?.size === 0) this.#byId.delete(id);
  }
}
