/** Keeps the newest requests for explanations. They outlive generations; their number is fixed. */

/**
 * The kind of a request. `unauthenticated`: without an identity. `clean`: answered by its first
 * attempt. `refused`: a 4xx without an attempt. `notable`: all others (failed, retried, rerouted).
 */
export type RequestKind = "unauthenticated" | "clean" | "refused" | "notable";

/** Separate bounds: a flood of unauthenticated or clean requests evicts no other kind. */
const MAX_UNAUTHENTICATED = 100;
/**
 * Clean records are written often and read rarely. More than fit into the processor's cache cost 2
 * µs for each request.
 */
const MAX_CLEAN = 200;
/** Refusals cost the client nothing, so a client can send a flood of them. */
const MAX_REFUSED = 200;
/** In a full ring, a key with more than this share overwrites its own records. */
const PART_OF_KEY = 0.1;

/** Keeps a bounded number of the newest requests of each kind, in records that it reuses. */
export class RecentRequests<T extends { readonly id: string }> {
  readonly #rings: Readonly<Record<RequestKind, Ring<T> | SharedRing<T>>>;

  /**
   * Keeps at most `capacity` notable, 200 clean, 200 refused and 100 unauthenticated requests.
   * `make` creates an empty record.
   */
  constructor(capacity: number, make: () => T) {
    this.#rings = {
      notable: new SharedRing(capacity, make),
      refused: new SharedRing(Math.min(capacity, MAX_REFUSED), make),
      clean: new Ring(Math.min(capacity, MAX_CLEAN), make),
      unauthenticated: new Ring(Math.min(capacity, MAX_UNAUTHENTICATED), make),
    };
  }

  /** Whether requests are kept. */
  get isOn(): boolean {
    return this.#rings.notable.capacity > 0;
  }

  /**
   * The record to overwrite for the key's next request: the oldest of its kind, or the key's oldest
   * if the key has too many.
   */
  next(kind: RequestKind, keyId = ""): T {
    return this.#rings[kind].next(keyId);
  }

  /** All kept records, in no order. */
  all(): readonly T[] {
    const { notable, refused, clean, unauthenticated } = this.#rings;
    return [notable, refused, clean, unauthenticated].flatMap((ring) => [...ring.records()]);
  }

  /** The record of a request; `undefined` when it is no longer kept. */
  find(id: string): T | undefined {
    const { notable, refused, clean, unauthenticated } = this.#rings;
    return notable.find(id) ?? refused.find(id) ?? clean.find(id) ?? unauthenticated.find(id);
  }
}

/** A ring buffer of records. Searches are rare, so there is no index. */
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

/**
 * Records in the order of their writing. When the ring is full, no key keeps more than its share.
 */
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

  /**
   * Takes the oldest record of the key if it has its share, else of a key above its share, else of
   * all.
   */
  #free(keyId: string): T {
    if (this.#sizeOf(keyId) >= this.#part) this.#largest = keyId;
    const from =
      this.#sizeOf(this.#largest) >= this.#part ? this.#byKey.get(this.#largest) : undefined;
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
