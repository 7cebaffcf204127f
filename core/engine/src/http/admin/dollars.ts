/** Dollars at the edge, nano-dollars inside. */

import { parseDecimal } from "../../config/decimal.ts";

const DIGITS = 9;
const NANO = 1e9;

/** The largest amount in dollars. Beyond 2^23 two nano-dollars are one and the same number of JSON's. */
export const MOST_DOLLARS = 8_000_000;

/**
 * Dollars as integer nano-dollars, rounded to the nearest one: clients send sums of floats, such as 0.30000000000000004.
 * Returns `undefined` for a negative amount and for one beyond {@link MOST_DOLLARS}.
 */
export function nanoUsdOf(dollars: number): number | undefined {
  if (dollars === 0) return 0;
  if (!(dollars > 0 && dollars <= MOST_DOLLARS)) return undefined;
  return parseDecimal(dollars.toFixed(DIGITS), DIGITS);
}

/** Nano-dollars as the nearest number of dollars. */
export function dollarsOf(nanoUsd: number | null): number | null {
  return nanoUsd === null ? null : nanoUsd / NANO;
}
