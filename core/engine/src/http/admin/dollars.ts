/** Dollars at the edge, nano-dollars inside. */

import { parseDecimal } from "../../config/decimal.ts";

const DIGITS = 9;
const NANO = 1e9;

/**
 * Dollars as integer nano-dollars. Returns `undefined` for a negative amount, for one with more than nine decimals, and for
 * one beyond 9,007,199 dollars, which an exact number cannot hold.
 */
export function nanoUsdOf(dollars: number): number | undefined {
  if (dollars === 0) return 0;
  const text = dollars.toFixed(DIGITS);
  // `toFixed` rounds; what comes back must be the number that was sent.
  return Number(text) === dollars ? parseDecimal(text, DIGITS) : undefined;
}

/** Nano-dollars as the nearest number of dollars: the one that was sent. */
export function dollarsOf(nanoUsd: number | null): number | null {
  return nanoUsd === null ? null : nanoUsd / NANO;
}
