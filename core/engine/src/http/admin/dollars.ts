/** Dollars at the edge, nano-dollars inside. */

import { parseDecimal } from "../../config/decimal.ts";

const DIGITS = 9;
const NANO = 1e9;

/** The largest amount in dollars. Beyond 2^23 two nano-dollars are one and the same number of JSON's. */
export const MOST_DOLLARS = 8_000_000;

/**
 * Dollars as integer nano-dollars. Returns `undefined` for a negative amount, for one with more than nine decimals, and for
 * one beyond {@link MOST_DOLLARS}.
 */
export function nanoUsdOf(dollars: number): number | undefined {
  if (dollars === 0) return 0;
  if (!(dollars > 0 && dollars <= MOST_DOLLARS)) return undefined;
  const text = dollars.toFixed(DIGITS);
  // `toFixed` rounds; what comes back must be the number that was sent.
  return Number(text) === dollars ? parseDecimal(text, DIGITS) : undefined;
}

/** Nano-dollars as the nearest number of dollars: the one that was sent. */
export function dollarsOf(nanoUsd: number | null): number | null {
  return nanoUsd === null ? null : nanoUsd / NANO;
}
