/**
 * How often one request may be tried in all: a bound that fallback sets, and every step that tries again respects. Which models
 * keep a try beside it, and which attempts were one try.
 */

import type { Attempt, Exchange, GatewayError } from "@sluice/contract";
import { defineSlot } from "@sluice/kit";
import { parentOf } from "@sluice/kit/internals";

interface Tries {
  max: number;
  /** Attempts that were parts of one try: calls of one image request at the same time. */
  parts: number;
  /** The calls of each try that took several and came to a reply. */
  joined: (readonly Attempt[])[] | undefined;
  /** Models that may still be asked; `undefined` without a step fallback. */
  standIns: StandInsLeft | undefined;
}

/** The models that may still be asked. */
export interface StandInsLeft {
  /** Whether one is listed that the key may use and that has a target. */
  readonly isReady: boolean;
  /** Whether one remains that can answer after a failure. */
  has(error: GatewayError): Promise<boolean>;
}

const TRIES = defineSlot<Tries>("tries");

/** Bounds the tries of an exchange, over retries, targets and models. */
export function limitTries(exchange: Exchange, max: number): void {
  triesOf(exchange).max = max;
}

/** Whether an exchange may be tried once more. Without a bound it always may. */
export function mayTryAgain(exchange: Exchange): boolean {
  return mayRepeat(exchange, 0);
}

/** Keeps one try for another model as long as one remains that can answer. */
export function keepTry(exchange: Exchange, standIns: StandInsLeft): void {
  triesOf(exchange).standIns = standIns;
}

/** Whether another model stands ready, as far as can be seen without a look at the request. */
export function hasReadyStandIn(exchange: Exchange): boolean {
  return triesOf(exchange).standIns?.isReady === true;
}

/** Whether another model remains that can answer an exchange after a failure. */
export async function hasStandIn(exchange: Exchange, error: GatewayError): Promise<boolean> {
  return (await triesOf(exchange).standIns?.has(error)) === true;
}

/** Whether the same target may be tried once more, when `kept` tries are left to others. */
export function mayRepeat(exchange: Exchange, kept: number): boolean {
  const { max, parts } = triesOf(exchange);
  return rootOf(exchange).attempts.length - parts + kept < max;
}

/** Whether a target was called for an exchange, in any of its branches. */
export function wasCalled(exchange: Exchange, targetId: string): boolean {
  return rootOf(exchange).attempts.some(({ target }) => target.id === targetId);
}

/** Counts the attempts that `call` makes as one try. */
export async function joinTries<T>(exchange: Exchange, call: () => Promise<T>): Promise<T> {
  const before = exchange.attempts.length;
  try {
    const result = await call();
    if (exchange.attempts.length - before > 1) (triesOf(exchange).joined ??= []).push(exchange.attempts.slice(before));
    return result;
  } finally {
    const made = exchange.attempts.length - before;
    if (made > 1) triesOf(exchange).parts += made - 1;
  }
}

/** The calls that came to one reply together; `undefined` where the attempt was all of it. */
export function callsWith(exchange: Exchange, attempt: Attempt): readonly Attempt[] | undefined {
  const { joined } = TRIES.get(exchange) ?? {};
  return joined?.find((calls) => calls.includes(attempt));
}

/** Of a branch, the exchange that all branches belong to: they share one bound. */
function rootOf(exchange: Exchange): Exchange {
  let root = exchange;
  for (let parent = parentOf(root); parent !== undefined; parent = parentOf(root)) root = parent;
  return root;
}

function triesOf(exchange: Exchange): Tries {
  const known = TRIES.get(exchange);
  if (known !== undefined) return known;
  const tries: Tries = { max: Infinity, parts: 0, joined: undefined, standIns: undefined };
  TRIES.set(exchange, tries);
  return tries;
}
