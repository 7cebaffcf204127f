/**
 * The leases of reservations. A reservation is in one of three states:
 *
 *     unknown ── hold ──► held ── lease ends ──► expired (a settlement still books the cost)
 *        ▲                 │                        │
 *        └───── end ───────┴──────── end ───────────┘
 */

import type { Claim } from "@sluice/contract";
import { dropOldest } from "./claim-entries.ts";
import type { Budget, Entry, Slots } from "./claims.ts";
import { TransientMap } from "./transient-map.ts";

/** A reservation that is held: what it took and from where. */
export interface Held {
  readonly claims: readonly Claim[];
  /** In the order of the claims; `undefined`: nothing of this claim is held. */
  readonly entries: readonly (Entry | undefined)[];
  /** The part of each window. */
  readonly parts: readonly number[];
  leaseUntilMs: number;
}

/** The ids of expired reservations that are kept. */
const MAX_EXPIRED = 50_000;

/** The held and the expired reservations, by id. */
export class Leases {
  readonly #held = new TransientMap<Held>();
  readonly #expired = new Set<string>();
  /** A lower bound of the ends of all leases. `expire` finds the exact one. */
  #earliestEndMs = Infinity;

  /** A held reservation; `undefined` in the other states. */
  find(id: string): Held | undefined {
    return this.#held.get(id);
  }

  /** Holds a reservation that is not held. */
  hold(id: string, held: Held): void {
    this.#expired.delete(id);
    this.#held.set(id, held);
    this.#earliestEndMs = Math.min(this.#earliestEndMs, held.leaseUntilMs);
  }

  /** Extends the lease of a held reservation. */
  extend(held: Held, leaseUntilMs: number): void {
    held.leaseUntilMs = leaseUntilMs;
    this.#earliestEndMs = Math.min(this.#earliestEndMs, leaseUntilMs);
  }

  /**
   * Ends a reservation and frees its slots and reserved money. Returns its state before,
   * `"unknown"` where it had none.
   */
  end(id: string): Held | "expired" | "unknown" {
    const held = this.#held.get(id);
    if (held === undefined) return this.#expired.delete(id) ? "expired" : "unknown";
    this.#held.delete(id);
    release(held);
    return held;
  }

  /** Frees slots and reserved money of the leases that have ended. */
  expire(nowMs: number): void {
    if (nowMs < this.#earliestEndMs) return;
    this.#earliestEndMs = Infinity;
    for (const [id, held] of this.#held.entries()) {
      if (held.leaseUntilMs > nowMs) {
        this.#earliestEndMs = Math.min(this.#earliestEndMs, held.leaseUntilMs);
        continue;
      }
      this.#held.delete(id);
      release(held);
      this.#expired.add(id);
      if (this.#expired.size > MAX_EXPIRED) dropOldest(this.#expired);
    }
  }

  /** All held reservations. */
  entries(): [id: string, held: Held][] {
    return this.#held.entries();
  }
}

/** Frees slots and reserved money. Windows slide by themselves. */
function release({ claims, entries }: Held): void {
  for (let at = 0; at < claims.length; at += 1) {
    const claim = claims[at]!;
    const entry = entries[at];
    if (entry === undefined) continue;
    if (claim.kind === "concurrent") (entry as Slots).inFlight -= 1;
    else if (claim.kind === "budget") (entry as Budget).reserved -= claim.amountNanoUsd;
  }
}
