/** The newest requests, for who asks what happened to one. They outlive generations; a fixed number of them is kept. */

/**
 * What a request was: `stranger`, without an identity; `smooth`, answered by its first attempt; `refused`, a 4xx without an
 * attempt; `eventful`, all others: failed, tried again, sent elsewhere.
 */
export type RequestKind = "stranger" | "smooth" | "refused" | "eventful";

/** A flood of strangers pushes no other request out, and neither do the many that went well. */
const MAX_STRANGERS = 100;
/** Records are written by turns and read by nobody: more of them than the processor's cache holds cost 2 µs a request. */
const MAX_SMOOTH = 200;
/** Refusals cost a client nothing and come in floods. */
const MAX_REFUSED = 200;
/** When a ring is full, a key that has more than this part of it writes over its own records. */
const PART_OF_KEY = 0.1;

/** Keeps the newest requests of each kind, so many and no more, in records that are written over again and again. */
export class RecentRequests<T extends { readonly id: string }> {
  readonly #rings: Readonly<Record<RequestKind, Ring<T> | SharedRing<T>>>;

  /**
   * Keeps `capacity` eventful requests, 200 smooth ones, 200 refused ones and 100 of strangers at most. `make` makes an empty
   * record.
   */
  constructor(capacity: number, make: () => T) {
    this.#rings = {
      eventful: new SharedRing(capacity, make),
      refused: new SharedRing(Math.min(capacity, MAX_REFUSED), make),
      smooth: new Ring(Math.min(capacity, MAX_SMOOTH), make),
      stranger: new Ring(Math.min(capacity, MAX_STRANGERS), make),
    };
  }

  /** Whether anything is kept at all. */
  get isOn(): boolean {
    return this.#rings.eventful.capacity > 0;
  }

  /** The record to write the next request of a key over: the oldest one of its kind, or of the key where it has too many. */
  next(kind: RequestKind, keyId = ""): T {
    return this.#rings[kind].next(keyId);
  }

  /** All that are kept, in no order. */
  all(): readonly T[] {
    const { eventful, refused, smooth, stranger } = this.#rings;
    return [eventful, refused, smooth, stranger].flatMap((ring) => [...ring.records()]);
  }

  /** A request by its id, while it is kept. */
  find(id: string): T | undefined {
    const { eventful, refused, smooth, stranger } = this.#rings;
    return eventful.find(id) ?? refused.find(id) ?? smooth.find(id) ?? stranger.find(id);
  }
}

/** Records in the order of their writing, round and round. A search is rare: there is no index to keep. */
class Ring<T extends { readonly id: string }> {
  readonly capacity: number;
  readonly #make: () => T;
  readonly #records: T[] = [];
  #next = 0;

  constructor(capacity: number, make: () => T) {
    this.capacity = capacity;
    this.#make = make;
  }

  next(): T {
    const record = (this.#records[this.#next] ??= this.#make());
    this.#next = this.#next + 1 >= this.capacity ? 0 : this.#next + 1;
    return record;
  }

  records(): Iterable<T> {
    return this.#records;
  }

  find(id: string): T | undefined {
    return this.#records.find((record) => record.id === id);
  }
}

/** Records in the order of their writing, of which no key keeps more than its part when others need room. */
class SharedRing<T extends { readonly id: string }> {
  readonly capacity: number;
  readonly #make: () => T;
  /** The records, the oldest first, and the key of each. */
  readonly #owners = new Map<T, string>();
  readonly #byKey = new Map<string, Set<T>>();
  readonly #part: number;
  /** The last key that had more than its part. */
  #largest = "";

  constructor(capacity: number, make: () => T) {
    this.capacity = capacity;
    this.#make = make;
    this.#part = Math.max(1, Math.floor(capacity * PART_OF_KEY));
  }

  next(keyId: string): T {
    const record = this.#owners.size < this.capacity ? this.#make() : this.#free(keyId);
    this.#owners.set(record, keyId);
    const own = this.#byKey.get(keyId);
    if (own === undefined) this.#byKey.set(keyId, new Set([record]));
    else own.add(record);
    return record;
  }

  records(): Iterable<T> {
    return this.#owners.keys();
  }

  find(id: string): T | undefined {
    for (const record of this.#owners.keys()) if (record.id === id) return record;
    return undefined;
  }

  /** Takes the oldest record of the key, where it has its part, else of a key with more than its part, else of all. */
  #free(keyId: string): T {
    if (this.#sizeOf(keyId) >= this.#part) this.#largest = keyId;
    const from = this.#sizeOf(this.#largest) >= this.#part ? this.#byKey.get(this.#largest) : undefined;
    const [record = this.#make()] = from ?? this.#owners.keys();
    const owner = this.#owners.get(record) ?? "";
    this.#owners.delete(record);
    const rest = this.#byKey.get(owner);
    rest?.delete(record);
    if (rest?.size === 0) this.#byKey.delete(owner);
    return record;
  }

  #sizeOf(keyId: string): number {
    return this.#byKey.get(keyId)?.size ?? 0;
  }
}
