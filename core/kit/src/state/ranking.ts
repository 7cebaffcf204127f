/** Rankings: what each holder has, and at any time the holder with the most. */

/** A member of a ranking. It is in one ranking at most. */
export class Ranked {
  /** What it has, and its place in the heap. Only the ranking writes them. */
  amount = 0;
  place = -1;
}

/**
 * A binary heap with the largest member at its top. A change costs as many steps as the logarithm
 * of the number of members, and one or two where the largest member changes and stays the largest.
 */
export class Ranking<T extends Ranked> {
  readonly #heap: T[] = [];

  /** A member with the most; `undefined` without members. */
  get largest(): T | undefined {
    return this.#heap[0];
  }

  /** What a member has. Adds it where it is not in the ranking. */
  set(member: T, amount: number): void {
    member.amount = amount;
    if (member.place < 0) {
      member.place = this.#heap.length;
      this.#heap.push(member);
    }
    this.#move(member);
  }

  /** Removes a member: it has nothing then. Safe to call twice. */
  delete(member: T): void {
    const { place } = member;
    if (place < 0) return;
    member.amount = 0;
    member.place = -1;
    const last = this.#heap.pop();
    if (last === undefined || last === member) return;
    last.place = place;
    this.#heap[place] = last;
    this.#move(last);
  }

  /** Moves a member to a place where none below it has more, and none above it has less. */
  #move(member: T): void {
    const from = member.place;
    this.#rise(member);
    if (member.place === from) this.#sink(member);
  }

  #rise(member: T): void {
    const heap = this.#heap;
    while (member.place > 0) {
      const above = heap[(member.place - 1) >> 1];
      if (above === undefined || above.amount >= member.amount) return;
      this.#exchange(member, above);
    }
  }

  #sink(member: T): void {
    const heap = this.#heap;
    for (;;) {
      const left = heap[member.place * 2 + 1];
      const right = heap[member.place * 2 + 2];
      const below = (right?.amount ?? -Infinity) > (left?.amount ?? -Infinity) ? right : left;
      if (below === undefined || below.amount <= member.amount) return;
      this.#exchange(member, below);
    }
  }

  #exchange(one: T, other: T): void {
    const { place } = one;
    one.place = other.place;
    other.place = place;
    this.#heap[one.place] = one;
    this.#heap[other.place] = other;
  }
}
