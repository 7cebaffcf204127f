/** Token counts of upstreams. */

import type { JsonValue } from "@sluice/contract";

/**
 * An upper bound of a plausible count: a thousand times the longest context window. A larger number
 * is not a count and must not become money: two such costs exceed a ledger's sum.
 */
const MAX_TOKENS = 1_000_000_000;

/** A plausible whole number of tokens; `undefined` for every other value: unknown is not zero. */
export function tokenCount(value: JsonValue | undefined): number | undefined {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MAX_TOKENS
    ? value
    : undefined;
}
