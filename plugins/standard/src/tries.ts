/**
 * How often one request may be tried in all: a bound that fallback sets, and every step that tries again respects. And which
 * attempts were one try.
 */

import type { Attempt, Exchange } from "@sluice/spec";

interface Tries {
  max: number;
  /** Attempts that were parts of one try: calls of one image request at the same time. */
  parts: number;
  /** The calls of each try that took several and came to a reply. */
  joined: (readonly Attempt[])[] | undefined;
}

const TRIES = Symbol("tries");

/** Bounds the tries of an exchange, over retries, targets and models. */
export function limitTries(exchange: Exchange, max: number): void {
  triesOf(exchange).max = max;
}

/** Whether an exchange may be tried once more. Without a bound it always may. */
export function mayTryAgain(exchange: Exchange): boolean {
  const { max, parts } = triesOf(exchange);
  return rootOf(exchange).attempts.length - parts < max;
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
  const { joined } = (exchange.state.get(TRIES) as Tries | undefined) ?? {};
  return joined?.find((calls) => calls.includes(attempt));
}

/** Of a branch, the exchange that all branches belong to: they share one bound. */
function rootOf(exchange: Exchange): Exchange {
  let root = exchange;
  while (root.parent !== undefined) root = root.parent;
  return root;
}

function triesOf({ state }: Exchange): Tries {
  const known = state.get(TRIES) as Tries | undefined;
  if (known !== undefined) return known;
  const tries: Tries = { max: Infinity, parts: 0, joined: undefined };
  state.set(TRIES, tries);
  return tries;
}
