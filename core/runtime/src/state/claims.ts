/** One claim against what is kept under its key. */

import type { BudgetClaim, Claim, ClaimState, TakeResult } from "@sluice/contract";
import { addNow, emptyMs, type SlidingWindow, waitMs } from "./window.ts";

/** Slots in use. */
export interface Slots {
  inFlight: number;
}

/**
 * Money of a period. Before the ledger was read, `spent` is the sum of the settlements of this
 * process.
 */
export interface Budget {
  spent: number;
  reserved: number;
  isSeeded: boolean;
  /** What was left for all gateways when the server granted the last reservation, if it did. */
  left: number | undefined;
  /** What this process had reserved, and what was left, when it began to decide alone. */
  alone: Alone | undefined;
}

/** What a process knew of a budget when it began to decide alone. */
export interface Alone {
  readonly reserved: number;
  readonly left: number;
}

/** A budget of which nothing is known. */
export function emptyBudget(): Budget {
  return { spent: 0, reserved: 0, isSeeded: false, left: undefined, alone: undefined };
}

/** The window or the budget that decides a claim. */
export type Entry = SlidingWindow | Slots | Budget;

/**
 * Whether a claim fits. The caller has advanced the window. A budget of 0 refuses what costs
 * nothing too.
 */
export function fits(claim: Claim, entry: Entry): boolean {
  if (claim.kind === "window") return (entry as SlidingWindow).used + claim.amount <= claim.limit;
  if (claim.kind === "concurrent") return (entry as Slots).inFlight < claim.limit;
  const { spent, reserved } = entry as Budget;
  return claim.limitNanoUsd > 0 && spent + reserved + claim.amountNanoUsd <= claim.limitNanoUsd;
}

/** Takes what fits. Returns the part of the window it went into. */
export function add(claim: Claim, entry: Entry): number {
  if (claim.kind === "window") {
    addNow(entry as SlidingWindow, claim.amount);
    return (entry as SlidingWindow).newest;
  }
  if (claim.kind === "concurrent") (entry as Slots).inFlight += 1;
  else (entry as Budget).reserved += claim.amountNanoUsd;
  return 0;
}

/** The present state of a claim's limit. */
export function stateOf(claim: Claim, entry: Entry, nowMs: number): ClaimState {
  if (claim.kind === "window") {
    const window = entry as SlidingWindow;
    return {
      limit: claim.limit,
      remaining: Math.max(0, claim.limit - window.used),
      resetMs: emptyMs(window, nowMs),
    };
  }
  if (claim.kind === "concurrent") {
    const remaining = Math.max(0, claim.limit - (entry as Slots).inFlight);
    return { limit: claim.limit, remaining, resetMs: undefined };
  }
  return {
    limit: claim.limitNanoUsd,
    remaining: leftOf(claim, entry as Budget),
    resetMs: undefined,
  };
}

function leftOf({ limitNanoUsd }: BudgetClaim, { spent, reserved }: Budget): number {
  return Math.max(0, limitNanoUsd - spent - reserved);
}

/**
 * The answer when a claim does not fit: the wait until all windows admit it, and the state of each
 * limit.
 */
export function refusal(
  claims: readonly Claim[],
  entries: readonly Entry[],
  failedIndex: number,
  nowMs: number,
): TakeResult {
  const neverFits = claims.some(
    (claim, at) => at === failedIndex && amountOf(claim) > limitOf(claim),
  );
  const waits = claims.map((claim, at) =>
    claim.kind === "window" && claim.amount <= claim.limit
      ? waitMs(entries[at] as SlidingWindow, nowMs, claim.amount, claim.limit)
      : 0,
  );
  return {
    outcome: "refused",
    failedIndex,
    neverFits,
    retryAfterMs:
      claims[failedIndex]!.kind !== "window" || neverFits ? undefined : Math.max(...waits),
    states: claims.map((claim, at) => stateOf(claim, entries[at]!, nowMs)),
  };
}

function amountOf(claim: Claim): number {
  return claim.kind === "window" ? claim.amount : claim.kind === "budget" ? claim.amountNanoUsd : 1;
}

function limitOf(claim: Claim): number {
  return claim.kind === "budget" ? claim.limitNanoUsd : claim.limit;
}
