/** How often one request may be tried in all: a bound that fallback sets, and every step that tries again respects. */

import type { Exchange } from "@sluice/spec";

interface Tries {
  max: number;
  /** Attempts that were parts of one try: calls of one image request at the same time. */
  parts: number;
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
    return await call();
  } finally {
    const made = exchange.attempts.length - before;
    if (made > 1) triesOf(exchange).parts += made - 1;
  }
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
  const tries: Tries = { max: Infinity, parts: 0 };
  state.set(TRIES, tries);
  return tries;
}
