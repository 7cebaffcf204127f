/** Records of requests in this process: the first does the work, a repeat gets its result. */

import type { Begun, Clock } from "@sluice/contract";

/** The dependencies of records. */
export interface RecordOptions {
  readonly clock: Pick<Clock, "monotonic">;
  /** Records kept at most; beyond it the oldest goes. Default 10,000. */
  readonly maxRecords?: number;
  /** Bytes of all results together; beyond it the oldest goes. Default 64 MiB. */
  readonly maxBytes?: number;
  /** Bytes of one result. Default 4 MiB. */
  readonly maxEntryBytes?: number;
}

/** The records of `SharedState`, without a promise. */
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

/** The records of one holder, the oldest first. */
interface Holding {
  readonly keys: Set<string>;
  bytes: number;
}

/**
 * Records over a map of this process. The part of a key before its last colon names the holder.
 * When the map is full, a holder with more than its share loses its own oldest record; else the
 * oldest of all is dropped.
 */
export function createRecords(options: RecordOptions): LocalRecords {
  const {
    clock,
    maxRecords = 10_000,
    maxBytes = 64 * 2 ** 20,
    maxEntryBytes = 4 * 2 ** 20,
  } = options;
  const kept = new Kept(maxRecords, maxBytes);
  const find = (key: string): Entry | undefined => {
    const entry = kept.get(key);
    if (entry === undefined || entry.untilMs > clock.monotonic()) return entry;
    kept.drop(key);
    return undefined;
  };

  return {
    begin(key, bodyDigest, owner, leaseMs) {
      const entry = find(key);
      if (entry !== undefined && entry.bodyDigest !== bodyDigest) return { outcome: "conflict" };
      if (entry?.bytes !== undefined) return { outcome: "done", bytes: entry.bytes };
      if (entry !== undefined && entry.owner !== owner) return { outcome: "running" };
      kept.keep(key, { bodyDigest, owner, bytes: undefined, untilMs: clock.monotonic() + leaseMs });
      return { outcome: "new" };
    },
    complete(key, owner, bytes, ttlMs) {
      const entry = find(key);
      if (entry?.owner !== owner || entry.bytes !== undefined) return false;
      kept.drop(key);
      if (bytes.length > Math.min(maxEntryBytes, maxBytes)) return false;
      kept.keep(key, {
        bodyDigest: entry.bodyDigest,
        owner,
        bytes,
        untilMs: clock.monotonic() + ttlMs,
      });
      return true;
    },
    abandon(key, owner) {
      const entry = kept.get(key);
      if (entry?.owner === owner && entry.bytes === undefined) kept.drop(key);
    },
  };
}

/** The records in the order of their keeping, within both bounds. */
class Kept {
  readonly #maxRecords: number;
  readonly #maxBytes: number;
  readonly #entries = new Map<string, Entry>();
  readonly #holdings = new Map<string, Holding>();
  #bytes = 0;

  constructor(maxRecords: number, maxBytes: number) {
    this.#maxRecords = maxRecords;
    this.#maxBytes = maxBytes;
  }

  get(key: string): Entry | undefined {
    return this.#entries.get(key);
  }

  drop(key: string): void {
    const entry = this.#entries.get(key);
    const holder = holderOf(key);
    const holding = this.#holdings.get(holder);
    if (entry === undefined || holding === undefined) return;
    const size = entry.bytes?.length ?? 0;
    this.#bytes -= size;
    holding.bytes -= size;
    holding.keys.delete(key);
    if (holding.keys.size === 0) this.#holdings.delete(holder);
    this.#entries.delete(key);
  }

  keep(key: string, entry: Entry): void {
    this.drop(key);
    const holder = holderOf(key);
    const holding = this.#holdings.get(holder) ?? { keys: new Set(), bytes: 0 };
    const size = entry.bytes?.length ?? 0;
    this.#entries.set(key, entry);
    this.#holdings.set(holder, holding);
    holding.keys.add(key);
    holding.bytes += size;
    this.#bytes += size;
    while (this.#entries.size > this.#maxRecords || this.#bytes > this.#maxBytes) {
      const [oldest = key] =
        this.#isOverShare(holding) && holding.keys.size > 1 ? holding.keys : this.#entries.keys();
      this.drop(oldest);
    }
  }

  #isOverShare({ keys, bytes }: Holding): boolean {
    const holders = this.#holdings.size;
    return keys.size * holders > this.#maxRecords || bytes * holders > this.#maxBytes;
  }
}

function holderOf(key: string): string {
  return key.slice(0, Math.max(0, key.lastIndexOf(":")));
}
