/**
 * A map for what comes and goes with every request: it lives long, and nothing that it held stays
 * behind it.
 */

/** One entry, in the chain of its bucket. */
interface Entry<T> {
  readonly key: string;
  readonly value: T;
  next: Entry<T> | undefined;
}

const BUCKETS = 1_024;
/**
 * Of longer keys only the end decides about the bucket: 48 random bits of an id, 60 of a digest.
 */
const HASHED_CHARACTERS = 16;

/**
 * Values by text. A `Map` under constant adding and deleting is copied into a new table again and
 * again. The old tables keep their values alive (core/decisions/2026-11-20-heap.md). Here the
 * buckets stay, and a deleted entry keeps no reference to its neighbour.
 */
export class TransientMap<T> {
  readonly #buckets: (Entry<T> | undefined)[] = Array.from({ length: BUCKETS }, () => undefined);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(key: string): T | undefined {
    let entry = this.#buckets[bucketOf(key)];
    while (entry !== undefined && entry.key !== key) entry = entry.next;
    return entry?.value;
  }

  /** Sets a value, in place of the key's earlier one. */
  set(key: string, value: T): void {
    const bucket = bucketOf(key);
    this.#remove(bucket, key);
    this.#buckets[bucket] = { key, value, next: this.#buckets[bucket] };
    this.#size += 1;
  }

  /** Returns whether there was a value. */
  delete(key: string): boolean {
    return this.#remove(bucketOf(key), key);
  }

  #remove(bucket: number, key: string): boolean {
    let before: Entry<T> | undefined;
    let entry = this.#buckets[bucket];
    while (entry !== undefined && entry.key !== key) {
      before = entry;
      entry = entry.next;
    }
    if (entry === undefined) return false;
    if (before === undefined) this.#buckets[bucket] = entry.next;
    else before.next = entry.next;
    entry.next = undefined;
    this.#size -= 1;
    return true;
  }

  clear(): void {
    this.#buckets.fill(undefined);
    this.#size = 0;
  }

  /**
   * All entries as they are now, in no particular order: what is deleted meanwhile is among them.
   */
  entries(): [key: string, value: T][] {
    const all: [string, T][] = [];
    for (let entry of this.#buckets) {
      for (; entry !== undefined; entry = entry.next) all.push([entry.key, entry.value]);
    }
    return all;
  }
}

/** FNV-1a, of the last characters: ids and digests differ there. */
function bucketOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let at = Math.max(0, key.length - HASHED_CHARACTERS); at < key.length; at += 1) {
    hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  }
  return (hash ^ (hash >>> 16)) & (BUCKETS - 1);
}
