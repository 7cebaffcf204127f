/** Money as text: dollars without a float and without an exponent. */

/** `undefined` for an unknown amount. */
export function dollarText(nanoUsd: number | undefined): string | undefined {
  if (nanoUsd === undefined) return undefined;
  const digits = String(nanoUsd).padStart(10, "0");
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`.replace(/\.?0+$/, "");
}
