/**
 * The cache of one process. When the bytes are too many, a key with more than its share loses its
 * own entries first.
 */

import { LRUCache } from "lru-cache";
import type { Clock, StateBound } from "@sluice/contract";
import { Ranked, Ranking } from "@sluice/kit/internals";

/** What a cache is made with. */
export interface MemoryCacheOptions {
  readonly clock: Pick<Clock, "monotonic">;
  readonly maxBytes: number;
  readonly maxEntryBytes: number;
}

/** The cache of `SharedState`, answered at once. */
export interface MemoryCache {
  get(key: string): Uint8Array | undefined;
  set(
    key: string,
    bytes: Uint8Array,
    ttlMs: number,
    holder?: string,
    bounds?: readonly StateBound[],
  ): boolean;
  delete(key: string): void;
  purge(prefix: string): number;
}

interface Entry {
  readonly bytes: Uint8Array;
  readonly untilMs: number;
  readonly holder: string;
  readonly bounds: readonly StateBound[];
}

/** Entries that are counted together, the first to go first. Its amount is in bytes. */
class Counted extends Ranked {
  readonly keys = new Set<string>();
}

/** What an entry costs beside its bytes, about: the key's text, two map entries, two objects. */
const ENTRY_OVERHEAD_BYTES = 512;

/** The holders of a cache, each with its keys, the least recently used first. */
class Holders {
  readonly #maxBytes: number;
  readonly #holdings = new Map<string, Counted>();
  readonly #ranking = new Ranking<Counted>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** A holder, with what it has. */
  open(holder: string): Counted {
    const holding = this.#holdings.get(holder) ?? new Counted();
    this.#holdings.set(holder, holding);
    return holding;
  }

  add(holder: string, key: string, size: number): void {
    const holding = this.open(holder);
    holding.keys.add(key);
    this.#ranking.set(holding, holding.amount + size);
  }

  /** A key was used. */
  touch(holder: string, key: string): void {
    const keys = this.#holdings.get(holder)?.keys;
    keys?.delete(key);
    keys?.add(key);
  }

  remove(holder: string, key: string, size: number): void {
    const holding = this.#holdings.get(holder);
    if (holding === undefined) return;
    holding.keys.delete(key);
    this.#ranking.set(holding, holding.amount - size);
    if (holding.keys.size > 0) return;
    this.#ranking.delete(holding);
    this.#holdings.delete(holder);
  }

  /** A holder that has more than its share, and an entry to lose. */
  overShare(writer: Counted, size: number): Counted | undefined {
    if (this.#holdings.size < 2) return undefined;
    if (writer.keys.size > 0 && this.#isOver(writer, size)) return writer;
    const { largest } = this.#ranking;
    return largest !== undefined && this.#isOver(largest) ? largest : undefined;
  }

  /**
   * Drops entries of holders with more than their share until there is room for an entry of
   * `writer`, or no such holder is left.
   */
  makeRoom(writer: string, size: number, entries: LRUCache<string, Entry>): void {
    const own = this.open(writer);
    while (entries.calculatedSize + size > this.#maxBytes) {
      const [oldest] = this.overShare(own, size)?.keys ?? [];
      if (oldest === undefined) return;
      entries.delete(oldest);
    }
  }

  #isOver({ amount }: Counted, more = 0): boolean {
    return (amount + more) * this.#holdings.size > this.#maxBytes;
  }
}

/** The entries of one bound, in its parts. One without parts is a part of its own. */
interface Bounded {
  readonly parts: Map<string, Counted>;
  readonly ranking: Ranking<Counted>;
  bytes: number;
}

/** The entries of named bounds. */
class Bounds {
  readonly #bounded = new Map<string, Bounded>();

  add(bounds: readonly StateBound[], key: string, size: number): void {
    for (const { name, part: partName = "" } of bounds) {
      let bounded = this.#bounded.get(name);
      if (bounded === undefined) {
        bounded = { parts: new Map(), ranking: new Ranking(), bytes: 0 };
        this.#bounded.set(name, bounded);
      }
      let part = bounded.parts.get(partName);
      if (part === undefined) bounded.parts.set(partName, (part = new Counted()));
      part.keys.add(key);
      bounded.ranking.set(part, part.amount + size);
      bounded.bytes += size;
    }
  }

  remove(bounds: readonly StateBound[], key: string, size: number): void {
    for (const { name, part: partName = "" } of bounds) {
      const bounded = this.#bounded.get(name);
      const part = bounded?.parts.get(partName);
      if (bounded === undefined || part?.keys.delete(key) !== true) continue;
      bounded.bytes -= size;
      bounded.ranking.set(part, part.amount - size);
      if (part.keys.size > 0) continue;
      bounded.ranking.delete(part);
      bounded.parts.delete(partName);
      if (bounded.parts.size === 0) this.#bounded.delete(name);
    }
  }

  /**
   * Deletes entries of bounds until each has room for so many bytes: the oldest of the largest
   * part. Returns false, and deletes nothing, for more bytes than one of them allows.
   */
  makeRoom(
    bounds: readonly StateBound[],
    size: number,
    entries: { delete(key: string): unknown },
  ): boolean {
    if (bounds.some(({ maxBytes }) => size > maxBytes)) return false;
    for (const bound of bounds) {
      let key = this.#overBound(bound, size);
      for (; key !== undefined; key = this.#overBound(bound, size)) entries.delete(key);
    }
    return true;
  }

  /** The entry that goes where there is no room for so many bytes. */
  #overBound({ name, maxBytes, part = "" }: StateBound, size: number): string | undefined {
    const bounded = this.#bounded.get(name);
    if (bounded === undefined || bounded.bytes + size <= maxBytes) return undefined;
    const { largest } = bounded.ranking;
    const own = bounded.parts.get(part);
    const isOwn = own !== undefined && own.amount >= (largest?.amount ?? 0);
    return (isOwn ? own : largest)?.keys.values().next().value;
  }
}

const NO_BOUNDS: readonly StateBound[] = Object.freeze([]);

/**
 * A cache bounded by bytes. When there is no room, a holder with more than its share loses its own
 * least recently used entry: the one that stores, else the largest. Without such a holder the least
 * recently used entry of all goes. Time is the host's and never jumps; an entry past its time goes
 * when it is asked for or is the oldest.
 */
export function createMemoryCache({
  clock,
  maxBytes,
  maxEntryBytes,
}: MemoryCacheOptions): MemoryCache {
  const holders = new Holders(maxBytes);
  const bounded = new Bounds();
  const entries = new LRUCache<string, Entry>({
    maxSize: maxBytes,
    sizeCalculation: ({ bytes }) => sizeOf(bytes),
    dispose: ({ bytes, holder, bounds }, key) => {
      holders.remove(holder, key, sizeOf(bytes));
      bounded.remove(bounds, key, sizeOf(bytes));
    },
  });

  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      if (entry.untilMs <= clock.monotonic()) {
        entries.delete(key);
        return undefined;
      }
      holders.touch(entry.holder, key);
      return entry.bytes;
    },
    set(key, bytes, ttlMs, holder = holderOf(key), bounds = NO_BOUNDS) {
      // What was kept under the key is older than what is kept now, or could not be kept.
      entries.delete(key);
      const size = sizeOf(bytes);
      if (bytes.length > maxEntryBytes || size > maxBytes) return false;
      if (!bounded.makeRoom(bounds, size, entries)) return false;
      holders.makeRoom(holder, size, entries);
      // The last entry of the holder may have gone, and the holder with it.
      holders.add(holder, key, size);
      bounded.add(bounds, key, size);
      const untilMs = clock.monotonic() + ttlMs;
      entries.set(key, { bytes: owned(bytes), untilMs, holder, bounds });
      return true;
    },
    delete: (key) => void entries.delete(key),
    purge(prefix) {
      const keys = [...entries.keys()].filter((key) => key.startsWith(prefix));
      for (const key of keys) entries.delete(key);
      return keys.length;
    },
  };
}

function holderOf(key: string): string {
  return key.slice(0, Math.max(0, key.lastIndexOf(":")));
}

function sizeOf(bytes: Uint8Array): number {
  return bytes.length + ENTRY_OVERHEAD_BYTES;
}

/** A view of a larger buffer would keep all of it alive: its bytes are copied. */
function owned(bytes: Uint8Array): Uint8Array {
  return bytes.buffer.byteLength > bytes.length * 2 ? Uint8Array.from(bytes) : bytes;
}
