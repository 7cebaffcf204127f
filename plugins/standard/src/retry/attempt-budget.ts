/**
 * The attempt budget of a request: the maximum of attempts over retries, targets and models. The
 * step `fallback` sets it; every step that calls an upstream again checks it. Parallel calls for
 * one reply count as one attempt.
 */

import type { Attempt, Exchange, GatewayError } from "@sluice/contract";
import { defineSlot } from "@sluice/kit";
import { parentOf } from "@sluice/kit/internals";

interface AttemptBudget {
  max: number;
  /** Calls that do not count: a reply of several parallel calls counts as one attempt. */
  parts: number;
  /** The calls of each reply that took several. */
  joined: (readonly Attempt[])[] | undefined;
  /** The remaining stand-in models; `undefined` without a step `fallback`. */
  standIns: StandInsLeft | undefined;
}

/** The remaining stand-in models of a request. */
export interface StandInsLeft {
  /** Whether the list has a model with a target that the key may use. */
  readonly isReady: boolean;
  /** Whether a remaining model can answer after this failure. */
  has(error: GatewayError): Promise<boolean>;
}

const ATTEMPT_BUDGET = defineSlot<AttemptBudget>("attempt budget");

/** Sets the maximum of attempts of an exchange, over retries, targets and models. */
export function limitAttempts(exchange: Exchange, max: number): void {
  budgetOf(exchange).max = max;
}

/** Whether another attempt is within the budget. Without a budget it always is. */
export function mayAttemptAgain(exchange: Exchange): boolean {
  return mayRepeat(exchange, 0);
}

/** Reserves one attempt for a stand-in model while one remains that can answer. */
export function reserveAttempt(exchange: Exchange, standIns: StandInsLeft): void {
  budgetOf(exchange).standIns = standIns;
}

/** Whether a stand-in model is ready. The check does not read the request. */
export function hasReadyStandIn(exchange: Exchange): boolean {
  return budgetOf(exchange).standIns?.isReady === true;
}

/** Whether a stand-in model remains that can answer an exchange after a failure. */
export async function hasStandIn(exchange: Exchange, error: GatewayError): Promise<boolean> {
  return (await budgetOf(exchange).standIns?.has(error)) === true;
}

/**
 * Whether the same target may have another attempt, when `kept` attempts stay reserved for others.
 */
export function mayRepeat(exchange: Exchange, kept: number): boolean {
  const { max, parts } = budgetOf(exchange);
  return rootOf(exchange).attempts.length - parts + kept < max;
}

/** Whether a target was called for an exchange, in any of its branches. */
export function wasCalled(exchange: Exchange, targetId: string): boolean {
  return rootOf(exchange).attempts.some(({ target }) => target.id === targetId);
}

/** Counts all attempts of `call` as one. */
export async function joinAttempts<T>(exchange: Exchange, call: () => Promise<T>): Promise<T> {
  const before = exchange.attempts.length;
  try {
    const result = await call();
    if (exchange.attempts.length - before > 1)
      (budgetOf(exchange).joined ??= []).push(exchange.attempts.slice(before));
    return result;
  } finally {
    const made = exchange.attempts.length - before;
    if (made > 1) budgetOf(exchange).parts += made - 1;
  }
}

/** The calls that make one reply with `attempt`; `undefined` for a reply of a single call. */
export function callsWith(exchange: Exchange, attempt: Attempt): readonly Attempt[] | undefined {
  const { joined } = ATTEMPT_BUDGET.get(exchange) ?? {};
  return joined?.find((calls) => calls.includes(attempt));
}

/** The exchange at the root of a branch. All branches share its budget. */
function rootOf(exchange: Exchange): Exchange {
  let root = exchange;
  for (let parent = parentOf(root); parent !== undefined; parent = parentOf(root)) root = parent;
  return root;
}

function budgetOf(exchange: Exchange): AttemptBudget {
  const known = ATTEMPT_BUDGET.get(exchange);
  if (known !== undefined) return known;
  const budget: AttemptBudget = { max: Infinity, parts: 0, joined: undefined, standIns: undefined };
  ATTEMPT_BUDGET.set(exchange, budget);
  return budget;
}
