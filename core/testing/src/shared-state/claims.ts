/** What the tests of shared state are made with: claims and ids. */

import type {
  BudgetClaim,
  Claim,
  ConcurrentClaim,
  StateGroup,
  WindowClaim,
} from "@sluice/contract";

/** Requests or tokens in a span. */
export const window = (key: string, limit: number, amount = 1, windowMs = 6_000): WindowClaim => ({
  kind: "window",
  key,
  limit,
  windowMs,
  amount,
});
export const slot = (key: string, limit: number): ConcurrentClaim => ({
  kind: "concurrent",
  key,
  limit,
});
export const budget = (key: string, limitNanoUsd: number, amountNanoUsd: number): BudgetClaim => ({
  kind: "budget",
  key,
  limitNanoUsd,
  amountNanoUsd,
  resetsAtMs: null,
});

/** Claims with a group. */
export const inGroup = <T extends Claim>(group: StateGroup, claim: T): T => ({ ...claim, group });

/** A lease that outlives a test. */
export const LEASE_MS = 60_000;
let ids = 0;
/** An id that no other test and no other run has. */
export const freshId = (): string => `r${process.pid}-${Date.now()}-${(ids += 1)}`;
/** Names keys of one run of a test: a second attempt has others. */
export function ownKeys(): (name: string) => string {
  const run = freshId();
  return (name) => `${run}:${name}`;
}

const MAX_RUNS = 50;

/**
 * Runs what must be over within so many milliseconds of real time. On a busy machine a run that was
 * late says nothing: it is done again.
 */
export async function inTime<T>(ms: number, run: () => Promise<T>): Promise<T> {
  for (let at = 0; at < MAX_RUNS; at += 1) {
    const startedMs = performance.now();
    const result = await run();
    if (performance.now() - startedMs < ms) return result;
  }
  throw new Error(`No run of ${MAX_RUNS} was over within ${ms} ms.`);
}
