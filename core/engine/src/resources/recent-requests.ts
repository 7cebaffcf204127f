/** The newest requests, for who asks what happened to one. They outlive generations; a fixed number of them is kept. */

/** Requests without an identity that are kept, at most: a flood of them pushes no other request out. */
const MAX_STRANGERS = 100;

/** Keeps the newest requests, so many and no more, in records that are written over again and again. */
export class RecentRequests<T extends { readonly id: string }> {
  readonly #known: Ring<T>;
  readonly #strangers: Ring<T>;

  /** `make` makes an empty record. */
  constructor(capacity: number, make: () => T) {
    this.#known = new Ring(capacity, make);
    this.#strangers = new Ring(Math.min(capacity, MAX_STRANGERS), make);
  }

  /** Whether anything is kept at all. */
  get isOn(): boolean {
    return this.#known.capacity > 0;
  }

  /** The record to write the next request over: the oldest one. A stranger is who did not authenticate. */
  next(isStranger: boolean): T {
    return (isStranger ? this.#strangers : this.#known).next();
  }

  /** A request by its id, while it is kept. */
  find(id: string): T | undefined {
    return this.#known.find(id) ?? this.#strangers.find(id);
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
