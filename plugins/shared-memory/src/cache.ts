/** The cache of one process: the least recently used goes when the bytes are too many. */

import { LRUCache } from "lru-cache";
import type { Clock } from "@sluice/spec";

/** What a cache is made with. */
export interface MemoryCacheOptions {
  readonly clock: Pick<Clock, "monotonic">;
  readonly maxBytes: number;
  readonly maxEntryBytes: number;
}

/** The cache of `SharedState`, answered at once. */
export interface MemoryCache {
  get(key: string): Uint8Array | undefined;
  set(key: string, bytes: Uint8Array, ttlMs: number): boolean;
  delete(key: string): void;
  purge(prefix: string): number;
}

interface Entry {
  readonly bytes: Uint8Array;
  readonly untilMs: number;
}

/** What an entry costs beside its bytes, about: the key's text, two map entries, two objects. */
const ENTRY_OVERHEAD_BYTES = 512;

/** A cache bounded by bytes. Time is the host's and never jumps; an entry past its time goes when it is asked for or is the oldest. */
export function createMemoryCache({ clock, maxBytes, maxEntryBytes }: MemoryCacheOptions): MemoryCache {
  const entries = new LRUCache<string, Entry>({ maxSize: maxBytes, sizeCalculation: ({ bytes }) => sizeOf(bytes) });
  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined || entry.untilMs > clock.monotonic()) return entry?.bytes;
      entries.delete(key);
      return undefined;
    },
    set(key, bytes, ttlMs) {
      if (bytes.length > maxEntryBytes || sizeOf(bytes) > maxBytes) {
        // What was kept under the key is older than what could not be kept.
        entries.delete(key);
        return false;
      }
      entries.set(key, { bytes: owned(bytes), untilMs: clock.monotonic() + ttlMs });
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

function sizeOf(bytes: Uint8Array): number {
  return bytes.length + ENTRY_OVERHEAD_BYTES;
}

/** A view of a larger buffer would keep all of it alive: its bytes are copied. */
function owned(bytes: Uint8Array): Uint8Array {
  return bytes.buffer.byteLength > bytes.length * 2 ? Uint8Array.from(bytes) : bytes;
}
