/**
 * Crowds: very many entries that keys bring with their requests, as the counters of customers are.
 * They have one bound. Beyond it a holder with the most entries loses its own, the one that brings
 * an entry first: a flood of one key drops nothing of another.
 */

import { Ranked, Ranking } from "@sluice/kit/internals";

/** How many of a holder's oldest entries are searched for an idle one. */
const MAX_SEARCHED = 16;
/** How many of a holder's oldest entries are looked at when it brings one. */
const SWEPT = 2;

/** What one holder has, the one that was used the longest ago first. */
class Holding<T> extends Ranked {
  readonly holder: string;
  readonly members = new Set<Member<T>>();

  constructor(holder: string) {
    super();
    this.holder = holder;
  }
}

interface Member<T> {
  readonly key: string;
  readonly entry: T;
  readonly holding: Holding<T>;
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
  readonly #holdings = new Map<string, Holding<T>>();
  readonly #ranking = new Ranking<Holding<T>>();

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
    const { members } = member.holding;
    members.delete(member);
    members.add(member);
    return member.entry;
  }

  /** Adds an entry that the crowd does not have. */
  add(key: string, holder: string, entry: T, nowMs: number): void {
    const before = this.#holdings.get(holder);
    if (before !== undefined) this.#sweep(before, nowMs);
    if (this.#members.size >= this.#rules.maxEntries) this.#dropOne(before, nowMs);
    // The last entry of a holder takes its holding along.
    let holding = this.#holdings.get(holder);
    if (holding === undefined) this.#holdings.set(holder, (holding = new Holding(holder)));
    const member = { key, entry, holding, usedMs: nowMs };
    holding.members.add(member);
    this.#ranking.set(holding, holding.members.size);
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
    const { holding } = member;
    const { members } = holding;
    this.#members.delete(member.key);
    members.delete(member);
    if (members.size > 0) return this.#ranking.set(holding, members.size);
    this.#ranking.delete(holding);
    this.#holdings.delete(holding.holder);
  }

  #sweep({ members }: Holding<T>, nowMs: number): void {
    let looked = 0;
    for (const member of members) {
      if (this.#rules.isLeft(member.entry, nowMs)) this.#drop(member);
      looked += 1;
      if (looked === SWEPT) return;
    }
  }

  /** Drops an entry of the holder with the most: of the writer where no other one has more. */
  #dropOne(writer: Holding<T> | undefined, nowMs: number): void {
    const { largest } = this.#ranking;
    if (largest === undefined) return;
    const loser = writer !== undefined && writer.amount >= largest.amount ? writer : largest;
    let oldest: Member<T> | undefined;
    let searched = 0;
    for (const member of loser.members) {
      oldest ??= member;
      if (this.#rules.isIdle(member.entry, nowMs)) return this.#drop(member);
      searched += 1;
      if (searched === MAX_SEARCHED) break;
    }
    if (oldest !== undefined) this.#drop(oldest);
  }
}
