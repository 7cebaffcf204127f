/** Parts: a shared bound in which each key has a part. */

import type { Identity } from "@sluice/contract";

/**
 * The owner of a part: a key, and its team. The keys of one team together have the part of one key.
 */
export interface Holder {
  readonly key: string;
  readonly team: string | undefined;
}

/** The sizes that determine a part. */
export interface PartLimits {
  /** The maximum of all holders together. */
  readonly capacity: number;
  /** The amount that one holder may always have while capacity is free. Default 1. */
  readonly min?: number;
  /** The share of the capacity for a single holder, above 0 and at most 1. Default 0.5. */
  readonly share?: number;
}

const UNKNOWN: Holder = Object.freeze({ key: "", team: undefined });
const known = new WeakMap<Identity, Holder>();

/** The holder for an identity. Work without an identity is one holder. */
export function holderOf(identity: Identity | undefined): Holder {
  if (identity === undefined) return UNKNOWN;
  let holder = known.get(identity);
  if (holder === undefined)
    known.set(identity, (holder = { key: identity.keyId, team: identity.teamId }));
  return holder;
}

/**
 * Counts the usage of each holder within one bound. A holder may take more while it has less than
 * the free capacity (Choudhury and Hahne, dynamic thresholds): of k busy holders each gets capacity
 * / (k + 1), and one part stays free for the next. With a share other than 0.5, the free capacity
 * is weighted with share / (1 - share).
 */
export class Parts {
  readonly #byKey = new Map<string, number>();
  readonly #byTeam = new Map<string, number>();
  #held = 0;

  /** The usage of all holders. */
  get held(): number {
    return this.#held;
  }

  /** The usage of one key. */
  heldBy({ key }: Holder): number {
    return this.#byKey.get(key) ?? 0;
  }

  /**
   * Whether a holder may take one more, or `amount` at once. A single take may exceed the part, but
   * never the free capacity.
   */
  mayTake(holder: Holder, { capacity, min = 1, share = 0.5 }: PartLimits, amount = 1): boolean {
    const free = capacity - this.#held;
    if (free < amount) return false;
    const own = this.heldBy(holder);
    const ofTeam = holder.team === undefined ? own : (this.#byTeam.get(holder.team) ?? 0);
    if (ofTeam < min || share >= 1) return true;
    // A rounding error of a share such as 0.9 must not add a place.
    const part = (free * share) / (1 - share) - 1e-9;
    // Within its team a key leaves capacity to the other keys, as the team does to other teams.
    return ofTeam < part && (holder.team === undefined || own < Math.max(min, part - ofTeam));
  }

  take({ key, team }: Holder, amount = 1): void {
    this.#held += amount;
    this.#byKey.set(key, (this.#byKey.get(key) ?? 0) + amount);
    if (team !== undefined) this.#byTeam.set(team, (this.#byTeam.get(team) ?? 0) + amount);
  }

  giveBack({ key, team }: Holder, amount = 1): void {
    this.#held -= amount;
    lower(this.#byKey, key, amount);
    if (team !== undefined) lower(this.#byTeam, team, amount);
  }
}

/** Entries at 0 are removed: keys come and go. */
function lower(counts: Map<string, number>, name: string, amount: number): void {
  const left = (counts.get(name) ?? 0) - amount;
  if (left > 0) counts.set(name, left);
  else counts.delete(name);
}
