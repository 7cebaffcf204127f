/** Decimal texts as exact integers: money never passes through a multiplied float. */

const DECIMAL = /^(\d{1,15})(?:\.(\d+))?$/;

/**
 * A decimal text times a power of ten, as an integer: `("0.15", 6)` gives 150,000. Returns
 * `undefined` when the text is no plain decimal, has digits beyond the scale, or gives more than an
 * exact number can hold.
 */
export function parseDecimal(text: string, scale: number): number | undefined {
  const parts = DECIMAL.exec(text);
  if (parts === null) return undefined;
  const fraction = (parts[2] ?? "").replace(/0+$/, "");
  if (fraction.length > scale) return undefined;
  const integer = Number(`${parts[1]}${fraction.padEnd(scale, "0")}`);
  return Number.isSafeInteger(integer) ? integer : undefined;
}
