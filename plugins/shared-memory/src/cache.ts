/** The cache of one process. When the bytes are too many, a key with more than its share loses its own entries first. */

import { LRUCache } from "lru-cache";
import type { Clock } from "@sluice/contract";

/** What a cache is made with. */
export interface MemoryCacheOptions {
  readonly clock: Pick<Clock, "monotonic">;
  readonly maxBytes: number;
  readonly maxEntryBytes: number;
}

/** The cache of `SharedState`, answered at once. */
export interface MemoryCache {
  get(key: string): Uint8Array | undefined;
  set(key: string, bytes: Uint8Array, ttlMs: number, holder?: string): boolean;
  delete(key: string): void;
  purge(prefix: string): number;
}

interface Entry {
  readonly bytes: Uint8Array;
  readonly untilMs: number;
  readonly holder: string;
}

/** What one holder has: the keys of its entries, the least recently used first. */
interface Holding {
  readonly keys: Set<string>;
  bytes: number;
}

/** What an entry costs beside its bytes, about: the key's text, two map entries, two objects. */
const ENTRY_OVERHEAD_BYTES = 512;

/** Entries that may go before the largest holder is looked for again: a search visits every holder. */
const EVICTIONS_BETWEEN_SEARCHES = 64;

/**
 * A cache bounded by bytes. When there is no room, a holder with more than its share loses its own least recently used entry:
 * the one that stores, else the largest. Without such a holder the least recently used entry of all goes. Time is the host's
 * and never jumps; an entry past its time goes when it is asked for or is the oldest.
 */
export function createMemoryCache({ clock, maxBytes, maxEntryBytes }: MemoryCacheOptions): MemoryCache {
  const holdings = new Map<string, Holding>();
  const entries = new LRUCache<string, Entry>({
    maxSize: maxBytes,
    sizeCalculation: ({ bytes }) => sizeOf(bytes),
    dispose({ bytes, holder }, key) {
      const holding = holdings.get(holder);
      if (holding === undefined) return;
      holding.keys.delete(key);
      holding.bytes -= sizeOf(bytes);
      if (holding.keys.size === 0) holdings.delete(holder);
    },
  });
  let largest: Holding | undefined;
  let evictions = 0;

  const isOver = (holding: Holding, more = 0): boolean => (holding.bytes + more) * holdings.size > maxBytes;
  /** A holder that has more than its share, and an entry to lose. */
  const overShare = (writer: Holding, size: number): Holding | undefined => {
    if (holdings.size < 2) return undefined;
    if (writer.keys.size > 0 && isOver(writer, size)) return writer;
    if (evictions % EVICTIONS_BETWEEN_SEARCHES === 0 || largest === undefined || largest.keys.size === 0) {
      largest = undefined;
      for (const holding of holdings.values()) if (holding.bytes > (largest?.bytes ?? 0)) largest = holding;
    }
    evictions += 1;
    return largest !== undefined && isOver(largest) ? largest : undefined;
  };
  /** Drops entries of holders with more than their share until there is room, or no such holder is left. */
  const makeRoom = (writer: Holding, size: number): void => {
    while (entries.calculatedSize + size > maxBytes) {
      const [oldest] = overShare(writer, size)?.keys ?? [];
      if (oldest === undefined) return;
      entries.delete(oldest);
    }
  };

  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      if (entry.untilMs <= clock.monotonic()) {
        entries.delete(key);
        return undefined;
      }
      const keys = holdings.get(entry.holder)?.keys;
      keys?.delete(key);
      keys?.add(key);
      return entry.bytes;
    },
    set(key, bytes, ttlMs, holder = holderOf(key)) {
      // What was kept under the key is older than what is kept now, or could not be kept.
      entries.delete(key);
      const size = sizeOf(bytes);
      if (bytes.length > maxEntryBytes || size > maxBytes) return false;
      const holding = holdings.get(holder) ?? { keys: new Set(), bytes: 0 };
      holdings.set(holder, holding);
      makeRoom(holding, size);
      // The last entry of the holder may have gone, and the holder with it.
      holdings.set(holder, holding);
      holding.keys.add(key);
      holding.bytes += size;
      entries.set(key, { bytes: owned(bytes), untilMs: clock.monotonic() + ttlMs, holder });
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
