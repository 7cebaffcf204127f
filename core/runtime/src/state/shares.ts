/**
 * Shares of limits: the part that one of several gateways may admit while it cannot reach the
 * others.
 */

import type { BudgetClaim, Claim, ClaimState, Reservation, TakeResult } from "@sluice/contract";
import type { Alone } from "./claims.ts";

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

/** What shares ask. */
export interface SharesOptions {
  readonly instances: number;
  /** How a budget stood when this gateway began to decide alone; `undefined`: unknown. */
  alone(key: string): Alone | undefined;
}

/** Seeds remembered at most; without one nothing is admitted. */
const MAX_SEEDS = 50_000;

/**
 * The part of a budget that stays unspent meanwhile. It covers what a gateway cannot know: rows of
 * others that the ledger does not have yet, and what others took since its last look.
 */
const MARGIN = 1 / 20;

/** The shares of one of `instances` gateways. */
export function createShares({ instances, alone }: SharesOptions): Shares {
  const seeds = new Map<string, number>();

  const budgetOf = (claim: BudgetClaim): Claim => {
    const { key, limitNanoUsd: limit } = claim;
    const spent = seeds.get(key);
    // Not seeded yet: no limit is checked before the seed.
    if (spent === undefined) return { ...claim, limitNanoUsd: 0 };
    const margin = Math.ceil(limit * MARGIN);
    const partOf = (rest: number): number => Math.max(0, Math.floor((rest - margin) / instances));
    let share = partOf(limit - spent);
    const known = alone(key);
    // What is reserved here is no part of what was left.
    if (known !== undefined) share = Math.min(share, known.reserved + partOf(known.left));
    return { ...claim, limitNanoUsd: Math.min(limit, spent + share) };
  };
  const shareOf = (claim: Claim): Claim =>
    claim.kind === "budget"
      ? budgetOf(claim)
      : {
          ...claim,
          limit: Math.min(claim.limit, Math.max(1, Math.floor(claim.limit / instances))),
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
