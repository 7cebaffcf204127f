/** Records of requests in this process: the first does the work, a repeat gets its result. */

import type { Begun, Clock } from "@sluice/spec";

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

/** Records over a map of this process. */
export function createRecords(options: RecordOptions): LocalRecords {
  const { clock, maxRecords = 10_000, maxBytes = 64 * 2 ** 20, maxEntryBytes = 4 * 2 ** 20 } = options;
  const entries = new Map<string, Entry>();
  let totalBytes = 0;

  const drop = (key: string): void => {
    totalBytes -= entries.get(key)?.bytes?.length ?? 0;
    entries.delete(key);
  };
  const keep = (key: string, entry: Entry): void => {
    drop(key);
    entries.set(key, entry);
    totalBytes += entry.bytes?.length ?? 0;
    for (const oldest of entries.keys()) {
      if (entries.size <= maxRecords && totalBytes <= maxBytes) return;
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
