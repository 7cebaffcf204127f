/** The newest requests, for who asks what happened to one. They outlive generations; a fixed number of them is kept. */

/**
 * What a request was: `stranger`, without an identity; `smooth`, answered by its first attempt; `eventful`, whatever people ask
 * about: refused, failed, tried again, sent elsewhere.
 */
export type RequestKind = "stranger" | "smooth" | "eventful";

/** A flood of strangers pushes no other request out, and neither do the many that went well. */
const MAX_STRANGERS = 100;
/** Records are written by turns and read by nobody: more of them than the processor's cache holds cost 2 µs a request. */
const MAX_SMOOTH = 200;

/** Keeps the newest requests of each kind, so many and no more, in records that are written over again and again. */
export class RecentRequests<T extends { readonly id: string }> {
  readonly #rings: Readonly<Record<RequestKind, Ring<T>>>;

  /** Keeps `capacity` eventful requests, 200 smooth ones and 100 of strangers at most. `make` makes an empty record. */
  constructor(capacity: number, make: () => T) {
    this.#rings = {
      eventful: new Ring(capacity, make),
      smooth: new Ring(Math.min(capacity, MAX_SMOOTH), make),
      stranger: new Ring(Math.min(capacity, MAX_STRANGERS), make),
    };
  }

  /** Whether anything is kept at all. */
  get isOn(): boolean {
    return this.#rings.eventful.capacity > 0;
  }

  /** The record to write the next request over: the oldest one of its kind. */
  next(kind: RequestKind): T {
    return this.#rings[kind].next();
  }

  /** A request by its id, while it is kept. */
  find(id: string): T | undefined {
    const { eventful, smooth, stranger } = this.#rings;
    return eventful.find(id) ?? smooth.find(id) ?? stranger.find(id);
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

  find(id: string): T | undefined {
    return this.#records.find((record) => record.id === id);
  }
}
