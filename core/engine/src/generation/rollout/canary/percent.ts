/** Shares in words. */

/** A share as a person writes it. */
export function percent(share: number): string {
  return `${Number((share * 100).toFixed(2))}%`;
}
