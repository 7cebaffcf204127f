/**
 * How much a proof by repetition repeats: little in `npm test`, and in full in the scripts
 * `proof:*` of package.json.
 */

/** `full` where `SLUICE_PROOF` is `full`, else `brief`. */
export function amount(brief: number, full: number): number {
  return process.env["SLUICE_PROOF"] === "full" ? full : brief;
}
