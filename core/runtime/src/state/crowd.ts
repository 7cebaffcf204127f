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

const NO_KEYS: ReadonlySet<string> = new Set();

interface Member<T> {
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
  /** The keys of each holder, the one that was used the longest ago first. */
  readonly #held = new Map<string, Set<string>>();

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
    const keys = this.#held.get(member.holder);
    keys?.delete(key);
    keys?.add(key);
    return member.entry;
  }

  /** Adds an entry that the crowd does not have. */
  add(key: string, holder: string, entry: T, nowMs: number): void {
    let keys = this.#held.get(holder);
    if (keys === undefined) this.#held.set(holder, (keys = new Set()));
    this.#sweep(keys, nowMs);
    if (this.#members.size >= this.#rules.maxEntries) this.#dropOne(nowMs);
    // The last entry of a holder takes its list along.
    if (!this.#held.has(holder)) this.#held.set(holder, keys);
    keys.add(key);
    this.#members.set(key, { entry, holder, usedMs: nowMs });
  }

  delete(key: string): void {
    const member = this.#members.get(key);
    if (member === undefined) return;
    this.#members.delete(key);
    const keys = this.#held.get(member.holder);
    keys?.delete(key);
    if (keys?.size === 0) this.#held.delete(member.holder);
  }

  *values(): Generator<T> {
    for (const { entry } of this.#members.values()) yield entry;
  }

  #sweep(keys: ReadonlySet<string>, nowMs: number): void {
    let looked = 0;
    for (const key of keys) {
      const entry = this.find(key);
      if (entry !== undefined && this.#rules.isLeft(entry, nowMs)) this.delete(key);
      looked += 1;
      if (looked === SWEPT) return;
    }
  }

  #dropOne(nowMs: number): void {
    let most: ReadonlySet<string> = NO_KEYS;
    let compared = 0;
    for (const keys of this.#held.values()) {
      if (keys.size > most.size) most = keys;
      compared += 1;
      if (compared === MAX_COMPARED) break;
    }
    let oldest: string | undefined;
    let searched = 0;
    for (const key of most) {
      oldest ??= key;
      const entry = this.find(key);
      if (entry !== undefined && this.#rules.isIdle(entry, nowMs)) return this.delete(key);
      searched += 1;
      if (searched === MAX_SEARCHED) break;
    }
    if (oldest !== undefined) this.delete(oldest);
  }
}
