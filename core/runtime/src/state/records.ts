/** Records of requests in this process: the first does the work, a repeat gets its result. */

import type { Begun, Clock } from "@sluice/contract";

/** What records are kept with. */
export interface RecordOptions {
  readonly clock: Pick<Clock, "monotonic">;
  /** Records kept at most; beyond it the oldest goes. Default 10,000. */
  readonly maxRecords?: number;
  /** Bytes of all results together; beyond it the oldest goes. Default 64 MiB. */
  readonly maxBytes?: number;
  /** Bytes of one result. Default 4 MiB. */
  readonly maxEntryBytes?: number;
}

/** The records of `SharedState`, answered at once. */
export interface LocalRecords {
  begin(key: string, bodyDigest: string, owner: string, leaseMs: number): Begun;
  complete(key: string, owner: string, bytes: Uint8Array, ttlMs: number): boolean;
  abandon(key: string, owner: string): void;
}

interface Entry {
  readonly bodyDigest: string;
  readonly owner: string;
  readonly bytes: Uint8Array | undefined;
  readonly untilMs: number;
}

/** What one holder has: in the order in which it was kept, the oldest first. */
interface Holding {
  readonly keys: Set<string>;
  bytes: number;
}

/**
 * Records over a map of this process. Whose a record is stands before the last colon of its key. When there is no room, a holder
 * with more than its share of it loses its own oldest record; else the oldest of all goes.
 */
export function createRecords(options: RecordOptions): LocalRecords {
  const { clock, maxRecords = 10_000, maxBytes = 64 * 2 ** 20, maxEntryBytes = 4 * 2 ** 20 } = options;
  const entries = new Map<string, Entry>();
  const holdings = new Map<string, Holding>();
  let totalBytes = 0;

  const isFull = (): boolean => entries.size > maxRecords || totalBytes > maxBytes;
  const drop = (key: string): void => {
    const entry = entries.get(key);
    const holder = holderOf(key);
    const holding = holdings.get(holder);
    if (entry === undefined || holding === undefined) return;
    const size = entry.bytes?.length ?? 0;
    totalBytes -= size;
    holding.bytes -= size;
    holding.keys.delete(key);
    if (holding.keys.size === 0) holdings.delete(holder);
    entries.delete(key);
  };
  const keep = (key: string, entry: Entry): void => {
    drop(key);
    const holder = holderOf(key);
    const holding = holdings.get(holder) ?? { keys: new Set(), bytes: 0 };
    const size = entry.bytes?.length ?? 0;
    entries.set(key, entry);
    holdings.set(holder, holding);
    holding.keys.add(key);
    holding.bytes += size;
    totalBytes += size;
    while (isFull()) {
      const isOverShare = holding.keys.size * holdings.size > maxRecords || holding.bytes * holdings.size > maxBytes;
      const [oldest = key] = isOverShare && holding.keys.size > 1 ? holding.keys : entries.keys();
      drop(oldest);
    }
  };
  const find = (key: string): Entry | undefined => {
    const entry = entries.get(key);
    if (entry === undefined || entry.untilMs > clock.monotonic()) return entry;
    drop(key);
    return undefined;
  };

  return {
    begin(key, bodyDigest, owner, leaseMs) {
      const entry = find(key);
      if (entry !== undefined && entry.bodyDigest !== bodyDigest) return { outcome: "conflict" };
      if (entry?.bytes !== undefined) return { outcome: "done", bytes: entry.bytes };
      if (entry !== undefined && entry.owner !== owner) return { outcome: "running" };
      keep(key, { bodyDigest, owner, bytes: undefined, untilMs: clock.monotonic() + leaseMs });
      return { outcome: "new" };
    },
    complete(key, owner, bytes, ttlMs) {
      const entry = find(key);
      if (entry?.owner !== owner || entry.bytes !== undefined) return false;
      drop(key);
      if (bytes.length > Math.min(maxEntryBytes, maxBytes)) return false;
      keep(key, { bodyDigest: entry.bodyDigest, owner, bytes, untilMs: clock.monotonic() + ttlMs });
      return true;
    },
    abandon(key, owner) {
      const entry = entries.get(key);
      if (entry?.owner === owner && entry.bytes === undefined) drop(key);
    },
  };
}

function holderOf(key: string): string {
  return key.slice(0, Math.max(0, key.lastIndexOf(":")));
}
