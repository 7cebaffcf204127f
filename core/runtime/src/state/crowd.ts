/**
 * Crowds: very many entries that keys bring with their requests, as the counters of customers are.
 * They have one bound. Beyond it the holder with the most entries loses its own: a flood of one key
 * drops nothing of another.
 */

/** How many of a holder's oldest entries are searched for an idle one. */
const MAX_SEARCHED = 16;
/** How many holders are compared where one must lose an entry. */
const MAX_COMPARED = 256;
/** How many of a holder's oldest entries are looked at when it brings one. */
const SWEPT = 2;

/** The holder with the most is sought again after it has lost this part of its entries. */
const LOST_PART = 1 / 64;

interface Member<T> {
  readonly key: string;
  readonly entry: T;
  readonly holder: string;
  /** When it became the last one of its holder. */
  usedMs: number;
}

/** The order of use is exact to this span: an entry that many requests use moves once in it. */
const ORDER_MS = 1_000;

/** What a crowd asks of its entries. */
export interface CrowdRules<T> {
  readonly maxEntries: number;
  /** Whether an entry may go first where one must. Times are those of `add`. */
  isIdle(entry: T, nowMs: number): boolean;
  /** Whether an entry was left, and holds nothing any more: it may go at any time. */
  isLeft(entry: T, nowMs: number): boolean;
}

/** Entries by key, each of one holder. */
export class Crowd<T> {
  readonly #rules: CrowdRules<T>;
  readonly #members = new Map<string, Member<T>>();
  /** What each holder has, the one that was used the longest ago first. */
  readonly #held = new Map<string, Set<Member<T>>>();
  /** The holder that had the most, and down to which size it loses its own. */
  #most: { readonly members: ReadonlySet<Member<T>>; readonly downTo: number } | undefined;

  constructor(rules: CrowdRules<T>) {
    this.#rules = rules;
  }

  get size(): number {
    return this.#members.size;
  }

  /** An entry, without counting as a use. */
  find(key: string): T | undefined {
    return this.#members.get(key)?.entry;
  }

  /** An entry that is used now. */
  use(key: string, nowMs: number): T | undefined {
    const member = this.#members.get(key);
    if (member === undefined) return undefined;
    if (nowMs - member.usedMs < ORDER_MS) return member.entry;
    member.usedMs = nowMs;
    const held = this.#held.get(member.holder);
    held?.delete(member);
    held?.add(member);
    return member.entry;
  }

  /** Adds an entry that the crowd does not have. */
  add(key: string, holder: string, entry: T, nowMs: number): void {
    let held = this.#held.get(holder);
    if (held === undefined) this.#held.set(holder, (held = new Set()));
    this.#sweep(held, nowMs);
    if (this.#members.size >= this.#rules.maxEntries) this.#dropOne(nowMs);
    // The last entry of a holder takes its list along.
    if (!this.#held.has(holder)) this.#held.set(holder, held);
    const member = { key, entry, holder, usedMs: nowMs };
    held.add(member);
    this.#members.set(key, member);
  }

  delete(key: string): void {
    const member = this.#members.get(key);
    if (member !== undefined) this.#drop(member);
  }

  *values(): Generator<T> {
    for (const { entry } of this.#members.values()) yield entry;
  }

  #drop(member: Member<T>): void {
    this.#members.delete(member.key);
    const held = this.#held.get(member.holder);
    held?.delete(member);
    if (held?.size === 0) this.#held.delete(member.holder);
  }

  #sweep(held: ReadonlySet<Member<T>>, nowMs: number): void {
    let looked = 0;
    for (const member of held) {
      if (this.#rules.isLeft(member.entry, nowMs)) this.#drop(member);
      looked += 1;
      if (looked === SWEPT) return;
    }
  }

  #dropOne(nowMs: number): void {
    let oldest: Member<T> | undefined;
    let searched = 0;
    for (const member of this.#mostHeld()) {
      oldest ??= member;
      if (this.#rules.isIdle(member.entry, nowMs)) return this.#drop(member);
      searched += 1;
      if (searched === MAX_SEARCHED) break;
    }
    if (oldest !== undefined) this.#drop(oldest);
  }

  /** What the holder with the most entries has. It loses a part before it is sought again. */
  #mostHeld(): ReadonlySet<Member<T>> {
    const before = this.#most;
    if (before !== undefined && before.members.size > before.downTo) return before.members;
    let members: ReadonlySet<Member<T>> = new Set();
    let compared = 0;
    for (const held of this.#held.values()) {
      if (held.size > members.size) members = held;
      compared += 1;
      if (compared === MAX_COMPARED) break;
    }
    this.#most = { members, downTo: Math.floor(members.size * (1 - LOST_PART)) };
    return members;
  }
}
