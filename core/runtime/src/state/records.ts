/** Records of requests in this process: the first does the work, a repeat gets its result. */

import { Listed, OpenList, Ranked, Ranking } from "@sluice/kit/internals";
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

/** A record, in the list of its holder's records under way, or in that of the finished ones. */
class Entry extends Listed {
  readonly key: string;
  readonly bodyDigest: string;
  readonly owner: string;
  readonly bytes: Uint8Array | undefined;
  readonly untilMs: number;

  constructor(key: string, parts: EntryParts) {
    super();
    this.key = key;
    this.bodyDigest = parts.bodyDigest;
    this.owner = parts.owner;
    this.bytes = parts.bytes;
    this.untilMs = parts.untilMs;
  }

  get size(): number {
    return this.bytes?.length ?? 0;
  }
}

type EntryParts = Pick<Entry, "bodyDigest" | "owner" | "bytes" | "untilMs">;

/** The place of a holder among all, by what one of the bounds counts. */
class Rank extends Ranked {
  readonly holding: Holding;

  constructor(holding: Holding) {
    super();
    this.holding = holding;
  }
}

/** The records of one holder, the oldest first. */
class Holding extends Listed {
  readonly holder: string;
  readonly running = new OpenList<Entry>();
  readonly finished = new OpenList<Entry>();
  readonly byRecords = new Rank(this);
  readonly byBytes = new Rank(this);
  bytes = 0;

  constructor(holder: string) {
    super();
    this.holder = holder;
  }

  get records(): number {
    return this.running.size + this.finished.size;
  }

  listOf({ bytes }: Entry): OpenList<Entry> {
    return bytes === undefined ? this.running : this.finished;
  }
}

/**
 * Records over a map of this process. The part of a key before its last colon names the holder.
 * When the map is full, a holder with more than its share loses its own: the one that writes, else
 * the one with the most. Its oldest result goes, and a record under way where it has no result.
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
      return kept.keep(key, {
        bodyDigest: entry.bodyDigest,
        owner,
        bytes,
        untilMs: clock.monotonic() + ttlMs,
      });
    },
    abandon(key, owner) {
      const entry = kept.get(key);
      if (entry?.owner === owner && entry.bytes === undefined) kept.drop(key);
    },
  };
}

/** The records of all holders, within both bounds. */
class Kept {
  readonly #maxRecords: number;
  readonly #maxBytes: number;
  readonly #entries = new Map<string, Entry>();
  readonly #holdings = new Map<string, Holding>();
  readonly #byRecords = new Ranking<Rank>();
  readonly #byBytes = new Ranking<Rank>();
  /** The holders of one record alone, a result. */
  readonly #single = new OpenList<Holding>();
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
    const holding = this.#holdings.get(holderOf(key));
    if (entry === undefined || holding === undefined) return;
    this.#entries.delete(key);
    holding.listOf(entry).delete(entry);
    this.#changed(holding, -entry.size);
  }

  /** Returns whether the record is kept: a result may be all that its holder can lose. */
  keep(key: string, parts: EntryParts): boolean {
    this.drop(key);
    const entry = new Entry(key, parts);
    const holder = holderOf(key);
    const holding = this.#holdings.get(holder) ?? new Holding(holder);
    this.#entries.set(key, entry);
    holding.listOf(entry).add(entry);
    this.#changed(holding, entry.size);
    for (;;) {
      const loser = this.#loser(holding, entry);
      const oldest = loser?.finished.oldest ?? loser?.running.oldest;
      if (oldest === undefined) return this.#entries.get(key) === entry;
      this.drop(oldest.key);
    }
  }

  #changed(holding: Holding, bytes: number): void {
    const { holder, records, byRecords, byBytes } = holding;
    this.#bytes += bytes;
    holding.bytes += bytes;
    this.#single.delete(holding);
    if (records === 0) {
      this.#holdings.delete(holder);
      this.#byRecords.delete(byRecords);
      this.#byBytes.delete(byBytes);
      return;
    }
    this.#holdings.set(holder, holding);
    this.#byRecords.set(byRecords, records);
    this.#byBytes.set(byBytes, holding.bytes);
    if (records === 1 && holding.finished.size === 1) this.#single.add(holding);
  }

  /**
   * The holder that loses a record after `writer` has got its newest one; `undefined` within the
   * bounds. Beyond a bound, the holder with the most of what it counts has more than its share.
   */
  #loser(writer: Holding, newest: Entry): Holding | undefined {
    const holders = this.#holdings.size;
    const hasOlder = (writer.finished.oldest ?? newest) !== newest;
    if (this.#entries.size > this.#maxRecords) {
      if (hasOlder && writer.records * holders > this.#maxRecords) return writer;
      const most = this.#byRecords.largest;
      // Where each has one record, that of the largest one may be the newest of all.
      return most?.amount === 1 ? (this.#single.oldest ?? most.holding) : most?.holding;
    }
    if (this.#bytes <= this.#maxBytes) return undefined;
    if (hasOlder && writer.bytes * holders > this.#maxBytes) return writer;
    return this.#byBytes.largest?.holding;
  }
}

function holderOf(key: string): string {
  return key.slice(0, Math.max(0, key.lastIndexOf(":")));
}
