/**
 * Lists of what is open: a request, a deadline, a reply. Members join at the end and leave from any
 * place.
 */

/** A member of a list. It is in one list at most. */
export class Listed {
  /** The neighbours while it is in a list. Only the list writes them. */
  before: Listed | undefined = undefined;
  after: Listed | undefined = undefined;
}

/**
 * Members in the order of their joining. A member that leaves keeps no link: V8's young collection
 * keeps all that an unreachable object of the old generation refers to, so one link from each
 * member to the next would keep every later member until a full collection. A `Set` or a `Map` has
 * such links: a table that it has outgrown refers to the table after it, and to the members that it
 * had.
 */
export class OpenList<T extends Listed> {
  #oldest: T | undefined;
  #newest: T | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The member that joined first. */
  get oldest(): T | undefined {
    return this.#oldest;
  }

  /** Whether a member is in this list. The caller passes no member of another list. */
  has(member: T): boolean {
    return member.before !== undefined || this.#oldest === member;
  }

  /** Appends a member that is in no list. */
  add(member: T): void {
    const newest = this.#newest;
    member.before = newest;
    if (newest === undefined) this.#oldest = member;
    else newest.after = member;
    this.#newest = member;
    this.#size += 1;
  }

  /** Removes a member. Safe to call twice. */
  delete(member: T): boolean {
    if (!this.has(member)) return false;
    const { before, after } = member;
    if (before === undefined) this.#oldest = after as T | undefined;
    else before.after = after;
    if (after === undefined) this.#newest = before as T | undefined;
    else after.before = before;
    member.before = undefined;
    member.after = undefined;
    this.#size -= 1;
    return true;
  }

  /** The members, the oldest first. The current one may be removed during the iteration. */
  *[Symbol.iterator](): Generator<T> {
    let member = this.#oldest;
    while (member !== undefined) {
      const next = member.after as T | undefined;
      yield member;
      member = next;
    }
  }
}
