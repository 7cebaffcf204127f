/** Parts: a bound of all keys together in which each key has a part. */

import type { Identity } from "@sluice/spec";

/** The key that takes a part, and its team: the keys of one team together have the part of one key. */
export interface Holder {
  readonly key: string;
  readonly team: string | undefined;
}

/** What a part is measured by. */
export interface PartLimits {
  /** What all holders have at most. */
  readonly capacity: number;
  /** What one holder may have in any case, while something is free. Default 1. */
  readonly least?: number;
  /** The share of the capacity that a holder may have when it is the only one, above 0 and at most 1. Default 0.5. */
  readonly share?: number;
}

const UNKNOWN: Holder = Object.freeze({ key: "", team: undefined });
const known = new WeakMap<Identity, Holder>();

/** The holder that an identity is. Work without an identity is one holder. */
export function holderOf(identity: Identity | undefined): Holder {
  if (identity === undefined) return UNKNOWN;
  let holder = known.get(identity);
  if (holder === undefined) known.set(identity, (holder = { key: identity.keyId, team: identity.teamId }));
  return holder;
}

/**
 * Counts what each holder has of one bound. A holder may take more while it has less than what is still free (Choudhury and
 * Hahne, dynamic thresholds): of k busy holders each gets capacity / (k + 1), and one part stays free for the next. With a
 * share other than a half, what is free is weighed with share / (1 - share).
 */
export class Parts {
  readonly #byKey = new Map<string, number>();
  readonly #byTeam = new Map<string, number>();
  #held = 0;

  /** What all holders have. */
  get held(): number {
    return this.#held;
  }

  /** What one key has. */
  heldBy({ key }: Holder): number {
    return this.#byKey.get(key) ?? 0;
  }

  /** Whether a holder may take one more, or `amount` at once: what is taken at once may exceed the part, never what is free. */
  mayTake(holder: Holder, { capacity, least = 1, share = 0.5 }: PartLimits, amount = 1): boolean {
    const free = capacity - this.#held;
    if (free < amount) return false;
    const own = this.heldBy(holder);
    const ofTeam = holder.team === undefined ? own : (this.#byTeam.get(holder.team) ?? 0);
    if (ofTeam < least || share >= 1) return true;
    // A rounding error of a share such as 0.9 gives no place more.
    const part = (free * share) / (1 - share) - 1e-9;
    // Within its team a key leaves room to the other keys, as the team does to other teams.
    return ofTeam < part && (holder.team === undefined || own < Math.max(least, part - ofTeam));
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

/** An entry at 0 is not kept: keys come and go. */
function lower(counts: Map<string, number>, name: string, amount: number): void {
  const left = (counts.get(name) ?? 0) - amount;
  if (left > 0) counts.set(name, left);
  else counts.delete(name);
}
