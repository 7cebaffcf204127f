/** What outlives generations: values counted by their holders and keyed by what they are. */

import type { SharedValue } from "@sluice/contract";

interface Held {
  readonly value: SharedValue;
  holders: number;
}

/** Values by key. A value closes when its last holder lets go. */
export class SharedPool {
  readonly #held = new Map<string, Held>();

  /** The value of a key, created when no caller holds one. Every call is one hold. */
  acquire<T extends SharedValue>(key: string, make: () => T): T {
    const existing = this.#held.get(key);
    if (existing !== undefined) {
      existing.holders++;
      return existing.value as T;
    }
    const value = make();
    this.#held.set(key, { value, holders: 1 });
    return value;
  }

  /** The value of a key while a caller holds it. This call is not a hold. */
  find(key: string): SharedValue | undefined {
    return this.#held.get(key)?.value;
  }

  /** Lets go of one hold. */
  async release(key: string): Promise<void> {
    const held = this.#held.get(key);
    if (held === undefined || --held.holders > 0) return;
    this.#held.delete(key);
    await held.value.close?.();
  }

  /** Keys and how many hold each, for the status page. */
  holders(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#held].map(([key, { holders }]) => [key, holders]));
  }
}
