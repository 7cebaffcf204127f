/** Look-ups of keys of the store, remembered as long as `validity.ts` says. */

import { isDeepStrictEqual } from "node:util";
import type { Clock } from "@sluice/contract";
import { storedKey } from "../key-identity.ts";
import { KeyMemory, type RememberedKey } from "./key-memory.ts";
import { MEMORY_MS, type Validity } from "./validity.ts";
import type { FoundKey, StoredKeys } from "../stored-keys.ts";
import type { KeyBase } from "../tenants/compile-identity.ts";

/** The parts of the look-ups. */
export interface RememberedKeysOptions {
  readonly stored: Pick<StoredKeys, "use">;
  readonly clock: Pick<Clock, "now">;
  readonly validity: Validity;
}

/** Keys that were looked up. */
export class RememberedKeys {
  readonly #stored: RememberedKeysOptions["stored"];
  readonly #clock: Pick<Clock, "now">;
  readonly #validity: Validity;
  readonly #memory = new KeyMemory();
  readonly #loading = new Map<string, Promise<KeyBase | undefined>>();
  /** Counts the changes: a look-up that began before one is not remembered after it. */
  #changes = 0;

  constructor({ stored, clock, validity }: RememberedKeysOptions) {
    this.#stored = stored;
    this.#clock = clock;
    this.#validity = validity;
  }

  /** The key of a fingerprint; `null`: it is refused; `undefined`: the store has to be asked. */
  find(fingerprint: string): KeyBase | null | undefined {
    const nowMs = this.#clock.now();
    const known = this.#memory.find(fingerprint, nowMs);
    if (known !== undefined) return nowMs < known.untilMs ? (known.base ?? null) : undefined;
    return this.#memory.isUnknown(fingerprint, nowMs) ? null : undefined;
  }

  /** Asks the store; concurrent look-ups of one key ask once. Rejects with `overloaded`. */
  load(presented: string, fingerprint: string): Promise<KeyBase | undefined> {
    const loading = this.#loading.get(fingerprint);
    if (loading !== undefined) return loading;
    const asked = this.#load(presented, fingerprint).finally(() => {
      if (this.#loading.get(fingerprint) === asked) this.#loading.delete(fingerprint);
    });
    this.#loading.set(fingerprint, asked);
    return asked;
  }

  /** A key has changed; without an id, all may have. */
  expire(id?: string): void {
    if (id === undefined) this.#memory.expireAll();
    else this.#memory.expire(id);
    this.#hasChanged();
  }

  /** Every look-up asks the store. Where it does not answer, keys hold as of a time. */
  recheckAll(asOfMs: number): void {
    this.#memory.recheckAll(asOfMs);
    this.#hasChanged();
  }

  #hasChanged(): void {
    this.#changes += 1;
    this.#loading.clear();
  }

  async #load(presented: string, fingerprint: string): Promise<KeyBase | undefined> {
    const before = this.#memory.find(fingerprint, this.#clock.now());
    const changes = this.#changes;
    const asOfMs = this.#validity.asOfMs();
    let found: FoundKey | undefined;
    try {
      found = await this.#validity.ask(() => this.#stored.use(presented, fingerprint));
    } catch (error) {
      return this.#servedAllTheSame(before, error);
    }
    const nowMs = this.#clock.now();
    const isValid = changes === this.#changes;
    if (found === undefined) {
      if (isValid) this.#memory.setUnknown(fingerprint, nowMs + MEMORY_MS, nowMs);
      return undefined;
    }
    const { record } = found;
    const endMs = endOf(found);
    const isRefused = record.blocked || endMs <= nowMs;
    const isSame = before?.base !== undefined && isDeepStrictEqual(record, before.record);
    const base = isRefused ? undefined : isSame ? before.base : storedKey(record);
    const believedMs = this.#validity.untilMs(nowMs);
    const untilMs = base === undefined ? believedMs : Math.min(believedMs, endMs);
    if (isValid) this.#memory.set(fingerprint, { record, base, untilMs, endMs, asOfMs }, nowMs);
    return base;
  }

  /** The key as it was known, while the store does not answer and the policy allows it. */
  #servedAllTheSame(before: RememberedKey | undefined, error: unknown): KeyBase | undefined {
    const nowMs = this.#clock.now();
    if (before?.base === undefined || before.endMs <= nowMs) throw error;
    if (!this.#validity.mayServe(before.asOfMs)) throw error;
    before.untilMs = Math.min(nowMs + MEMORY_MS, before.endMs);
    return before.base;
  }
}

/**
 * When the presented secret ends: with the key, and the one from before a rotation with its
 * overlap.
 */
function endOf({ record, digest }: FoundKey): number {
  const keyEndMs = record.expiresAtMs ?? Infinity;
  return record.digest === digest ? keyEndMs : Math.min(keyEndMs, record.previousUntilMs ?? 0);
}
