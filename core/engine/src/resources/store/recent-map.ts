/** A map with a bound: it drops the entry that was used the longest ago. */

interface Entry<Value> {
  readonly value: Value;
  /** When the entry was last moved to the end, milliseconds since 1970. */
  movedMs: number;
}

/** A use within this time of the last one does not move the entry: the order is exact to it. */
const EXACT_TO_MS = 1_000;

/** Values by their keys. */
export class RecentMap<Key, Value> {
  readonly #maxEntries: number;
  readonly #onDrop: ((key: Key, value: Value) => void) | undefined;
  readonly #entries = new Map<Key, Entry<Value>>();

  /** `onDrop` is called for each entry that is dropped for the bound, replaced or deleted. */
  constructor(maxEntries: number, onDrop?: (key: Key, value: Value) => void) {
    this.#maxEntries = maxEntries;
    this.#onDrop = onDrop;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: Key, nowMs: number): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (nowMs - entry.movedMs >= EXACT_TO_MS) {
      entry.movedMs = nowMs;
      this.#entries.delete(key);
      this.#entries.set(key, entry);
    }
    return entry.value;
  }

  set(key: Key, value: Value, nowMs: number): void {
    this.delete(key);
    if (this.#entries.size >= this.#maxEntries) {
      const [oldest] = this.#entries.keys();
      if (oldest !== undefined) this.delete(oldest);
    }
    this.#entries.set(key, { value, movedMs: nowMs });
  }

  delete(key: Key): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#onDrop?.(key, entry.value);
  }

  clear(): void {
    for (const key of this.#entries.keys()) this.delete(key);
  }

  *values(): Generator<Value> {
    for (const { value } of this.#entries.values()) yield value;
  }
}
