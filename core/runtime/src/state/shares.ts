/**
 * Shares of limits: the part that one of several gateways may admit while it cannot reach the
 * others.
 */

import type { Claim, ClaimState, Reservation, TakeResult } from "@sluice/contract";

/** The shares of one gateway. */
export interface Shares {
  /**
   * The spend of a budget key at the time at which this gateway began to decide alone. Only the
   * rest is divided.
   */
  seeded(key: string, spentNanoUsd: number): void;
  clear(): void;
  /** A reservation with this gateway's share as its limits. */
  scaled(reservation: Reservation): Reservation;
  /**
   * The answer to it in the words of the whole limits; what would fit the whole limit but not the
   * share is no "never".
   */
  unscaled(reservation: Reservation, result: TakeResult): TakeResult;
}

/** Seeds remembered at most; without one nothing is admitted. */
const MAX_SEEDS = 50_000;

/** The shares of one of `instances` gateways. */
export function createShares(instances: number): Shares {
  const seeds = new Map<string, number>();

  const shareOf = (claim: Claim): Claim => {
    if (claim.kind !== "budget")
      return {
        ...claim,
        limit: Math.min(claim.limit, Math.max(1, Math.floor(claim.limit / instances))),
      };
    const spent = seeds.get(claim.key);
    // Not seeded yet: no limit is checked before the seed.
    if (spent === undefined) return { ...claim, limitNanoUsd: 0 };
    const rest = Math.max(0, claim.limitNanoUsd - spent);
    return {
      ...claim,
      limitNanoUsd: Math.min(claim.limitNanoUsd, spent + Math.floor(rest / instances)),
    };
  };

  return {
    seeded(key, spentNanoUsd) {
      if (seeds.size < MAX_SEEDS && !seeds.has(key)) seeds.set(key, spentNanoUsd);
    },
    clear: () => seeds.clear(),
    scaled: (reservation) =>
      instances === 1
        ? reservation
        : { id: reservation.id, claims: reservation.claims.map(shareOf) },
    unscaled({ claims }, result) {
      if (instances === 1 || result.outcome === "unseeded") return result;
      const whole = (state: ClaimState, at: number): ClaimState => ({
        ...state,
        limit: limitOf(claims[at]!),
      });
      if (result.outcome === "granted") return { ...result, states: result.states.map(whole) };
      const states = result.states.map((state, at) => state && whole(state, at));
      const failed = claims[result.failedIndex]!;
      return {
        ...result,
        states,
        neverFits: result.neverFits && amountOf(failed) > limitOf(failed),
      };
    },
  };
}

function limitOf(claim: Claim): number {
  return claim.kind === "budget" ? claim.limitNanoUsd : claim.limit;
}

function amountOf(claim: Claim): number {
  return claim.kind === "budget" ? claim.amountNanoUsd : claim.kind === "window" ? claim.amount : 1;
}
