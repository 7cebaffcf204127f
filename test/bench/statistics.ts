/** The little statistics the benchmark needs. */

/** The value below which a share (0 to 1) of an ascending list lies. NaN for an empty one. */
export function percentile(ascending: ArrayLike<number>, share: number): number {
  return (
    ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * share))] ?? Number.NaN
  );
}

/**
 * The middle of a list in any order; the mean of the two middles of an even one. NaN for an empty
 * one.
 */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? Number.NaN;
  return Number.isInteger(middle) ? (upper + (sorted[middle - 1] ?? Number.NaN)) / 2 : upper;
}
