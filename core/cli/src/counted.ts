/** Counts in words: `1 pipeline`, `2 pipelines`. */

/** A count with its noun, in the plural where it is not one. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
