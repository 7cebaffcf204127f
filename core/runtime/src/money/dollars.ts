/**
 * Money at the edge: dollars outside, integer nano-dollars inside. One rule rounds: to the nearest
 * nano-dollar, half up.
 */

const DIGITS = 9;
const NANO_PER_USD = 1_000_000_000;

/**
 * The largest amount in dollars. Beyond 2^23 two nano-dollars are one and the same number of
 * JSON's.
 */
export const MAX_DOLLARS = 8_000_000;

/**
 * Dollars as integer nano-dollars, rounded half up on the exact decimal value: clients send sums of
 * floats, such as 0.30000000000000004. Returns `undefined` for a negative amount and for one beyond
 * {@link MAX_DOLLARS}.
 */
export function nanoUsdOf(dollars: number): number | undefined {
  if (dollars === 0) return 0;
  if (!(dollars > 0 && dollars <= MAX_DOLLARS)) return undefined;
  // A multiplied float would round twice. The digits of an amount up to the maximum are a safe
  // integer.
  return Number(dollars.toFixed(DIGITS).replace(".", ""));
}

/**
 * Dollars of a validated configuration as nano-dollars. Throws RangeError for an amount that the
 * schemas refuse.
 */
export function configuredNanoUsd(dollars: number): number {
  const nanoUsd = nanoUsdOf(dollars);
  if (nanoUsd === undefined)
    throw new RangeError(`The amount must be from 0 to ${MAX_DOLLARS} US dollars.`);
  return nanoUsd;
}

/** Nano-dollars as the nearest number of dollars. */
export function dollarsOf(nanoUsd: number | bigint): number {
  return Number(nanoUsd) / NANO_PER_USD;
}

/** Nano-dollars as dollars in a message: plain decimals without trailing zeros. */
export function dollarText(nanoUsd: number): string {
  return dollarsOf(nanoUsd)
    .toFixed(DIGITS)
    .replace(/\.?0+$/, "");
}
