/** Money at the interface's edge: the only place where it becomes a float. */

const NANO = 1e9;

/** Nano-dollars as dollars. */
export function dollars(nanoUsd: bigint | number): number {
  return Number(nanoUsd) / NANO;
}
