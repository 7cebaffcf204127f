/** How much a proof by repetition repeats. */

let isBrief = false;

/** From now on proofs repeat little. `npm test` of this repository does this for its own tests. */
export function repeatLittle(): void {
  isBrief = true;
}

/** `brief` after `repeatLittle`, else `full`. Tests of plugins elsewhere repeat in full. */
export function amount(brief: number, full: number): number {
  return isBrief ? brief : full;
}
